/** One volume of a pod, resolved to what the kubelet would mount (R110-R118). */

import { ownValue } from '../base/collections.ts'
import { present } from '../base/text.ts'
import type { PersistentVolume, Pod, PodVolumeSource } from '../kube/api/objects.ts'
import { said } from '../messages/findings.ts'
import { type ApiLookup, apiLookup, mapFound } from './api-lookup.ts'
import { csi } from './csi.ts'
import {
  type DeviceKind,
  type SpecFailure,
  type SpecSource,
  sharedSourcesOf,
  type VolumeSpec,
} from './desired-state.ts'
import type { PodRef } from './finding.ts'
import { flexVolume } from './flex-volume.ts'
import { IN_TREE, translate } from './in-tree-volumes.ts'
import { type SpecContext, specNameOf } from './plugin.ts'
import { onDiskUid, podNamespace, type VolumeUse } from './pods.ts'
import { PLUGINS, pluginsFor } from './registry.ts'
import { claimFacts, claimReferenceOf, resolveClaim, type Unresolved } from './resolve-claim.ts'
import type { ApiSnapshot } from './snapshot.ts'
import { CSI_PLUGIN, uniquePodVolumeName, uniqueVolumeName } from './volume-names.ts'

type Resolution =
  | { readonly spec: VolumeSpec; readonly unresolved?: undefined }
  | { readonly spec?: undefined; readonly unresolved: Unresolved }

/**
 * The volume, usable or not, if it is known which one it is (S4), and why the pod cannot have it, if it cannot.
 *
 * @param use how containers of the pod use it; undefined: by the controller's rules, for which every volume counts (R709)
 */
export function resolveVolume(pod: Pod, volume: PodVolumeSource, api: ApiSnapshot, use?: VolumeUse) {
  const podUid = onDiskUid(pod)
  const found = resolve(pod, volume, { podUid, lookup: apiLookup(api), node: api.node }, use)
  const { unresolved } = found
  if (unresolved === undefined) return found
  return { spec: unresolved.volume, unresolved: { podUid, pod, podVolumeName: volume.name, ...unresolved } }
}

function resolve(
  pod: Pod,
  volume: PodVolumeSource,
  context: SpecContext & { readonly lookup: ApiLookup },
  use: VolumeUse | undefined,
): Resolution {
  const by = use === undefined ? 'controller' : 'kubelet'
  const { uid, name } = pod.metadata
  const ref = { uid, name, namespace: podNamespace(pod) }
  const reference = claimReferenceOf(pod, volume, by)
  if (reference === undefined) return resolveInline(ref, volume, context)
  const bound = resolveClaim(ref, reference, claimLookup(context.lookup), by)
  if ('cause' in bound) return { unresolved: bound }
  const {
    claim: { object: claim },
    volume: { object: persistentVolume },
  } = bound
  const about = { claimName: claim.metadata.name, persistentVolumeName: persistentVolume.metadata.name }
  const found = specOf({ persistentVolume }, context)
  const fault = bound.fault ?? (use && modeFault(persistentVolume, use))
  if ('error' in found) {
    const why = fault ?? said('VolumeUnresolved.unusable', { volume: about.persistentVolumeName, why: found.error })
    return { unresolved: { ...ofSource(persistentVolume.spec), ...why, ...about } }
  }
  const readOnly = !reference.ephemeral && (volume.persistentVolumeClaim?.readOnly ?? false)
  const spec: VolumeSpec = { ...found, readOnly, claim }
  if (fault === undefined) return { spec }
  return { unresolved: { cause: 'Unusable', mayBe: [], volume: spec, ...fault, ...about } }
}

/** What decides of the objects, with the objects themselves. */
function claimLookup(lookup: ApiLookup) {
  return {
    claim: (namespace: string, called: string) =>
      mapFound(lookup.persistentVolumeClaim(called, namespace), (object) => ({ ...claimFacts(object), object })),
    volume: (called: string) =>
      mapFound(lookup.persistentVolume(called), (object) => ({
        name: called,
        claim: object.spec.claimRef ?? undefined,
        object,
      })),
  }
}

/** Inline volumes are always file systems, and only a mount makes them read-only (R114, R116, R117, R152). */
export function resolveInline(pod: PodRef, volume: PodVolumeSource, context: SpecContext): Resolution {
  const found = specOf({ source: volume }, context, pod.namespace)
  if ('error' in found) {
    const why = said('VolumeUnresolved.inline', { volume: volume.name, why: found.error })
    return { unresolved: { ...ofSource(volume), ...why } }
  }
  return { spec: { ...found, readOnly: false } }
}

export type SpecOfSource = Omit<VolumeSpec, 'readOnly' | 'claim'>

