/** Mounted volumes whose content or size is older than in the API (R807 and O28 as overruled by the contract; S23). */

import { omitUndefined } from '../../base/omit-undefined.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import { type Draft, expectedMount, notAsked } from '../../plan/draft.ts'
import type { Facts } from '../../rules/rule.ts'
import { judged } from '../../rules/rules.ts'
import { contentDifference, halfDone, volumeObstacle } from '../../volumes/atomic-content.ts'
import { csiDriverOf, groupSteps, publishSteps } from '../../volumes/csi-set-up.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { nodeExpansionWanted } from '../../volumes/expansion.ts'
import { csiTarget } from '../../volumes/paths.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import { type PlanContext, podRefOf, waitForKubelet } from '../context/context.ts'
import { isNamed } from '../context/filter-operations.ts'
import { unreadWithin } from '../context/unread.ts'
import { describeWanted, leaveSatisfied } from '../identity/volume-facts.ts'
import { elsewhereWait, mountWait } from './mount-conditions.ts'
import { setUpContext } from './selinux.ts'

/** Adds a RemountVolume or ExpandVolume for a mounted volume that is shown to differ. */
export function refreshVolume(context: PlanContext, volume: VolumeToMount): void {
  if (pluginNamed(volume.plugin).tearDown === 'projected') remount(context, volume)
  else if (wantsRepublish(context, volume)) republish(context, volume)
  else expand(context, volume)
}

/** C70: a driver with requiresRepublish is called again only if a person names the volume or the pod (contract). */
function wantsRepublish(context: PlanContext, volume: VolumeToMount): boolean {
  const { options, ledger } = context
  const named = (options.pods?.length ?? 0) + (options.volumes?.length ?? 0) > 0
  if (!options.remount || !named || volume.plugin !== CSI_PLUGIN) return false
  const pod = podRefOf(context, volume.podUid)
  if (!isNamed({ pod, volume: describeWanted(context, volume) }, options, ledger)) return false
  return csiDriverOf(context.inputs, volume)?.spec.requiresRepublish === true
}

function republish(context: PlanContext, volume: VolumeToMount): void {
  const target = csiTarget(volume)
  const setUp = setUpContext(context, volume)
  refresh(context, volume, {
    kind: 'RemountVolume',
    reason: 'RepublishAsked',
    message: `CSI driver ${volume.driver} asks for repeated publishing (requiresRepublish); ${volume.specName} is published again`,
    steps: [...publishSteps(setUp, volume), ...groupSteps(setUp, volume, csiDriverOf(context.inputs, volume))],
    rule: 'C70',
    expects: [expectedMount(context.inputs.absolute(target), context.inputs.at(target))],
  })
}

function remount(context: PlanContext, volume: VolumeToMount): void {
  const { inputs } = context
  const difference = contentDifference(inputs, volume) ?? halfDone(inputs, volume)
  if (difference === undefined) {
    leaveSatisfied(context, volume, 'its content is the same as in the API')
    return
  }
  const path = pluginNamed(volume.plugin).podPath(volume)
  const dir = inputs.absolute(path)
  refresh(context, volume, {
    kind: 'RemountVolume',
    reason: 'ContentDiffers',
    message: `${difference}; containers that mount the volume by subPath keep the old content until they restart`,
    steps: [{ op: 'writeContent', target: `${dir}/..data` }],
    rule: 'S23',
    expects: [expectedMount(dir, inputs.at(path))],
    unread: unreadWithin(inputs, path),
    // The missing flag comes first: without it, no other obstacle matters to an apply.
    setUp: () => (context.options.remount ? volumeObstacle(volume, inputs.snapshot) : notAsked('--remount')),
  })
}

function expand(context: PlanContext, volume: VolumeToMount): void {
  const growth = nodeExpansionWanted(volume)
  if (growth === undefined) {
    leaveSatisfied(context, volume, 'as it should be')
    return
  }
  const path = volume.plugin === CSI_PLUGIN ? csiTarget(volume) : pluginNamed(volume.plugin).podPath(volume)
  const target = context.inputs.absolute(path)
  refresh(context, volume, {
    kind: 'ExpandVolume',
    reason: 'CapacityGrew',
    message: `PersistentVolume ${volume.specName} has grown to ${growth.to}, but its claim shows ${growth.from}`,
    steps: [{ op: volume.plugin === CSI_PLUGIN ? 'NodeExpandVolume' : 'growFileSystem', target }],
    expects: [expectedMount(target, context.inputs.at(path))],
    rule: 'R455',
    setUp: () => (context.options.expand ? undefined : notAsked('--expand')),
  })
}

type Refresh = Pick<Draft, 'kind' | 'reason' | 'message' | 'steps' | 'expects' | 'rule'> &
  Pick<Facts, 'unread' | 'setUp'>

function refresh(context: PlanContext, volume: VolumeToMount, { unread, setUp, ...what }: Refresh): void {
  const pod = podRefOf(context, volume.podUid)
  const about = { pod, volume: describeWanted(context, volume), subject: context.ledger.wanted(volume) }
  // A driver is called only for a volume that may be mounted here now (S22, S30).
  const wait =
    volume.plugin === CSI_PLUGIN
      ? mountWait(context, volume)
      : (elsewhereWait(context, volume) ?? waitForKubelet(context))
  if (wait !== undefined) {
    context.findings.wait(what.kind, wait, what.rule, about)
    return
  }
  const draft: Draft = {
    ...what,
    ...about,
    paths: what.steps.map((step) => step.target),
    after: [],
    removes: new Set(),
  }
  context.findings.add(judged(context, draft, omitUndefined({ unread, setUp })))
}
