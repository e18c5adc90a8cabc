/** One volume of a pod, resolved to what the kubelet would mount (R110-R118). */

import { CSI_PLUGIN, type VolumeMode } from '../facts/actual/volume-names.ts'
import type { PersistentVolume, Pod, PodVolumeSource } from '../kube/api/objects.ts'
import { csi } from './csi.ts'
import { ANY, type DeviceKind, type MayBe, NONE, type VolumeSpec } from './desired-state.ts'
import { flexVolume } from './flex-volume.ts'
import { IN_TREE, translateInlineVolume, translatePersistentVolume } from './in-tree-volumes.ts'
import type { SpecContext, SpecFacts, SpecFailure, SpecSource } from './plugin.ts'
import { podNamespace, type VolumeUse } from './pods.ts'
import { PLUGINS } from './registry.ts'
import { type BoundClaim, claimReferenceOf, type ResolveRules, resolveClaim, type Unresolved } from './resolve-claim.ts'

export const KUBELET_RULES: ResolveRules = { ephemeralFirst: false, checkDeletion: true, checkMode: true }
export const CONTROLLER_RULES: ResolveRules = { ephemeralFirst: true, checkDeletion: false, checkMode: false }

type Resolution = { readonly spec: VolumeSpec } | { readonly unresolved: Unresolved }

/** The volume, usable or not, if it is known which one it is (S4). */
export function knownSpec(resolution: Resolution): VolumeSpec | undefined {
  if ('spec' in resolution) return resolution.spec
  const { mayBe } = resolution.unresolved
  return mayBe.of === 'itself' ? mayBe.volume : undefined
}

/** `use`: how containers use it; an unused volume (the controller's case) has neither. */
export function resolveVolume(
  pod: Pod,
  volume: PodVolumeSource,
  use: VolumeUse,
  context: SpecContext,
  rules: ResolveRules,
): Resolution {
  const reference = claimReferenceOf(pod, volume, rules)
  if (reference === undefined) return resolveInline(pod, volume, context)
  const bound = resolveClaim(pod, reference, context.lookup, rules)
  if ('cause' in bound) return { unresolved: bound }
  return resolveBound(bound, use, context, rules)
}

function resolveBound(bound: BoundClaim, use: VolumeUse, context: SpecContext, rules: ResolveRules): Resolution {
  const { claim, readOnly } = bound
  const label = `PersistentVolume ${bound.persistentVolume.metadata.name}`
  const about = { claimName: claim.metadata.name, persistentVolumeName: bound.persistentVolume.metadata.name }
  const unusable = (why: string): Resolution => {
    const message = bound.fault ?? `${label} ${why}`
    return { unresolved: { ...ofSource(bound.persistentVolume.spec), message, ...about } }
  }

  const translation = translatePersistentVolume(bound.persistentVolume)
  if (translation !== undefined && 'error' in translation) {
    return unusable(`cannot be translated to CSI: ${translation.error}`)
  }
  const persistentVolume = translation?.persistentVolume ?? bound.persistentVolume
  const facts = pluginOf({ persistentVolume }, context)
  const fault = rules.checkMode ? modeFault(persistentVolume, use) : undefined
  if ('error' in facts) return unusable(fault ?? `cannot be mounted: ${facts.error}`)
  const specName = persistentVolume.metadata.name
  const mode = volumeMode(persistentVolume)
  const spec: VolumeSpec = { ...facts, specName, mode, readOnly, persistentVolume, claim, inlineMigrated: false }
  const message = bound.fault ?? (fault === undefined ? undefined : `${label} ${fault}`)
  if (message === undefined) return { spec }
  return { unresolved: { cause: 'Unusable', mayBe: { of: 'itself', volume: spec }, message, ...about } }
}

/** Inline volumes are always file systems, and only a mount makes them read-only (R114, R116, R117, R152). */
function resolveInline(pod: Pod, volume: PodVolumeSource, context: SpecContext): Resolution {
  const inline = { mode: 'Filesystem', readOnly: false, source: volume } as const
  const unusable = (why: string): Resolution => ({
    unresolved: { ...ofSource(volume), message: `volume ${volume.name} ${why}` },
  })
  const translation = translateInlineVolume(volume, podNamespace(pod))
  if (translation !== undefined && 'error' in translation) {
    return unusable(`cannot be translated to CSI: ${translation.error}`)
  }
  if (translation !== undefined) {
    const { persistentVolume } = translation
    const facts = pluginOf({ persistentVolume }, context)
    if ('error' in facts) return unusable(`cannot be mounted: ${facts.error}`)
    const specName = persistentVolume.metadata.name
    return { spec: { ...facts, ...inline, specName, persistentVolume, inlineMigrated: true } }
  }
  const facts = pluginOf({ inline: volume }, context)
  if ('error' in facts) return unusable(`cannot be mounted: ${facts.error}`)
  return { spec: { ...facts, ...inline, specName: volume.name, inlineMigrated: false } }
}

