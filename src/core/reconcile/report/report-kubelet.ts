/** What this node's kubelet is, and was told, that makes it act otherwise than the one that the rules describe. */
import { volumesInStatus } from '../../desired/node-status.ts'
import type { Findings } from '../../plan/draft.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { PlanContext } from '../context/context.ts'
import { isTested, kubeletVersion, TESTED_MINORS } from '../obstacles/kubelet-version.ts'
import { notMigrated } from '../obstacles/migration.ts'
import { whyNotManaged, whyTerminatedKept } from '../pods/kubelet-mode.ts'

export function reportKubelet(context: PlanContext, findings: Findings): void {
  reportVersion(context, findings)
  reportNotMigrated(context, findings)
  reportNotManaged(context, findings)
  reportTerminatedKept(context, findings)
}

function reportVersion({ inputs }: PlanContext, findings: Findings): void {
  const node = inputs.snapshot.api?.node
  const version = kubeletVersion(node)
  if (version !== undefined ? isTested(version) : (node?.status?.nodeInfo?.kubeletVersion ?? '') === '') return
  const { first, last } = TESTED_MINORS
  findings.problem(
    'warning',
    'VersionUntested',
    `the kubelet of this node is ${node?.status?.nodeInfo?.kubeletVersion}, and volctl was tried with 1.${first} to 1.${last}: it may keep volumes elsewhere, and in another way`,
    {},
    'Compare this plan with what findmnt shows, and apply one pod or volume at a time (--pod, --volume).',
  )
}

/** R150: volctl takes such a volume for its driver's, this kubelet mounts it by itself, in another directory. */
function reportNotMigrated(context: PlanContext, findings: Findings): void {
  const said = new Set<string>()
  for (const volume of context.desired.volumes) {
    const plugin = notMigrated(context, volume)
    if (plugin === undefined || said.has(volume.uniqueName)) continue
    said.add(volume.uniqueName)
    findings.problem(
      'warning',
      'NotMigrated',
      `volume ${volume.podVolumeNames.join(', ')} of pod ${namespacedName(volume.pod.metadata)} is of ${plugin}, which this kubelet does not leave to CSI driver ${volume.driver ?? ''} (CSINode's migrated-plugins): it is the kubelet's own, and nothing is done to it`,
      { pod: volume.podUid, volume: volume.specName },
      `Let the kubelet mount it; look for it below pods/${volume.podUid}/volumes/${plugin.replaceAll('/', '~')}.`,
    )
  }
}

/** N8, R702. Only where there is anything to attach it matters. */
function reportNotManaged({ inputs, desired, staged }: PlanContext, findings: Findings): void {
  const { api, nodeName } = inputs.snapshot
  const why = whyNotManaged(inputs.snapshot)
  if (why === undefined) return
  const matters =
    volumesInStatus(api?.node).length > 0 ||
    staged.length > 0 ||
    desired.volumes.some(({ attachability }) => attachability !== 'notAttachable') ||
    api?.volumeAttachments.some(({ spec }) => spec.nodeName === nodeName)
  findings.problem(
    matters ? 'warning' : 'info',
    'NotManaged',
    `the attach/detach controller does not attach and detach volumes for this node: ${why}; volctl neither detaches here nor counts on an attachment`,
    {},
    "CSI volumes need the controller: set enableControllerAttachDetach: true in the kubelet's configuration, and start it. What other plugins attach this kubelet attaches by itself.",
  )
}

function reportTerminatedKept({ inputs, classes }: PlanContext, findings: Findings): void {
  const why = whyTerminatedKept(inputs.snapshot)
  if (why === undefined) return
  const kept = classes.all.filter((pod) => pod.why?.code === 'TerminatedKept')
  const version = kubeletVersion(inputs.snapshot.api?.node)
  const forgets =
    version === undefined || version.minor < TESTED_MINORS.last
      ? ''
      : `; kubelet ${version.text} does not know that any more, and takes them down when it runs`
  findings.problem(
    kept.length > 0 && forgets !== '' ? 'warning' : 'info',
    'TerminatedKept',
    `the volumes of pods that have ended are kept until the API forgets the pods, by ${why}: ${kept.length} here${forgets}`,
    {},
    'Delete a pod whose volumes are to come down (kubectl delete pod), or take the wish away.',
  )
  for (const { uid, ref } of kept) {
    findings.problem(
      'info',
      'TerminatedKept',
      `pod ${ref.name === undefined ? uid : namespacedName(ref)} has ended, and its volumes are kept, by ${why}`,
      { pod: uid, path: inputs.absolute(`pods/${uid}`) },
    )
  }
}
