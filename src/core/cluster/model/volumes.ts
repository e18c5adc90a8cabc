/** A volume that could be attached, as its unique name identifies it: all PersistentVolumes of one driver and handle are one (R818). */

import { compareText } from '../../base/text.ts'
import { namespacedName } from '../../kube/api/names.ts'
import type { PersistentVolume } from '../../kube/api/objects.ts'
import { type Finding, said } from '../../messages/findings.ts'
import type { ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import { foundOf, type Lookup } from '../../volumes/api-lookup.ts'
import type { MayBe } from '../../volumes/desired-state.ts'
import type { RowKey } from '../../volumes/finding.ts'
import { resolveClaim, type Unresolved } from '../../volumes/resolve-claim.ts'
import { resolveInline } from '../../volumes/resolve-volume.ts'
import { CSI_PLUGIN, parseCsiUniqueName } from '../../volumes/volume-names.ts'
import type {
  ClusterNode,
  ClusterObjects,
  ClusterPod,
  ClusterPodVolume,
  ClusterState,
  ClusterVolume,
} from './cluster-state.ts'

/** Almost every volume has one PersistentVolume, and is its record; of several the first's. One in the spec of a pod has none. */
export interface KnownVolume extends Partial<ClusterVolume> {
  readonly uniqueName: string
  readonly plugin: string
  /** Of several PersistentVolumes one may be on one node only. */
  readonly exclusive?: boolean
  /** The synthetic PersistentVolume's spec of a translated in-tree volume in the spec of a pod (R153). */
  readonly inlineSpec?: PersistentVolume['spec']
}

/** R740: a volume without access modes, or with ReadWriteMany or ReadOnlyMany, may be attached to several nodes. */
export function isExclusive({ exclusive, accessModes = [] }: KnownVolume): boolean {
  const isShared = accessModes.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany')
  return exclusive ?? (accessModes.length > 0 && !isShared)
}

/** Every PersistentVolume that a plugin can name, by unique name. */
export function knownVolumes(state: ClusterState) {
  const known = new Map<string, KnownVolume>()
  for (const volume of state.volumes) {
    if (!isNamed(volume)) continue
    const before = known.get(volume.uniqueName)
    known.set(volume.uniqueName, before === undefined ? volume : joined(before, volume))
  }
  return known
}

function isNamed(volume: ClusterVolume): volume is ClusterVolume & KnownVolume {
  return volume.uniqueName !== undefined && volume.plugin !== undefined
}

/** The stricter of both: exclusive if one is, attachable if one is. */
function joined(a: KnownVolume, b: KnownVolume): KnownVolume {
  const first = compareText(a.name ?? '', b.name ?? '') <= 0 ? a : b
  const both = [a.attachability, b.attachability]
  return {
    ...first,
    attachability: both.includes('attachable') ? 'attachable' : both.includes('unknown') ? 'unknown' : 'notAttachable',
    exclusive: isExclusive(a) || isExclusive(b),
  }
}

/** What a volume on a node is called in the subjects of findings. @param node undefined: of no node */
export function volumeKey(node: string | undefined, uniqueName: string): RowKey {
  return `${node ?? '-'} ${uniqueName}`
}

/** A volume that no PersistentVolume and no pod has: only the status of a Node, or an attachment, names it. */
export function volumeCalled(uniqueName: string): KnownVolume {
  const csi = parseCsiUniqueName(uniqueName)
  const plugin =
    csi === undefined ? uniqueName.slice(0, uniqueName.indexOf('/', uniqueName.indexOf('/') + 1)) : CSI_PLUGIN
  return { uniqueName, plugin, ...csi }
}

/** As a plan names it. */
export function volumeRef(volume: KnownVolume): ClusterVolumeRef {
  const { name, uniqueName, plugin, driver, handle, claim, accessModes } = volume
  return {
    name: name ?? handle ?? uniqueName,
    uniqueName,
    plugin,
    driver,
    handle,
    claim: claim && namespacedName(claim),
    persistentVolume: name,
    accessModes,
  }
}

/** In messages: its PersistentVolume, and the claim. */
export function volumeLabel(volume: ClusterVolumeRef): string {
  return volume.claim === undefined ? volume.name : `${volume.name} (claim ${volume.claim})`
}

// One volume of a pod, resolved by the controller's rules (R709), from the flat records of a cluster.

/** Why a volume is not there for the pod; `mayBe`: which volumes it may be all the same (S4). */
export interface UnresolvedPodVolume extends Unresolved {
  readonly pod: ClusterPod
  /** The name in the pod's spec. */
  readonly name: string
}

export interface ResolvedPodVolume {
  readonly volume: KnownVolume
  /** Of several PersistentVolumes behind one handle the one that is bound to the pod's claim. */
  readonly persistentVolume?: string
  /** Why the pod cannot use the volume, though it is known which one it is. */
  readonly fault?: Finding
}

/** @param known every PersistentVolume's volume, by unique name */
export function resolvePodVolume(
  pod: ClusterPod,
  volume: ClusterPodVolume,
  objects: ClusterObjects,
  known: ReadonlyMap<string, KnownVolume>,
): ResolvedPodVolume | UnresolvedPodVolume {
  if ('source' in volume) {
    const { name, source } = volume
    const found = resolveInline(pod, source, { podUid: pod.uid, lookup: objects, node: null })
    if (found.unresolved !== undefined) return { pod, name, ...found.unresolved }
    const { uniqueName, plugin, driver, handle, attachability, persistentVolume } = found.spec
    const accessModes = persistentVolume?.spec.accessModes ?? []
    const more = { driver, handle, inlineSpec: persistentVolume?.spec }
    return { volume: { uniqueName, plugin, attachability, accessModes, ...more } }
  }
  const bound = resolveClaim(pod, { name: volume.claim, ephemeral: volume.ephemeral === true }, objects, 'controller')
  const about = { pod, name: volume.name, claimName: volume.claim }
  if ('cause' in bound) return { ...about, ...bound }
  const { volume: record, fault } = bound
  const { name, uniqueName = '', problem = 'no plugin can name it' } = record
  const named = known.get(uniqueName)
  if (named !== undefined) return { volume: named, persistentVolume: name, fault }
  const mayBe = mayBeOf(record)
  const cause = mayBe.length === 0 ? 'Unusable' : 'Unknown'
  const why = fault ?? said('VolumeUnresolved.unnamed', { volume: name, why: problem })
  return { ...about, cause, mayBe, ...why, persistentVolumeName: name }
}

/** A PersistentVolume whose source no plugin can name: at most its driver is known. */
function mayBeOf({ plugin, driver, attachability }: ClusterVolume): MayBe {
  if (attachability === 'notAttachable') return []
  if (driver !== undefined) return [{ plugin: CSI_PLUGIN, driver }]
  return plugin === undefined ? 'any' : [{ plugin }]
}

/**
 * Why the controller does not attach a volume that a pod of the node has. All of these hold a detach: the controller remembers
 * what it wanted before, and volctl cannot (R118, R709).
 */
export const NOT_ATTACHED = {
  NotAttachable: 'the driver needs no attachment',
  AttachabilityUnknown: 'whether the driver needs an attachment could not be read',
  /** The claim is not bound to it, or not the pod's. */
  Unusable: 'the pod cannot use the volume',
  /** The node's kubelet attaches, or the Node is not known. */
  NotManaged: 'the controller does not manage the node',
}

export type NotAttachedFor = keyof typeof NOT_ATTACHED

export function whyNotAttached(
  { volume, fault }: ResolvedPodVolume,
  node: Lookup<ClusterNode>,
): NotAttachedFor | undefined {
  if (fault !== undefined) return 'Unusable'
  if (volume.attachability === 'notAttachable') return 'NotAttachable'
  if (volume.attachability === 'unknown') return 'AttachabilityUnknown'
  if (!foundOf(node)?.managed) return 'NotManaged'
  return undefined
}
