/** Phase 1 for block volumes: maps of orphaned and finished pods (R451, C84-C86; O8, O22). */

import { present, unlessEmpty } from '../../base/text.ts'
import { globalUniqueName } from '../../facts/global-mounts.ts'
import { uniqueNameOf } from '../../facts/row.ts'
import { said } from '../../messages/findings.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import { type PlanContext, type Stack, umountSteps } from '../../rules/context.ts'
import { driverCall, isWithoutDriver } from '../../rules/driver-call.ts'
import { isLiving } from '../../rules/pods/pod-classes.ts'
import { strayOf } from '../../rules/rule.ts'
import { unreadWithin } from '../../rules/unread.ts'
import { isListedWhole } from '../../volumes/api-lookup.ts'
import { CSI_BLOCK_DIR } from '../../volumes/desired-state.ts'
import { areOfOneRow } from '../../volumes/finding.ts'
import type { BlockMapping, BlockVolume } from '../../volumes/on-disk/block-volume.ts'
import { isDeviceOf } from '../../volumes/registry.ts'
import type { Step } from '../../volumes/steps.ts'
import { CSI_PLUGIN, uniqueVolumeName } from '../../volumes/volume-names.ts'
import { describeCsiVolume, withGivenDevice } from '../identity/volume-facts.ts'
import { targetsOf, tearDown } from '../tear-down/tear-down.ts'
import { type Kept, stagedParts } from './staged-parts.ts'
import { releaseSteps } from './unmount-other-devices.ts'

export function unmapVolume(context: PlanContext, block: BlockVolume, mapping: BlockMapping): void {
  const { podUid, loops, mapFile, mapLayers, publishPath, publishLayers, symlink } = mapping
  const pod = context.classes.of(podUid)
  if (pod === undefined || isLiving(pod)) return
  const { isCsi, identified, identity, volume } = knownBlock(context, block, mapping)
  const what = {
    kind: 'UnmapVolume',
    pod,
    volume,
    subject: context.ledger.of(block, podUid),
    rule: 'R451',
  } as const
  if (symlink !== undefined && isCsi && identity === undefined && isLinkAlone(context, block, mapping)) {
    // No driver is called without a handle, and none has anything there (S16): what goes is a name that the kubelet made.
    tearDown(context, {
      ...what,
      ...said('PodGone.link', { name: block.name }),
      steps: [{ op: 'unlink', target: symlink }],
      unread: unreadWithin(context.inputs, block.dir),
      kubeletWould: 'fail: without vol_data.json it does not know the driver',
    })
    return
  }
  const target = `${CSI_BLOCK_DIR}/publish/${block.name}/${podUid}`
  const mounted = mapLayers.length + publishLayers.length > 0
  const call = identity && driverCall(context, identity, block.stateFile, mounted)
  const leaked = symlink === undefined
  const map: Stack[] = mapFile === undefined ? [] : [{ path: mapFile, layers: mapLayers }]
  const published = { path: target, layers: publishLayers }
  const unpublish: Step[] = isWithoutDriver(call)
    ? [...umountSteps(context, published), ...present<Step>(publishPath && { op: 'unlink', target })]
    : [{ op: 'NodeUnpublishVolume', target }]
  const steps: Step[] = [
    ...loops.map((device) => ({ op: 'losetup -d' as const, target: device })),
    ...present<Step>(symlink && { op: 'unlink', target: symlink }),
    ...map.flatMap((stack): Step[] => [...umountSteps(context, stack), { op: 'unlink', target: stack.path }]),
    ...(isCsi ? unpublish : []),
  ]
  tearDown(context, {
    ...what,
    ...said(mounted ? 'PodGone.mapped' : 'PodGone.notMapped', { name: block.name }),
    steps,
    paths: [...targetsOf(steps), ...(isCsi ? [target] : [])],
    mounts: [...map, published],
    foreign: block.foreign,
    identified,
    call,
    ...(leaked && {
      code: 'MappedWithoutPod',
      kubeletWould: 'never find the map; it stays, with its published device and loop device',
    }),
  })
}

/** The pod's link is all that is left of a volume whose PersistentVolume is shown not to exist: nobody can say any more what it was. */
function isLinkAlone({ inputs }: PlanContext, block: BlockVolume, mapping: BlockMapping): boolean {
  const { api } = inputs.snapshot
  const { loops, mapFile, mapLayers, publishPath, publishLayers } = mapping
  const left = [...loops, ...mapLayers, ...publishLayers, ...block.foreign, ...block.unexpected]
  return (
    (mapFile ?? publishPath ?? block.stateFile ?? block.stagingPath) === undefined &&
    left.length === 0 &&
    isListedWhole(api, 'persistentvolumes') &&
    api?.persistentVolumes?.every(({ metadata }) => metadata.name !== block.name) === true
  )
}

