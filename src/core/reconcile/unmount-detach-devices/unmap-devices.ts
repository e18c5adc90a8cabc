/** Phase 3 for block volumes: maps that no pod of this node needs any more (R452, C84-C86; O8, O22). */

import type { BlockVolume } from '../../facts/actual/block-volume.ts'
import { registeredDriver, stages } from '../../facts/actual/staged-volumes.ts'
import { uniqueVolumeName } from '../../facts/actual/volume-names.ts'
import { SHARED_DIRECTORIES } from '../../facts/block-volumes.ts'
import type { Draft } from '../../plan/draft.ts'
import type { Step } from '../../plan/plan.ts'
import { areOfOneRow } from '../../plan/subject.ts'
import { strayOf } from '../../rules/rule.ts'
import { isDeviceOf } from '../../volumes/registry.ts'
import type { PlanContext } from '../context/context.ts'
import { unreadWithin } from '../context/unread.ts'
import { type DriverCall, isWithoutDriver } from '../drivers/driver-call.ts'
import { type Parts, targetsOf, tearDown } from '../tear-down/tear-down.ts'
import { type StagedParts, stagedParts } from './driver-staging.ts'
import type { Kept } from './mount-references.ts'
import { describeBlock, type KnownBlock, knownBlock } from './unmap-volumes.ts'
import { releaseSteps } from './unmount-other-devices.ts'

export function unmapDevices(context: PlanContext): void {
  for (const block of context.blocks) unmapDevice(context, block)
}

function unmapDevice(context: PlanContext, block: BlockVolume): void {
  const { inputs, ledger } = context
  const known = knownBlock(context, block)
  const { isCsi, identity, uniqueName } = known
  const subject = ledger.block(block)
  const kept = whyKept(context, block, uniqueName)
  const what = { kind: 'UnmapDevice', volume: describeBlock(context, known), subject } as const
  if (kept === undefined && isCsi && identity === undefined && hasNothing(block)) {
    tearDown(context, what, () => emptyParts(context, block))
    return
  }
  const { staging = { path: block.dir, mounts: [], files: [] }, stateFile } = block
  const isBefore = ({ kind, subject: its }: Draft): boolean => kind === 'UnmapVolume' && areOfOneRow(its, subject)
  const staged = {
    ...staging,
    identity,
    stateFile,
    layers: [],
    predecessors: context.findings.operations.filter(isBefore),
  }
  const found = kept ?? stagedParts(context, staged)
  if ('why' in found)
    context.findings.leave(() => ({ path: inputs.absolute(block.dir), ...found, subject, volume: uniqueName }))
  else tearDown(context, what, () => partsOf(context, known, found))
}

function partsOf(context: PlanContext, known: KnownBlock, { call, own, held, after }: StagedParts): Parts {
  const { block, isCsi, identity } = known
  const leaked = after.length === 0
  const steps = isCsi ? csiSteps(context, known, call) : otherSteps(context, block)
  return {
    reason: call?.kind === 'absentSinceBoot' ? 'DriverAbsentSinceBoot' : leaked ? 'MappedWithoutPod' : 'LastPodGone',
    rule: leaked ? 'R820' : 'R452',
    message: leaked
      ? `still set up at ${context.inputs.absolute(block.dir)}, but no pod directory refers to it`
      : 'its last pod on this node is gone',
    steps,
    paths: [...targetsOf(steps), ...own.stacks.map(({ path }) => path)],
    mounts: own.stacks.length === 0 ? undefined : own.stacks,
    foreign: [...block.foreign, ...own.foreign],
    stray: strayOf([...block.unexpected, ...own.strangers]),
    identified: known.identified,
    device: { plugin: block.plugin, identity, directory: isCsi ? undefined : block.name },
    sought: isCsi ? { ...identity, names: [block.name] } : undefined,
    held,
    call,
    after,
    kubeletWould: leaked ? 'never find the map' : undefined,
  }
}

/** Without an identity, only directories that were read are known to be empty (S3). */
function emptyParts(context: PlanContext, block: BlockVolume): Parts {
  const { inputs } = context
  const unread = unreadWithin(inputs, block.dir)
  return {
    reason: 'MappedWithoutPod',
    rule: 'R837',
    message: `${inputs.absolute(block.dir)} ${unread === undefined ? 'contains' : 'may contain'} only empty directories, left by an unfinished unmap`,
    steps: csiSteps(context, { block, identity: undefined }, undefined),
    unread,
  }
}

/** No mount, map, state file or any other file: only directories of the kubelet, which are removed without a driver (R837). */
function hasNothing({ stateFile, mappings, foreign, unexpected, staging }: BlockVolume): boolean {
  const files = [...unexpected, ...(staging?.files ?? [])]
  return (
    stateFile === undefined && mappings.length + foreign.length + files.length + (staging?.mounts.length ?? 0) === 0
  )
}

function otherSteps({ inputs }: PlanContext, { plugin, dir }: BlockVolume): Step[] {
  return [...releaseSteps(plugin, inputs.absolute(dir)), { op: 'rmdir', target: inputs.absolute(dir) }]
}

/** The kubelet's order (C85, C86), by plain rmdir and unlink of the names that it creates itself. */
function csiSteps(
  { inputs }: PlanContext,
  { block, identity }: Pick<KnownBlock, 'block' | 'identity'>,
  call: DriverCall | undefined,
): Step[] {
  const steps: Step[] = []
  const socket = identity && registeredDriver(inputs, identity.driver)
  const remove = (op: 'rmdir' | 'unlink', path: string): void => {
    if (inputs.tree.has(path)) steps.push({ op, target: inputs.absolute(path) })
  }
  // S16: also if nothing is staged on disk, unlike the kubelet (C85).
  const onRecord = block.stagingPath !== undefined || block.stateFile !== undefined
  if (block.staging !== undefined && onRecord && !isWithoutDriver(call) && stages(socket)) {
    steps.push({ op: 'NodeUnstageVolume', target: inputs.absolute(block.staging.path) })
  }
  if (block.publishDir !== undefined) remove('rmdir', block.publishDir)
  if (block.stagingPath !== undefined) remove('rmdir', block.stagingPath)
  remove('rmdir', block.mapDir)
  remove('unlink', `${block.dir}/data/vol_data.json`)
  remove('rmdir', `${block.dir}/data`)
  if (!SHARED_DIRECTORIES.includes(block.name)) remove('rmdir', block.dir)
  return steps
}

/** A pod that must not be disturbed needs the map: by the desired state, a mapping, or the same spec name (R815, R817). */
function whyKept(
  { inputs, uses, ledger }: PlanContext,
  { plugin, name, dir, stagingPath, publishDir }: BlockVolume,
  uniqueName: string | undefined,
): Kept | undefined {
  if (!inputs.tree.has(dir) && stagingPath === undefined && publishDir === undefined)
    return { rule: 'R452', why: 'the volume has no map directory on this node' }
  const [user] = [...(uniqueName === undefined ? [] : uses.of(uniqueName)), ...uses.of(uniqueVolumeName(plugin, name))]
  if (user !== undefined) return { rule: 'R815', why: `pod ${user.pod.uid} ${user.how}` }
  const wanted = ledger.wants
    .ofPlugin(plugin)
    .find((volume) => volume.specName === name || isDeviceOf(volume, plugin, name))
  return wanted && { rule: 'R815', why: `pod ${wanted.podUid} wants it` }
}
