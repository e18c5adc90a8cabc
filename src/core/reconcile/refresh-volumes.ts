/** Mounted volumes whose content or size is behind what the API says (R807 and O28 as overruled by the contract; S23). */
import { parentOf } from '../actual/tree.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { nodeExpansionWanted } from '../desired/expansion.ts'
import type { ExpectedMount } from '../plan/plan.ts'
import { contentDifference, halfDone } from '../plugins/content-difference.ts'
import { volumeObstacle } from '../plugins/content-obstacle.ts'
import { pluginNamed } from '../plugins/registry.ts'
import { type PlanContext, waitForKubelet } from './context.ts'
import { expectedMount, type Findings, notAsked, notSupportedYet, type Obstacle } from './draft.ts'
import { describeWanted } from './mount-volumes.ts'

/** Adds a RemountVolume or ExpandVolume for a volume that is mounted, where a difference is shown. */
export function refreshVolume(context: PlanContext, findings: Findings, volume: VolumeToMount): void {
  if (pluginNamed(volume.plugin).refreshes) remount(context, findings, volume)
  else expand(context, findings, volume)
}

function remount(context: PlanContext, findings: Findings, volume: VolumeToMount): void {
  const { inputs } = context
  const difference = contentDifference(inputs, volume) ?? halfDone(inputs, volume)
  if (difference === undefined) return
  const path = pluginNamed(volume.plugin).podPath(volume)
  const dir = inputs.absolute(path)
  refresh(context, findings, volume, {
    kind: 'RemountVolume',
    reason: 'ContentDiffers',
    message: `${difference}; containers that mount it by subPath keep the old content until they restart`,
    steps: [{ op: 'write', target: `${dir}/..data` }],
    rule: 'S23',
    asked: context.options.remount,
    flag: '--remount',
    expects: [expectedMount(dir, inputs.at(path))],
    obstacle: volumeObstacle(volume, inputs.snapshot.api),
  })
}

function expand(context: PlanContext, findings: Findings, volume: VolumeToMount): void {
  const growth = nodeExpansionWanted(volume)
  if (growth === undefined) return
  const target = context.inputs.absolute(pluginNamed(volume.plugin).podPath(volume))
  refresh(context, findings, volume, {
    kind: 'ExpandVolume',
    reason: 'CapacityGrew',
    message: `PersistentVolume ${volume.specName} has grown to ${growth.to}, and its claim shows ${growth.from}`,
    steps: [{ op: 'NodeExpandVolume', target: volume.mode === 'Block' ? parentOf(target) : target }],
    rule: 'R455',
    asked: context.options.expand,
    flag: '--expand',
    obstacle: notSupportedYet('Start the kubelet: it does it.'),
  })
}

interface Refresh {
  readonly kind: 'RemountVolume' | 'ExpandVolume'
  readonly reason: 'ContentDiffers' | 'CapacityGrew'
  readonly message: string
  readonly steps: readonly { readonly op: 'write' | 'NodeExpandVolume'; readonly target: string }[]
  readonly rule: string
  readonly asked: boolean
  readonly flag: string
  readonly expects?: readonly ExpectedMount[]
  /** What no flag lifts; undefined: nothing. */
  readonly obstacle?: Obstacle | undefined
}

function refresh(context: PlanContext, findings: Findings, volume: VolumeToMount, what: Refresh): void {
  const pod = context.classes.of(volume.podUid)?.ref ?? { uid: volume.podUid }
  const ref = describeWanted(context, volume)
  const wait = waitForKubelet(context)
  if (wait !== undefined) {
    findings.wait(what.kind, wait, what.rule, { pod, volume: ref })
    return
  }
  // First what nobody asked for: an obstacle to it is none of an apply without the flag.
  const blocked = what.asked ? what.obstacle : notAsked(what.flag)
  findings.add({
    kind: what.kind,
    reason: what.reason,
    message: what.message,
    pod,
    volume: ref,
    steps: what.steps,
    paths: what.steps.map((step) => step.target),
    after: [],
    rule: what.rule,
    removes: new Set(),
    ...(what.expects === undefined ? {} : { expects: what.expects }),
    ...(blocked === undefined ? {} : { blocked }),
  })
}
