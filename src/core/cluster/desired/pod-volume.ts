/** One volume of a pod, resolved by the controller's rules (R709), from the flat records of a cluster. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import type { Pod, PodVolumeSource } from '../../kube/api/objects.ts'
import type { UnresolvedVolume, VolumeSpec } from '../../volumes/desired-state.ts'
import { ANY, type MayBe } from '../../volumes/desired-state.ts'
import { inTreePluginOf } from '../../volumes/in-tree-volumes.ts'
import { resolveClaim } from '../../volumes/resolve-claim.ts'
import { CONTROLLER_RULES, knownSpec, resolveVolume } from '../../volumes/resolve-volume.ts'
import type { ClusterObjects } from '../model/cluster-objects.ts'
import type { ClusterPod, ClusterPodVolume, ClusterVolume } from '../model/cluster-state.ts'
import type { KnownVolume } from '../model/known-volume.ts'

/** Why a volume is not there for the pod; `mayBe`: which volumes it may be all the same (S4). */
export interface UnresolvedPodVolume {
  readonly pod: ClusterPod
  /** The name in the pod's spec. */
  readonly name: string
  readonly cause: UnresolvedVolume['cause']
  readonly mayBe: MayBe
  readonly message: string
  readonly claim?: string
  /** The one that the claim names. */
  readonly persistentVolume?: string
}

export interface ResolvedPodVolume {
  readonly volume: KnownVolume
  /** Of several PersistentVolumes behind one handle the one that is bound to the pod's claim. */
  readonly persistentVolume?: string
  /** Why the pod cannot use the volume, though it is known which one it is. */
  readonly fault?: string
}

export type PodVolumeResolution = ResolvedPodVolume | { readonly unresolved: UnresolvedPodVolume }

/**
 * @param known every PersistentVolume's volume, by unique name
 */
export function resolvePodVolume(
  pod: ClusterPod,
  volume: ClusterPodVolume,
  objects: ClusterObjects,
  known: ReadonlyMap<string, KnownVolume>,
): PodVolumeResolution {
  if ('source' in volume) return resolveInline(pod, volume, objects)
  const reference = { name: volume.claim, readOnly: false, ephemeral: volume.ephemeral === true }
  const bound = resolveClaim(asPod(pod), reference, objects.lookup, CONTROLLER_RULES)
  const claim = `${pod.namespace}/${volume.claim}`
  const persistentVolume = 'cause' in bound ? bound.persistentVolumeName : bound.persistentVolume.metadata.name
  const unresolved = (cause: UnresolvedPodVolume['cause'], mayBe: MayBe, message: string): PodVolumeResolution => ({
    unresolved: { pod, name: volume.name, cause, mayBe, message, claim, ...omitUndefined({ persistentVolume }) },
  })
  if ('cause' in bound) return unresolved(bound.cause, bound.mayBe, bound.message)
  const name = bound.persistentVolume.metadata.name
  const found = objects.volume(name)
  if (found.state !== 'Found') return unresolved('Unknown', ANY, `PersistentVolume ${name} is not known`)
  const named = known.get(found.object.uniqueName ?? '')
  if (named !== undefined) return { volume: named, persistentVolume: name, ...omitUndefined({ fault: bound.fault }) }
  const why = found.object.problem ?? 'no plugin can name it'
  const mayBe = mayBeOf(found.object)
  const cause = mayBe.of === 'none' ? 'Unusable' : 'Unknown'
  return unresolved(cause, mayBe, bound.fault ?? `PersistentVolume ${name}: ${why}`)
}

/** A PersistentVolume whose source no plugin can name: at most its driver is known. */
function mayBeOf({ plugin, driver, attachability }: ClusterVolume): MayBe {
  if (attachability === 'notAttachable') return { of: 'none' }
  if (driver !== undefined) return { of: 'kinds', kinds: [{ plugin: CSI_PLUGIN, driver }] }
  return plugin === undefined ? ANY : { of: 'kinds', kinds: [{ plugin }] }
}

const UNUSED = { mounted: false, mapped: false }

function resolveInline(
  pod: ClusterPod,
  { name, source }: { readonly name: string; readonly source: PodVolumeSource },
  objects: ClusterObjects,
): PodVolumeResolution {
  const context = { podUid: pod.uid, lookup: objects.lookup, node: null }
  const resolution = resolveVolume(asPod(pod), source, UNUSED, context, CONTROLLER_RULES)
  const spec = knownSpec(resolution)
  if (spec !== undefined) {
    const fault = 'unresolved' in resolution ? resolution.unresolved.message : undefined
    return { volume: inlineVolume(spec, source), ...omitUndefined({ fault }) }
  }
  const { cause, mayBe, message } = 'unresolved' in resolution ? resolution.unresolved : UNREADABLE
  return { unresolved: { pod, name, cause, mayBe, message } }
}

const UNREADABLE = { cause: 'Unknown', mayBe: ANY, message: 'its source is not known' } as const

function inlineVolume(spec: VolumeSpec, source: PodVolumeSource): KnownVolume {
  const { uniqueName, plugin, driver, handle, attachability, persistentVolume } = spec
  const accessModes = persistentVolume?.spec.accessModes ?? []
  return {
    ...{ uniqueName, plugin, attachability, accessModes },
    ...omitUndefined({ driver, handle, migratedFrom: inTreePluginOf(source), inlineSpec: persistentVolume?.spec }),
  }
}

/** The fields of a pod that resolving its volumes reads. */
function asPod({ namespace, name, uid }: ClusterPod): Pod {
  return { metadata: { namespace, name, uid }, spec: {} }
}
