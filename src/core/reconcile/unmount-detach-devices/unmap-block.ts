/** Raw block volumes: the pod's part, then the device's (R451, R452, C84-C86; O8, O22). */

import type { BlockMapping, BlockVolume } from '../../actual/block-volume.ts'
import { SHARED_DIRECTORIES } from '../../actual/block-volumes.ts'
import { registeredDriver, stages } from '../../actual/csi-drivers.ts'
import { deviceSourceOf, isDeviceOf } from '../../desired/device-source.ts'
import { csiUniqueName } from '../../names/volume-names.ts'
import { expectedMount, type Findings, type Obstacle } from '../../plan/draft.ts'
import type { Step, VolumeRef } from '../../plan/plan.ts'
import { type PlanContext, waitForKubelet } from '../context/context.ts'
import { foreignObstacle, layerObstacle, umountSteps } from '../context/layers.ts'
import { gone } from '../context/pod-facts.ts'
import { unreadWithin } from '../context/unread.ts'
import { driverCall } from '../drivers/driver-call.ts'
import { driverStaging } from '../drivers/driver-staging.ts'
import { identifyBlock, identityObstacle } from '../identity/csi-identity.ts'
import type { CsiIdentity, Identified } from '../identity/identified.ts'
import { describeCsiVolume } from '../identity/volume-facts.ts'
import { deviceObstacle, predecessorObstacle } from '../obstacles/device-obstacles.ts'
import { referencesTo } from '../obstacles/mount-references.ts'
import { elsewhereObstacle } from '../obstacles/outside-root.ts'
import { globalUniqueName, releaseSteps } from './unmount-other-devices.ts'

/** Step 1 for block volumes: what pods that are gone have mapped. */
export function unmapVolumes(context: PlanContext, findings: Findings): void {
  for (const block of context.blocks) {
    for (const mapping of block.mappings) unmapVolume(context, findings, block, mapping)
  }
}

function unmapVolume(context: PlanContext, findings: Findings, block: BlockVolume, mapping: BlockMapping): void {
  const pod = context.classes.of(mapping.podUid)
  if (pod === undefined || (pod.class !== 'Gone' && pod.class !== 'Finished')) return
  const csi = block.plugin === 'kubernetes.io/csi'
  const identified = csi ? identifyBlock(context, block) : undefined
  const volume = refOf(context, block, identified, mapping)
  const wait = waitForKubelet(context)
  if (wait !== undefined) {
    findings.wait('UnmapVolume', wait, 'S11', { pod: pod.ref, volume })
    return
  }

  const { inputs } = context
  const publish = csi && block.publishDir !== undefined ? `${block.publishDir}/${mapping.podUid}` : undefined
  const identity = identified !== undefined && 'identity' in identified ? identified.identity : undefined
  const mounted = mapping.mapLayers.length + mapping.publishLayers.length > 0
  const call = identity === undefined ? undefined : driverCall(context, identity, block.stateFile, mounted)
  const steps: Step[] = mapping.loops.map((device) => ({ op: 'losetup -d', target: device }))
  if (mapping.symlink !== undefined) steps.push({ op: 'unlink', target: inputs.absolute(mapping.symlink) })
  if (mapping.mapFile !== undefined) {
    const path = inputs.absolute(mapping.mapFile)
    steps.push(...umountSteps(context, path, mapping.mapLayers), { op: 'unlink', target: path })
  }
  const target = inputs.absolute(
    publish ?? `plugins/kubernetes.io/csi/volumeDevices/publish/${block.name}/${mapping.podUid}`,
  )
  if (csi && (call?.kind === 'gone' || call?.kind === 'absentSinceBoot')) {
    steps.push(...umountSteps(context, target, mapping.publishLayers))
    if (mapping.publishPath !== undefined) steps.push({ op: 'unlink', target })
  } else if (csi) steps.push({ op: 'NodeUnpublishVolume', target })

  const blocked =
    foreignObstacle(context, block.foreign) ??
    layerObstacle(context, target, mapping.publishLayers) ??
    (mapping.mapFile === undefined
      ? undefined
      : layerObstacle(context, inputs.absolute(mapping.mapFile), mapping.mapLayers)) ??
    identityObstacle(identified) ??
    (call?.kind === 'blocked' ? call.blocked : undefined)
  const leaked = mapping.symlink === undefined
  findings.add({
    kind: 'UnmapVolume',
    reason:
      call?.kind === 'absentSinceBoot'
        ? 'DriverAbsentSinceBoot'
        : leaked
          ? 'MappedWithoutPod'
          : pod.class === 'Finished'
            ? 'PodFinished'
            : 'PodGone',
    message: `${gone(pod)}; block volume ${block.name} is ${mounted ? 'mapped' : 'not mapped, and something of it is left'}`,
    pod: pod.ref,
    volume,
    steps,
    paths: [
      ...new Set([
        ...steps.filter((step) => step.op !== 'losetup -d').map((step) => step.target),
        ...(csi ? [target] : []),
      ]),
    ],
    after: [],
    rule: 'R451',
    ...(leaked ? { kubeletWould: 'never find it; map, published device and loop device stay' } : {}),
    expects: [
      ...(mapping.mapFile === undefined || mapping.mapLayers.length === 0
        ? []
        : [expectedMount(inputs.absolute(mapping.mapFile), mapping.mapLayers)]),
      ...(mapping.publishLayers.length === 0 ? [] : [expectedMount(target, mapping.publishLayers)]),
    ],
    removes: new Set([...mapping.mapLayers, ...mapping.publishLayers].map((layer) => layer.id)),
    ...(blocked === undefined ? {} : { blocked }),
  })
}