/** A source of a plugin that Kubernetes has removed is known, though it cannot be used. */
function ofSource(source: PodVolumeSource | PersistentVolume['spec']): Pick<Unresolved, 'cause' | 'mayBe'> {
  const { mayBe, removed } = judgeSource(source)
  return { cause: removed || mayBe.of === 'none' ? 'Unusable' : 'Unknown', mayBe }
}

function volumeMode(pv: PersistentVolume): VolumeMode {
  return pv.spec.volumeMode === 'Block' ? 'Block' : 'Filesystem'
}

/** The mode must be set, and fit every use; no mode fits a volume that is both mounted and mapped (R116). */
function modeFault(pv: PersistentVolume, use: VolumeUse): string | undefined {
  const mode = pv.spec.volumeMode
  if (!mode) return 'has no volumeMode'
  if (use.mounted && mode !== 'Filesystem') return `has mode ${mode}, but a container lists it in volumeMounts`
  if (use.mapped && mode !== 'Block') return `has mode ${mode}, but a container lists it in volumeDevices`
  return undefined
}

// Which volumes one that could not be resolved may be, by its source (S4). A readable source shows which plugins and drivers
// the volume can belong to. A volume without a readable source may be any.

/** Sources of plugins that Kubernetes has removed, with the CSI drivers that they could be migrated to. */
const REMOVED: Readonly<Record<string, readonly DeviceKind[]>> = {
  gitRepo: [],
  glusterfs: [],
  cephfs: [],
  quobyte: [],
  flocker: [],
  storageos: [],
  scaleIO: [],
  photonPersistentDisk: [],
  // Could be migrated to CSI before its removal (CSIMigrationRBD).
  rbd: [{ plugin: CSI_PLUGIN, driver: 'rbd.csi.ceph.com' }],
}

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
 *
 * @returns `removed`: Kubernetes has removed the plugins of all its sources
 */
export function judgeSource(source: PodVolumeSource | PersistentVolume['spec']): {
  readonly mayBe: MayBe
  readonly removed: boolean
} {
  const keys = Object.entries(source).filter(([key, value]) => value != null && !NO_SOURCE.has(key))
  const kinds = keys.map(([key, value]) => kindsOf(key, value))
  const removed = keys.length > 0 && keys.every(([key]) => Object.hasOwn(REMOVED, key))
  if (keys.length === 0 || kinds.includes(undefined)) return { mayBe: ANY, removed: false }
  const all = kinds.flatMap((each) => each ?? [])
  return { mayBe: all.length === 0 ? NONE : { of: 'kinds', kinds: all }, removed }
}

/** Undefined: the source is not known. */
function kindsOf(key: string, value: unknown): readonly DeviceKind[] | undefined {
  if (Object.hasOwn(REMOVED, key)) return REMOVED[key]
  const inTree = Object.hasOwn(IN_TREE, key) ? IN_TREE[key as keyof typeof IN_TREE] : undefined
  if (inTree !== undefined) return [{ plugin: CSI_PLUGIN, driver: inTree.driver }]
  const { driver } = (typeof value === 'object' ? value : {}) as { driver?: unknown }
  const named = typeof driver === 'string' && driver !== '' ? driver : undefined
  const plugin = PLUGINS.find(({ source }) => source === key)
  if (plugin === csi) return [{ plugin: CSI_PLUGIN, driver: named }]
  if (plugin === flexVolume) return named === undefined ? undefined : [{ plugin: named }]
  if (plugin === undefined) return undefined
  return plugin.device === undefined ? [] : [{ plugin: plugin.name }]
}

// The kubelet's plugin of a volume, and the unique name that follows from it (R003, R010, R019; P1-P9).

/** Of a PersistentVolume already translated to CSI if it was in-tree; it is an error if no plugin matches, or several (R003). */
export function pluginOf(spec: SpecSource, context: SpecContext): SpecFacts | SpecFailure {
  let found: SpecFacts | SpecFailure | undefined
  for (const plugin of PLUGINS) {
    const facts = plugin.facts(spec, context)
    if (facts === undefined) continue
    if (found !== undefined) return { error: 'it has several sources, so more than one plugin matches' }
    found = facts
  }
  return found ?? { error: 'the kubelet has no plugin for its type' }
}
