/** The version and configuration of this node's kubelet, where this kubelet acts differently from the rules. */

import { said } from '../../messages/findings.ts'
import { whyNotManaged, whyTerminatedKept } from '../../node/kubelet/kubelet-flags.ts'
import { ON_NODE } from '../../plan/draft.ts'
import type { PlanContext } from '../../rules/context.ts'
import { kubeletVersion, TESTED_MINORS } from '../../volumes/kubelet-version.ts'
import { volumesInStatus } from '../../volumes/node-affinity.ts'
import { podName } from '../../volumes/pods.ts'

export function reportVersion({ inputs, findings }: PlanContext): void {
  const node = inputs.snapshot.api?.node
  const version = kubeletVersion(node)
  const { first, last } = TESTED_MINORS
  if (version?.major === 1 && version.minor >= first && version.minor <= last) return
  const { kubeletVersion: text } = node?.status?.nodeInfo ?? {}
  if (!text) return
  findings.problem('warning', said('VersionUntested', { version: text, firstMinor: first, lastMinor: last }), ON_NODE)
}

/** N8, R702. A warning only if there is something to attach. */
export function reportNotManaged({ inputs, desired, staged, findings }: PlanContext): void {
  const { api, nodeName } = inputs.snapshot
  const why = whyNotManaged(inputs.snapshot)
  if (why === undefined) return
  const matters =
    volumesInStatus(api?.node).length > 0 ||
    staged.length > 0 ||
    desired.volumes.some(({ attachability }) => attachability !== 'notAttachable') ||
    api?.volumeAttachments.some(({ spec }) => spec.nodeName === nodeName)
  const hint =
    "CSI volumes need the controller: set enableControllerAttachDetach: true in the kubelet's configuration, and restart the kubelet. This kubelet itself attaches volumes of other plugins."
  findings.problem(matters ? 'warning' : 'info', said('NotManaged.thisNode', { why }), ON_NODE, hint)
}

export function reportTerminatedKept({ inputs, classes, findings }: PlanContext): void {
  const why = whyTerminatedKept(inputs.snapshot)
  if (why === undefined) return
  const kept = classes.all.filter((pod) => pod.why?.is === 'kept')
  const version = kubeletVersion(inputs.snapshot.api?.node)
  const ignored =
    version === undefined || version.minor < TESTED_MINORS.last
      ? ''
      : `; kubelet ${version.text} ignores this setting, and unmounts them when it runs`
  findings.problem(
    kept.length > 0 && ignored !== '' ? 'warning' : 'info',
    said('TerminatedKept.kept', { why, count: kept.length, ignored }),
    ON_NODE,
  )
  for (const { uid, ref } of kept) {
    const about = { pod: uid, path: inputs.absolute(`pods/${uid}`), subject: { pod: uid } }
    findings.problem('info', said('TerminatedKept.pod', { pod: podName(ref), why }), about)
  }
}
