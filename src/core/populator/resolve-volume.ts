/** One volume of a pod, resolved to what the kubelet would mount (R110-R118). */

import { translateInlineVolume, translatePersistentVolume } from '../desired/csi-translation/translate.ts'
import { podNamespace, type VolumeUse } from '../desired/pods.ts'
import {
  type BoundClaim,
  claimReferenceOf,
  type ResolveRules,
  resolveClaim,
  type Unresolved,
} from '../desired/resolve-claim.ts'
import type { VolumeSpec } from '../desired/volume-spec.ts'
import type { PersistentVolume, Pod, PodVolumeSource } from '../model/objects.ts'
import type { VolumeMode } from '../names/volume-names.ts'
import type { SpecContext } from '../plugins/plugin.ts'
import { judgeSource } from './judge-source.ts'
import { pluginOfInline, pluginOfPersistentVolume } from './volume-plugins.ts'

export const KUBELET_RULES: ResolveRules = { ephemeralFirst: false, checkDeletion: true, checkMode: true }
export const CONTROLLER_RULES: ResolveRules = { ephemeralFirst: true, checkDeletion: false, checkMode: false }

export type Resolution = { readonly spec: VolumeSpec } | { readonly unresolved: Unresolved }

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
  const facts = pluginOfPersistentVolume(persistentVolume, context)
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
    const facts = pluginOfPersistentVolume(persistentVolume, context)
    if ('error' in facts) return unusable(`cannot be mounted: ${facts.error}`)
    const specName = persistentVolume.metadata.name
    return { spec: { ...facts, ...inline, specName, persistentVolume, inlineMigrated: true } }
  }
  const facts = pluginOfInline(volume, context)
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