/** Step 3 for block volumes: maps with no pod left on this node. */
export function unmapDevices(context: PlanContext, findings: Findings): void {
  for (const block of context.blocks) unmapDevice(context, findings, block)
}

function unmapDevice(context: PlanContext, findings: Findings, block: BlockVolume): void {
  const { inputs } = context
  const leftover = inputs.tree.has(block.dir) || block.stagingPath !== undefined || block.publishDir !== undefined
  if (!leftover) {
    leaveDevice(context, findings, block, undefined, 'R452', 'it has no map directory here')
    return
  }
  const csi = block.plugin === 'kubernetes.io/csi'
  const identified = csi ? identifyBlock(context, block) : undefined
  const identity = identified !== undefined && 'identity' in identified ? identified.identity : undefined
  const uniqueName = identity === undefined ? undefined : csiUniqueName(identity.driver, identity.handle)
  const user = userOf(context, block, uniqueName)
  if (user !== undefined) {
    leaveDevice(context, findings, block, uniqueName, 'R815', user)
    return
  }
  const unmaps = findings.operations.filter(
    (draft) =>
      draft.kind === 'UnmapVolume' && draft.volume?.name === block.name && draft.volume.plugin === block.plugin,
  )
  const { staging = { path: block.dir, mounts: [], files: [] } } = block
  const call =
    identity === undefined ? undefined : driverCall(context, identity, block.stateFile, staging.mounts.length > 0)
  const own = driverStaging(context, { ...staging, identity, call, predecessors: unmaps })
  const references = referencesTo(context, findings, own.mounts, inputs.absolute(staging.path))
  if (references.kind === 'inUse') {
    leaveDevice(context, findings, block, uniqueName, 'S24', `pod ${references.by.uid} shows the same file system`)
    return
  }
  const after = [...new Set([...unmaps, ...(references.kind === 'free' ? references.after : [])])]
  const volume = refOf(context, block, identified, undefined)
  const wait = waitForKubelet(context)
  if (wait !== undefined) {
    findings.wait('UnmapDevice', wait, 'S11', { volume })
    return
  }
  const steps = csi
    ? csiSteps(context, block, identity, call?.kind)
    : [
        ...releaseSteps(block.plugin, inputs.absolute(block.dir)),
        { op: 'rmdir' as const, target: inputs.absolute(block.dir) },
      ]
  const [stray] = [...block.unexpected, ...own.strangers]
  const isEmpty = csi && identity === undefined && hasNothing(block)
  const obstacle =
    foreignObstacle(context, [...block.foreign, ...own.foreign]) ??
    own.obstacle ??
    (stray === undefined
      ? undefined
      : ({
          code: 'UnexpectedFile',
          message: `${inputs.absolute(stray.path)} is not of the kubelet's making`,
          hint: 'Look at it; move it away or delete it yourself, then plan again.',
        } satisfies Obstacle)) ??
    identityObstacle(identified) ??
    deviceObstacle(context, block.plugin, identity, csi ? undefined : block.name) ??
    (csi ? elsewhereObstacle(inputs, { ...identity, names: [block.name] }) : undefined) ??
    (references.kind === 'held' ? references.obstacle : undefined) ??
    (call?.kind === 'blocked' ? call.blocked : undefined) ??
    predecessorObstacle(after)
  // Without a name nothing more is shown to be missing than what was read (S3).
  const unread = isEmpty ? unreadWithin(inputs, block.dir) : undefined
  const blocked = isEmpty ? unread : obstacle
  const leaked = after.length === 0
  findings.add({
    kind: 'UnmapDevice',
    reason: call?.kind === 'absentSinceBoot' ? 'DriverAbsentSinceBoot' : leaked ? 'MappedWithoutPod' : 'LastPodGone',
    message: isEmpty
      ? `${inputs.absolute(block.dir)} ${unread === undefined ? 'has' : 'may have'} empty directories alone, which an unfinished unmap has left`
      : leaked
        ? `no pod of this node wants block volume ${block.name}, and no pod directory leads to its map`
        : `no pod of this node wants block volume ${block.name} once the operations before are done`,
    volume,
    steps,
    paths: [...new Set([...steps.map((step) => step.target), ...own.expects.map(({ path }) => path)])],
    after,
    rule: isEmpty ? 'R837' : leaked ? 'R820' : 'R452',
    ...(leaked && !isEmpty ? { kubeletWould: 'never find it' } : {}),
    ...(own.expects.length === 0 ? {} : { expects: own.expects }),
    removes: new Set(own.mounts.map((mount) => mount.id)),
    ...(blocked === undefined ? {} : { blocked }),
  })
}

