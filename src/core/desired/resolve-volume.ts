/** One volume of a pod, resolved to what the kubelet would mount (R110-R118). */
import type { PersistentVolume, PersistentVolumeClaim, Pod, PodVolumeSource } from '../model/objects.ts'
import type { VolumeMode } from '../plan/plan.ts'
import type { SpecContext } from '../plugins/plugin.ts'
import { translateInlineVolume, translatePersistentVolume } from './csi-translation/translate.ts'
import type { VolumeSpec } from './desired-state.ts'
import { podNamespace, type VolumeUse } from './pods.ts'
import { claimReferenceOf, type ResolveRules, resolveClaim, type Unresolved } from './resolve-claim.ts'
import { pluginOfInline, pluginOfPersistentVolume } from './volume-plugins.ts'

export const KUBELET_RULES: ResolveRules = { ephemeralFirst: false, checkDeletion: true, checkMode: true }
export const CONTROLLER_RULES: ResolveRules = { ephemeralFirst: true, checkDeletion: false, checkMode: false }

export type Resolution = { readonly spec: VolumeSpec } | { readonly unresolved: Unresolved }

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
  const unknown = (why: string) =>
    unresolvedVolume(`PersistentVolume ${bound.persistentVolume.metadata.name} ${why}`, bound)

  const translation = translatePersistentVolume(bound.persistentVolume)
  if (translation !== undefined && 'error' in translation) {
    return unknown(`cannot be translated to CSI: ${translation.error}`)
  }
  const persistentVolume = translation?.persistentVolume ?? bound.persistentVolume
  const mode = rules.checkMode ? checkedMode(persistentVolume, use) : volumeMode(persistentVolume)
  if (typeof mode !== 'string') return unknown(mode.error)
  const facts = pluginOfPersistentVolume(persistentVolume, context)
  if ('error' in facts) return unknown(`cannot be mounted: ${facts.error}`)
  const { claim, readOnly } = bound
  const specName = persistentVolume.metadata.name
  return { spec: { ...facts, specName, mode, readOnly, persistentVolume, claim, inlineMigrated: false } }
}

/** Inline volumes are always file systems, and never read-only by themselves (R114, R116, R117, R152). */
function resolveInline(pod: Pod, volume: PodVolumeSource, context: SpecContext): Resolution {
  const inline = { mode: 'Filesystem', readOnly: false, source: volume } as const
  const translation = translateInlineVolume(volume, podNamespace(pod))
  if (translation !== undefined && 'error' in translation) {
    return unresolvedVolume(`volume ${volume.name} cannot be translated to CSI: ${translation.error}`)
  }
  if (translation !== undefined) {
    const { persistentVolume } = translation
    const facts = pluginOfPersistentVolume(persistentVolume, context)
    if ('error' in facts) return unresolvedVolume(`volume ${volume.name} cannot be mounted: ${facts.error}`)
    const specName = persistentVolume.metadata.name
    return { spec: { ...facts, ...inline, specName, persistentVolume, inlineMigrated: true } }
  }
  const facts = pluginOfInline(volume, context)
  if ('error' in facts) return unresolvedVolume(`volume ${volume.name} cannot be mounted: ${facts.error}`)
  return { spec: { ...facts, ...inline, specName: volume.name, inlineMigrated: false } }
}

function volumeMode(pv: PersistentVolume): VolumeMode {
  return pv.spec.volumeMode === 'Block' ? 'Block' : 'Filesystem'
}

/** The mode must be set, and be the one that every use needs; used in both ways it can't be right (R116). */
function checkedMode(pv: PersistentVolume, use: VolumeUse): VolumeMode | { readonly error: string } {
  const mode = pv.spec.volumeMode
  if (!mode) return { error: 'has no volumeMode' }
  if (use.mounted && mode !== 'Filesystem')
    return { error: `has mode ${mode}, but a container lists it in volumeMounts` }
  if (use.mapped && mode !== 'Block') return { error: `has mode ${mode}, but a container lists it in volumeDevices` }
  return volumeMode(pv)
}

function unresolvedVolume(
  message: string,
  bound?: { readonly claim: PersistentVolumeClaim; readonly persistentVolume: PersistentVolume },
): Resolution {
  if (bound === undefined) return { unresolved: { cause: 'Unknown', message } }
  const claimName = bound.claim.metadata.name
  const persistentVolumeName = bound.persistentVolume.metadata.name
  return { unresolved: { cause: 'Unknown', message, claimName, persistentVolumeName } }
}
