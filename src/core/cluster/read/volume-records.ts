/** Claims, PersistentVolumes and VolumeAttachments as records. */
import { IN_TREE_PLUGINS } from '../../desired/csi-translation/in-tree-plugin.ts'
import { translatePersistentVolume } from '../../desired/csi-translation/translate.ts'
import { BOUND_ANNOTATION } from '../../desired/resolve-claim.ts'
import { defined } from '../../lang/defined.ts'
import type { PersistentVolume, VolumeAttachment } from '../../model/objects.ts'
import type { SpecContext } from '../../plugins/plugin.ts'
import { judgeSource, pluginOfPersistentVolume } from '../../populator/resolve-volume.ts'
import type { AttachmentError, ClusterAttachment, ClusterClaim, ClusterVolume } from '../model/cluster-state.ts'
import type { ReceivedClaim, ReceivedVolume } from './received.ts'

/** On attachments that an apply of volctl has created. */
export const CREATED_BY = 'volctl.io/created-by'

export function claimRecord({ metadata, spec, status }: ReceivedClaim): ClusterClaim {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    wasBound: metadata.annotations?.[BOUND_ANNOTATION] !== undefined,
    ...defined({
      deletedAt: metadata.deletionTimestamp,
      // Finalizers show only what holds the deletion.
      finalizers: metadata.deletionTimestamp === undefined ? undefined : metadata.finalizers,
      volumeName: spec.volumeName || undefined,
      phase: status?.phase,
      ownerUid: owner?.uid,
      storageClass: spec.storageClassName || undefined,
    }),
  }
}

/** A PersistentVolume under the name that the controller gives it, translated to CSI if it is in-tree (R150). */
export function volumeRecord(volume: ReceivedVolume, context: SpecContext): ClusterVolume {
  const { metadata, spec, status } = volume
  const { claimRef } = spec
  return {
    name: metadata.name,
    uid: metadata.uid,
    accessModes: spec.accessModes ?? [],
    ...namesOf(volume, context),
    ...defined({
      deletedAt: metadata.deletionTimestamp,
      finalizers: metadata.deletionTimestamp === undefined ? undefined : metadata.finalizers,
      phase: status?.phase,
      reclaimPolicy: spec.persistentVolumeReclaimPolicy,
      claim: claimRef == null ? undefined : claimOf(claimRef),
    }),
  }
}

function claimOf({
  namespace = '',
  name = '',
  uid,
}: NonNullable<PersistentVolume['spec']['claimRef']>): NonNullable<ClusterVolume['claim']> {
  return { namespace, name, ...defined({ uid }) }
}

type Names = Pick<
  ClusterVolume,
  'plugin' | 'uniqueName' | 'driver' | 'handle' | 'attachability' | 'migratedFrom' | 'problem'
>

function namesOf(volume: PersistentVolume, context: SpecContext): Names {
  const translation = translatePersistentVolume(volume)
  if (translation !== undefined && 'error' in translation) {
    return { attachability: 'unknown', problem: `cannot be translated to CSI: ${translation.error}` }
  }
  const facts = pluginOfPersistentVolume(translation?.persistentVolume ?? volume, context)
  if ('error' in facts) {
    // S4: a readable source that is never attached holds nothing but its pod.
    const isNeverAttached = judgeSource(volume.spec).mayBe.of === 'none'
    return { attachability: isNeverAttached ? 'notAttachable' : 'unknown', problem: facts.error }
  }
  const { plugin, uniqueName, attachability, driver, handle } = facts
  return {
    plugin,
    uniqueName,
    attachability,
    ...defined({ driver, handle, migratedFrom: translation && inTreePlugin(volume) }),
  }
}

function inTreePlugin({ spec }: PersistentVolume): string | undefined {
  for (const [source, plugin] of Object.entries(IN_TREE_PLUGINS)) {
    if (spec[source as keyof typeof IN_TREE_PLUGINS] != null) return plugin
  }
  return undefined
}

export function attachmentRecord({ metadata, spec, status }: VolumeAttachment): ClusterAttachment {
  const { persistentVolumeName, inlineVolumeSpec } = spec.source
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion ?? '',
    attacher: spec.attacher,
    node: spec.nodeName,
    ...(metadata.annotations?.[CREATED_BY] !== undefined && { byVolctl: true as const }),
    ...defined({
      createdAt: metadata.creationTimestamp ?? undefined,
      deletedAt: metadata.deletionTimestamp,
      finalizers: metadata.finalizers,
      persistentVolume: persistentVolumeName || undefined,
      inline: inlineVolumeSpec == null ? undefined : inlineOf(inlineVolumeSpec),
      attached: status?.attached,
      attachError: errorOf(status?.attachError),
      detachError: errorOf(status?.detachError),
    }),
  }
}

function inlineOf({ csi }: PersistentVolume['spec']): NonNullable<ClusterAttachment['inline']> {
  return defined({ driver: csi?.driver, handle: csi?.volumeHandle })
}

/** Drivers write long messages; the beginning has the cause. */
const MESSAGE_LENGTH = 1000

function errorOf(
  error: { readonly message?: string; readonly time?: string | null } | null | undefined,
): AttachmentError | undefined {
  if (error == null) return undefined
  return { message: (error.message ?? '').slice(0, MESSAGE_LENGTH), ...defined({ time: error.time ?? undefined }) }
}
