/** Phase 1 for block volumes: maps of orphaned and finished pods (R451, C84-C86; O8, O22). */

import type { BlockMapping, BlockVolume } from '../../facts/actual/block-volume.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import { globalUniqueName } from '../../facts/global-mounts.ts'
import { type CsiIdentity, type Identified, identityOf, uniqueNameOf } from '../../facts/sources.ts'
import type { Reason } from '../../messages/codes.ts'
import type { Step, VolumeRef } from '../../plan/plan.ts'
import { isListedWhole } from '../../volumes/api-lookup.ts'
import type { PlanContext } from '../context/context.ts'
import { type Stack, umountSteps } from '../context/layers.ts'
import { reasonOf } from '../context/pod-facts.ts'
import { unreadWithin } from '../context/unread.ts'
import { type DriverCall, driverCall, isWithoutDriver } from '../drivers/driver-call.ts'
import { describeCsiVolume, withGivenDevice } from '../identity/volume-facts.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { type Parts, targetsOf, tearDown } from '../tear-down/tear-down.ts'

export function unmapVolumes(context: PlanContext): void {
  for (const block of context.blocks) {
    for (const mapping of block.mappings) unmapVolume(context, block, mapping)
  }
}

function unmapVolume(context: PlanContext, block: BlockVolume, mapping: BlockMapping): void {
  const pod = context.classes.of(mapping.podUid)
  if (pod === undefined || (pod.class !== 'Gone' && pod.class !== 'Finished')) return
  const known = knownBlock(context, block)
  const volume = describeBlock(context, known, mapping)
  const subject = context.ledger.block(block, mapping)
  const what = { kind: 'UnmapVolume', pod, volume, subject } as const
  tearDown(context, what, () =>
    isLinkAlone(context, known, mapping)
      ? linkParts(context, pod, block, mapping)
      : partsOf(context, pod, known, mapping),
  )
}

/** The pod's link is all that is left of a volume whose PersistentVolume is shown not to exist: nobody can say any more what it was. */
function isLinkAlone({ inputs }: PlanContext, { block, isCsi, identity }: KnownBlock, mapping: BlockMapping): boolean {
  const { api } = inputs.snapshot
  const { loops, mapFile, mapLayers, publishPath, publishLayers, symlink } = mapping
  const left = [...loops, ...mapLayers, ...publishLayers, ...block.foreign, ...block.unexpected]
  return (
    isCsi &&
    identity === undefined &&
    symlink !== undefined &&
    (mapFile ?? publishPath ?? block.stateFile ?? block.stagingPath) === undefined &&
    left.length === 0 &&
    isListedWhole(api, 'persistentvolumes') &&
    api?.persistentVolumes?.every(({ metadata }) => metadata.name !== block.name) === true
  )
}

/** No driver is called without a handle, and none has anything there (S16): what goes is a name that the kubelet made. */
function linkParts({ inputs }: PlanContext, pod: PodClass, block: BlockVolume, { symlink = '' }: BlockMapping): Parts {
  const target = inputs.absolute(symlink)
  return {
    reason: reasonOf(pod),
    rule: 'R451',
    message: `a link is all that is left of block volume ${block.name}`,
    steps: [{ op: 'unlink', target }],
    paths: [target],
    unread: unreadWithin(inputs, block.dir),
    kubeletWould: 'fail: without vol_data.json it does not know the driver',
  }
}

function partsOf(context: PlanContext, pod: PodClass, known: KnownBlock, mapping: BlockMapping): Parts {
  const { block, isCsi, identified, identity } = known
  const target = publishedAt(context, known, mapping)
  const mounted = mapping.mapLayers.length + mapping.publishLayers.length > 0
  const call = identity && driverCall(context, identity, block.stateFile, mounted)
  const leaked = mapping.symlink === undefined
  const steps = stepsOf(context, isCsi, mapping, target, call)
  const map: Stack[] =
    mapping.mapFile === undefined ? [] : [{ path: context.inputs.absolute(mapping.mapFile), layers: mapping.mapLayers }]
  return {
    reason: whyUnmapped(pod, leaked, call),
    rule: 'R451',
    message: `block volume ${block.name} is ${mounted ? 'mapped' : 'not mapped, but not fully torn down'}`,
    steps,
    paths: [...targetsOf(steps), ...(isCsi ? [target] : [])],
    mounts: [...map, { path: target, layers: mapping.publishLayers }],
    foreign: block.foreign,
    identified,
    call,
    kubeletWould: leaked ? 'never find the map; it stays, with its published device and loop device' : undefined,
  }
}

function whyUnmapped(pod: PodClass, leaked: boolean, call: DriverCall | undefined): Reason {
  if (call?.kind === 'absentSinceBoot') return 'DriverAbsentSinceBoot'
  return leaked ? 'MappedWithoutPod' : reasonOf(pod)
}

function publishedAt({ inputs }: PlanContext, { block, isCsi }: KnownBlock, { podUid }: BlockMapping): string {
  const dir = isCsi ? block.publishDir : undefined
  return inputs.absolute(`${dir ?? `plugins/kubernetes.io/csi/volumeDevices/publish/${block.name}`}/${podUid}`)
}

function stepsOf(
  context: PlanContext,
  isCsi: boolean,
  { loops, symlink, mapFile, mapLayers, publishPath, publishLayers }: BlockMapping,
  target: string,
  call: DriverCall | undefined,
): Step[] {
  const { inputs } = context
  const steps: Step[] = loops.map((device) => ({ op: 'losetup -d', target: device }))
  if (symlink !== undefined) steps.push({ op: 'unlink', target: inputs.absolute(symlink) })
  if (mapFile !== undefined) {
    const path = inputs.absolute(mapFile)
    steps.push(...umountSteps(context, path, mapLayers), { op: 'unlink', target: path })
  }
  if (!isCsi) return steps
  if (!isWithoutDriver(call)) return [...steps, { op: 'NodeUnpublishVolume', target }]
  steps.push(...umountSteps(context, target, publishLayers))
  if (publishPath !== undefined) steps.push({ op: 'unlink', target })
  return steps
}

// Raw block volumes: names and identity, for both the pod's part and the device's.

export interface KnownBlock {
  readonly block: BlockVolume
  readonly isCsi: boolean
  /** Of CSI volumes alone. */
  readonly identified: Identified | undefined
  readonly identity: CsiIdentity | undefined
  readonly uniqueName: string | undefined
}

export function knownBlock(context: PlanContext, block: BlockVolume): KnownBlock {
  const isCsi = block.plugin === CSI_PLUGIN
  const identified = isCsi ? context.ledger.identifiedBlock(block) : undefined
  const identity = identityOf(identified)
  return { block, isCsi, identified, identity, uniqueName: uniqueNameOf(identity) }
}

/** @param mapping the part of one pod */
export function describeBlock(
  context: PlanContext,
  { block, isCsi, identity, uniqueName }: KnownBlock,
  mapping?: BlockMapping,
): VolumeRef {
  const { name, plugin, dir } = block
  if (!isCsi) return { name, uniqueName: globalUniqueName(plugin, dir), plugin, mode: 'Block' }
  const device = mapping?.publishLayers.at(-1) ?? mapping?.mapLayers.at(-1)
  return withGivenDevice(context, describeCsiVolume(context, { name, mode: 'Block', identity, uniqueName, device }))
}