/** Names and identity, for both the pod's part and the device's. @param mapping the part of one pod */
function knownBlock(context: PlanContext, block: BlockVolume, mapping?: BlockMapping) {
  const { name, plugin, dir } = block
  const isCsi = plugin === CSI_PLUGIN
  const identified = isCsi ? context.identify.block(block) : undefined
  const identity = identified?.identity
  const device = mapping?.publishLayers.at(-1) ?? mapping?.mapLayers.at(-1)
  const volume: VolumeRef = isCsi
    ? withGivenDevice(context, describeCsiVolume(context, { name, mode: 'Block', identity, device }))
    : { name, uniqueName: globalUniqueName(plugin, dir), plugin, mode: 'Block' }
  return { isCsi, identified, identity, volume }
}

// Phase 3 for block volumes: maps that no pod of this node needs any more (R452, C84-C86; O8, O22).

export function unmapDevice(context: PlanContext, block: BlockVolume): void {
  const { inputs, ledger, findings } = context
  const { plugin, name, stateFile, staging } = block
  const { isCsi, identified, identity, volume } = knownBlock(context, block)
  const dir = inputs.absolute(block.dir)
  const uniqueName = identity && uniqueNameOf(identity)
  const subjectOf = () => ledger.of(block)
  const predecessors = findings.operations.filter(
    ({ kind, subject: its }) => kind === 'UnmapVolume' && areOfOneRow(its, subjectOf()),
  )
  const found =
    whyKept(context, block, uniqueName) ??
    stagedParts(context, { ...staging, identity, stateFile, layers: [], predecessors })
  if ('why' in found) {
    findings.leave({ path: dir, ...found }, subjectOf)
    return
  }
  const { call, unstages, stacks, foreign, strangers, held, after } = found
  const steps = isCsi ? csiSteps(context, block, unstages) : releaseSteps(plugin, block.dir)
  // Without an identity, only directories that were read are known to be empty (S3).
  const unread = unreadWithin(inputs, block.dir)
  tearDown(context, {
    ...{ kind: 'UnmapDevice', volume, subject: subjectOf(), steps },
    ...(isCsi && identity === undefined && hasNothing(block)
      ? {
          ...said(unread === undefined ? 'MappedWithoutPod.empty' : 'MappedWithoutPod.mayBeEmpty', { path: dir }),
          rule: 'R837',
          unread,
        }
      : {
          ...said('MappedWithoutPod.setUp', { path: dir }),
          rule: 'R820',
          kubeletWould: 'never find the map',
          ...(after.length > 0 && { ...said('LastPodGone'), rule: 'R452', kubeletWould: undefined }),
          paths: [...targetsOf(steps), ...stacks.map(({ path }) => path)],
          mounts: unlessEmpty(stacks),
          foreign: [...block.foreign, ...foreign],
          stray: strayOf([...block.unexpected, ...strangers]),
          identified,
          device: isCsi ? { names: [name] } : {},
        }),
    held,
    call,
    after,
  })
}

/** No mount, map, state file or any other file: only directories of the kubelet, which are removed without a driver (R837). */
function hasNothing({ stateFile, mappings, foreign, unexpected, staging }: BlockVolume): boolean {
  const found = [...mappings, ...foreign, ...unexpected, ...staging.files, ...staging.mounts]
  return stateFile === undefined && found.length === 0
}

/** The kubelet's order (C85, C86), by plain rmdir and unlink of the names that it creates itself. */
function csiSteps({ inputs }: PlanContext, block: BlockVolume, unstages: boolean): Step[] {
  const { dir, own, mapDir, stagingPath, publishDir, staging, stateFile } = block
  // S16: also if nothing is staged on disk, unlike the kubelet (C85).
  const isCalled = unstages && (stagingPath ?? stateFile) !== undefined
  const record = `${dir}/data/vol_data.json`
  return [
    ...present<Step>(isCalled && { op: 'NodeUnstageVolume', target: staging.path }),
    ...present(publishDir, stagingPath, mapDir, record, `${dir}/data`, own.includes(dir) && dir)
      .filter((path) => inputs.tree.has(path))
      .map((target): Step => ({ op: target === record ? 'unlink' : 'rmdir', target })),
  ]
}

/** A pod that must not be disturbed needs the map: by the desired state, a mapping, or the same spec name (R815, R817). */
function whyKept(
  { inputs, uses, ledger }: PlanContext,
  { plugin, name, dir, stagingPath, publishDir }: BlockVolume,
  uniqueName: string | undefined,
): Kept | undefined {
  if (!inputs.tree.has(dir) && stagingPath === undefined && publishDir === undefined)
    return { rule: 'R452', why: 'the volume has no map directory on this node' }
  const [user] = [uniqueName, uniqueVolumeName(plugin, name)].flatMap((each) => uses.of(each))
  if (user !== undefined) return { rule: 'R815', why: `pod ${user.pod.uid} ${user.how}` }
  const wanted = ledger.wants
    .ofPlugin(plugin)
    .find((volume) => volume.specName === name || isDeviceOf(volume, plugin, name))
  return wanted && { rule: 'R815', why: `pod ${wanted.podUid} wants it` }
}
