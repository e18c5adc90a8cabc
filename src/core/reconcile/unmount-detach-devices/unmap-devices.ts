/** Phase 3 for block volumes: maps that no pod of this node needs any more (R452, C84-C86; O8, O22). */

import type { BlockVolume } from '../../facts/actual/block-volume.ts'
import { registeredDriver, stages } from '../../facts/actual/staged-volumes.ts'
import { SHARED_DIRECTORIES } from '../../facts/block-volumes.ts'
import type { Findings } from '../../plan/draft.ts'
import type { Step } from '../../plan/plan.ts'
import { areOfOneRow } from '../../plan/subject.ts'
import { strayOf } from '../../rules/rule.ts'
import { isDeviceOf } from '../../volumes/registry.ts'
import type { PlanContext } from '../context/context.ts'
import { unreadWithin } from '../context/unread.ts'
import { type DriverCall, driverCall, isWithoutDriver } from '../drivers/driver-call.ts'
import { driverStaging } from '../drivers/driver-staging.ts'
import { type Parts, targetsOf, tearDown } from '../tear-down/tear-down.ts'
import { referencesTo } from './mount-references.ts'
import { describeBlock, type KnownBlock, knownBlock } from './unmap-volumes.ts'
import { releaseSteps } from './unmount-other-devices.ts'

export function unmapDevices(context: PlanContext, findings: Findings): void {
  for (const block of context.blocks) unmapDevice(context, findings, block)
}

function unmapDevice(context: PlanContext, findings: Findings, block: BlockVolume): void {
  const { inputs, ledger } = context
  const leave = (rule: string, why: string, volume?: string): void =>
    findings.leave(() => ({ path: inputs.absolute(block.dir), rule, why, subject: ledger.block(block), volume }))
  const leftover = inputs.tree.has(block.dir) || block.stagingPath !== undefined || block.publishDir !== undefined
  if (!leftover) {
    leave('R452', 'the volume has no map directory on this node')
    return
  }
  const known = knownBlock(context, block)
  const { isCsi, identity, uniqueName } = known
  const user = userOf(context, block, uniqueName)
  if (user !== undefined) {
    leave('R815', user, uniqueName)
    return
  }
  const what = {
    kind: 'UnmapDevice',
    volume: describeBlock(context, known),
    subject: context.ledger.block(block),
  } as const
  if (isCsi && identity === undefined && hasNothing(block)) {
    tearDown(context, findings, what, () => emptyParts(context, block))
    return
  }
  const found = stagedParts(context, findings, known)
  if (found.inUse !== undefined) {
    leave('S24', `pod ${found.inUse.uid} has the same file system mounted`, uniqueName)
    return
  }
  tearDown(context, findings, what, () => partsOf(context, known, found))
}

type Found = ReturnType<typeof stagedParts>

/** The mounts staged for the map, other mounts that show them, and operations that come first. */
function stagedParts(context: PlanContext, findings: Findings, { block, identity }: KnownBlock) {
  const whose = context.ledger.block(block)
  const predecessors = findings.operations.filter(
    ({ kind, subject }) => kind === 'UnmapVolume' && areOfOneRow(subject, whose),
  )
  const { staging = { path: block.dir, mounts: [], files: [] } } = block
  const call = identity && driverCall(context, identity, block.stateFile, staging.mounts.length > 0)
  const own = driverStaging(context, { ...staging, identity, call, predecessors })
  const references = referencesTo(context, findings, own.mounts, context.inputs.absolute(staging.path))
  return { call, own, ...references, after: [...new Set([...predecessors, ...references.after])] }
}

function partsOf(context: PlanContext, known: KnownBlock, { call, own, held, after }: Found): Parts {
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

/**
 * Why a pod that must not be disturbed needs the map: by the desired state, a mapping, or the same spec name (R815, R817).
 */
function userOf(context: PlanContext, block: BlockVolume, uniqueName: string | undefined): string | undefined {
  const [user] = [
    ...(uniqueName === undefined ? [] : context.uses.of(uniqueName)),
    ...context.uses.of(`${block.plugin}/${block.name}`),
  ]
  if (user !== undefined) return `pod ${user.pod.uid} ${user.how}`
  const wanted = context.ledger.wants
    .ofPlugin(block.plugin)
    .find((volume) => volume.specName === block.name || isDeviceOf(volume, block.plugin, block.name))
  return wanted === undefined ? undefined : `pod ${wanted.podUid} wants it`
}