/**
 * The volume that a source is, translated to CSI if it is in-tree, by the kubelet's plugin and with the unique name that follows from it
 * (R003, R010, R019; P1-P9). It is an error if no plugin matches, or several (R003).
 *
 * @returns a failure completes a message after the volume's name
 */
export function specOf(given: SpecSource, context: SpecContext, namespace?: string): SpecOfSource | SpecFailure {
  const translation = translate(given, namespace)
  if (translation !== undefined && 'error' in translation)
    return { error: `cannot be translated to CSI: ${translation.error}` }
  const spec = { ...given, ...translation }
  const facts = factsOf(spec, context)
  if ('error' in facts) return { error: `cannot be mounted: ${facts.error}` }
  const specName = specNameOf(spec)
  const { plugin, shared, attachability = 'notAttachable', driver, handle } = facts
  return {
    ...spec,
    ...{ specName, plugin, attachability, driver, handle, deviceMountable: shared !== undefined },
    uniqueName:
      shared === undefined ? uniquePodVolumeName(plugin, context.podUid, specName) : uniqueVolumeName(plugin, shared),
    mode: spec.persistentVolume?.spec.volumeMode === 'Block' ? 'Block' : 'Filesystem',
  }
}

function factsOf(spec: SpecSource, context: SpecContext) {
  const [found, other] = pluginsFor(sharedSourcesOf(spec))
  if (found === undefined) return { error: 'the kubelet has no plugin for its type' }
  if (other !== undefined) return { error: 'it has several sources, so more than one plugin matches' }
  return { plugin: found.plugin.name, ...found.plugin.facts?.(found.source, spec, context) }
}

/** The mode must be set, and fit every use; no mode fits a volume that is both mounted and mapped (R116). */
function modeFault({ metadata: { name: volume }, spec: { volumeMode: mode } }: PersistentVolume, use: VolumeUse) {
  if (!mode) return said('VolumeUnresolved.noMode', { volume })
  const [list] = present(
    use.mounted && mode !== 'Filesystem' && 'volumeMounts',
    use.mapped && mode !== 'Block' && 'volumeDevices',
  )
  return list && said('VolumeUnresolved.mode', { volume, mode, list })
}

// Which volumes one that could not be resolved may be, by its source (S4). A readable source shows which plugins and drivers
// the volume can belong to. A volume without a readable source may be any.

/** Sources of plugins that Kubernetes has removed. */
const REMOVED: ReadonlySet<string> = new Set([
  'gitRepo',
  'glusterfs',
  'cephfs',
  'quobyte',
  'flocker',
  'storageos',
  'scaleIO',
  'photonPersistentDisk',
  'rbd',
])

/** Fields of a PersistentVolume's spec, or of a pod's volume, that are no source. */
const NO_SOURCE: ReadonlySet<string> = new Set([
  'name',
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
])

/**
 * Which volumes a source that could not be resolved may mean. Several sources: any of them; an unknown source, or none: any volume.
 * A source of a plugin that Kubernetes has removed is known, though it cannot be used.
 */
export function ofSource(source: PodVolumeSource | PersistentVolume['spec']): Pick<Unresolved, 'cause' | 'mayBe'> {
  const keys = Object.entries(source).filter(([key, value]) => value != null && !NO_SOURCE.has(key))
  const all = keys.map(([key, value]) => kindsOf(key, value))
  if (all.length === 0 || all.includes(undefined)) return { cause: 'Unknown', mayBe: 'any' }
  const mayBe = all.flatMap((each) => each ?? [])
  const areRemoved = keys.every(([key]) => REMOVED.has(key))
  return { cause: mayBe.length === 0 || areRemoved ? 'Unusable' : 'Unknown', mayBe }
}

/** Undefined: the source is not known. */
function kindsOf(key: string, value: unknown): readonly DeviceKind[] | undefined {
  // Could be migrated to CSI before its removal (CSIMigrationRBD).
  if (key === 'rbd') return [{ plugin: CSI_PLUGIN, driver: 'rbd.csi.ceph.com' }]
  if (REMOVED.has(key)) return []
  const inTree = ownValue<{ readonly driver: string }>(IN_TREE, key)
  if (inTree !== undefined) return [{ plugin: CSI_PLUGIN, driver: inTree.driver }]
  const { driver } = value as { driver?: unknown }
  const named = typeof driver === 'string' && driver !== '' ? driver : undefined
  const plugin = PLUGINS.find(({ source }) => source === key)
  if (plugin === csi) return [{ plugin: CSI_PLUGIN, driver: named }]
  if (plugin === flexVolume) return named === undefined ? undefined : [{ plugin: named }]
  if (plugin === undefined) return undefined
  return plugin.device === undefined ? [] : [{ plugin: plugin.name }]
}
