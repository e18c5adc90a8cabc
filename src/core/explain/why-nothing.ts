/** Why nothing is to be done, and why nothing may be. */
import { defined } from '../lang/defined.ts'
import type { Scope } from '../ledger/whose.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { podVerdict } from '../reconcile/decisions.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import type { Asked } from './asked.ts'
import type { Concern } from './concern.ts'
import { type DescribedVolume, NOTHING_HERE } from './describe-volume.ts'
import type { Verdict } from './explanation.ts'
import type { Because } from './verdict.ts'

/** For a pod that is terminating, or that may still run (S9, S10). */
export function untouchable({ classes, witnesses }: PlanContext, { pods }: Scope): Verdict | undefined {
  const found = pods.map((uid) => classes.of(uid)).find((each) => each?.class === 'Frozen')
  if (found === undefined) return undefined
  const [rule, said] = podVerdict(found)
  const why = pods.length === 1 ? said : `of ${pods.length} pods of this name, ${found.uid}: ${said}`
  const code = found.why?.code
  if (code !== 'PodStillRunning') return { state: 'problem', message: why, rule, ...defined({ code }) }
  const { deletionTimestamp } = { ...found.pod?.metadata }
  const since =
    deletionTimestamp === undefined ? 'the pod is ending' : `the pod is being deleted (${deletionTimestamp})`
  const signs = witnesses.signsOfLife(found.uid).join(', ')
  return {
    state: 'waiting',
    message: `${since} and still runs: ${signs}; its volumes are unmounted once nothing of it runs`,
    code,
    rule,
  }
}

/** Why nothing is to be done, where that is so. */
export function becauseOf(
  context: PlanContext,
  { subject, scope, because }: Asked,
  [first]: readonly DescribedVolume[],
  { decisions }: Concern,
): Because {
  const { inputs, classes } = context
  if (scope.node) return { why: 'every volume of this node is as it should be' }
  const pods = scope.pods.flatMap((uid) => classes.of(uid) ?? [])
  const [pod, ...others] = pods
  if (pod !== undefined && others.length > 0) return { why: severalBecause(pods) }
  if (pod !== undefined) return podBecause(pod, scope.volumes.length)
  const stays =
    subject.kind === 'VolumeAttachment' ? decisions.find(({ path }) => path.endsWith(`/${subject.name}`)) : undefined
  if (stays !== undefined) return { why: `the volume stays attached: ${stays.why}`, rule: stays.rule }
  const { api, nodeName } = inputs.snapshot
  const attachment = api?.volumeAttachments.find(({ metadata }) => metadata.name === subject.name)
  if (subject.kind === 'VolumeAttachment' && attachment !== undefined && attachment.spec.nodeName !== nodeName) {
    return { why: `the attachment is of node ${attachment.spec.nodeName}: run volctl there` }
  }
  if (first !== undefined) return first.because
  if (because !== undefined) return { why: because }
  return { why: NOTHING_HERE }
}

/** Of pods of one name, each by its UID. */
function severalBecause(pods: readonly PodClass[]): string {
  const each = pods.map((pod) => `${pod.uid}: ${podVerdict(pod)[1]}`)
  return `${pods.length} pods have this name on this node; ${each.join('; ')}`
}

function podBecause(pod: PodClass, volumes: number): Because {
  const [rule, why] = podVerdict(pod)
  if (pod.class === 'Frozen') return { why, rule }
  if (pod.class !== 'Desired') {
    const ended = pod.class === 'Gone' ? 'the pod was deleted from the API' : 'the pod has ended'
    const left = volumes === 0 ? 'nothing of its volumes is on this node' : 'nothing of its volumes is left to undo'
    return { why: `${ended}; no sandbox, container or process is left, and ${left}`, rule }
  }
  const all =
    ['has no volumes', 'its volume is as it should be'][volumes] ?? `its ${volumes} volumes are as they should be`
  return { why: `the pod is in the API and meant to run, and ${all}`, rule }
}