/** No mount, map, state file or any other file: directories that the kubelet made, which need no driver to go (R837). */
function hasNothing({ stateFile, mappings, foreign, unexpected, staging }: BlockVolume): boolean {
  const files = [...unexpected, ...(staging?.files ?? [])]
  return (
    stateFile === undefined && mappings.length + foreign.length + files.length + (staging?.mounts.length ?? 0) === 0
  )
}

/** The kubelet's order (C85, C86), by plain rmdir and unlink of the names that it makes itself. */
function csiSteps(
  context: PlanContext,
  block: BlockVolume,
  identity: CsiIdentity | undefined,
  call: string | undefined,
): Step[] {
  const { inputs } = context
  const steps: Step[] = []
  const socket = identity === undefined ? undefined : registeredDriver(context.inputs, identity.driver)
  const remove = (op: 'rmdir' | 'unlink', path: string): void => {
    if (inputs.tree.has(path)) steps.push({ op, target: inputs.absolute(path) })
  }
  // S16: also where nothing is staged on disk, which the kubelet leaves out (C85).
  const onRecord = block.stagingPath !== undefined || block.stateFile !== undefined
  if (block.staging !== undefined && onRecord && call !== 'gone' && call !== 'absentSinceBoot' && stages(socket)) {
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

/** In words, any pod that must not be disturbed: by the desired state, a mapping, or a claim on the same spec name (R815, R817). */
function userOf(context: PlanContext, block: BlockVolume, uniqueName: string | undefined): string | undefined {
  const [user] = [
    ...(uniqueName === undefined ? [] : context.users.of(uniqueName)),
    ...context.users.of(`${block.plugin}/${block.name}`),
  ]
  if (user !== undefined) return `pod ${user.pod.uid} ${user.how}`
  const wanted = context.desired.volumes.find(
    (volume) =>
      volume.plugin === block.plugin &&
      (volume.specName === block.name || isDeviceOf(deviceSourceOf(volume), block.plugin, block.name)),
  )
  return wanted === undefined ? undefined : `pod ${wanted.podUid} wants it`
}

function leaveDevice(
  { inputs }: PlanContext,
  findings: Findings,
  { dir }: BlockVolume,
  uniqueName: string | undefined,
  rule: string,
  why: string,
): void {
  findings.leave(() => ({
    path: inputs.absolute(dir),
    rule,
    why,
    volume: uniqueName,
  }))
}

function refOf(
  context: PlanContext,
  block: BlockVolume,
  identified: Identified | undefined,
  mapping: BlockMapping | undefined,
): VolumeRef {
  const identity = identified !== undefined && 'identity' in identified ? identified.identity : undefined
  if (block.plugin !== 'kubernetes.io/csi') {
    const uniqueName = globalUniqueName(block.plugin, block.dir, block.name)
    return { name: block.name, uniqueName, plugin: block.plugin, mode: 'Block' }
  }
  return describeCsiVolume(context, {
    name: block.name,
    mode: 'Block',
    identity,
    uniqueName: identity === undefined ? undefined : csiUniqueName(identity.driver, identity.handle),
    device: mapping?.publishLayers.at(-1) ?? mapping?.mapLayers.at(-1),
  })
}
