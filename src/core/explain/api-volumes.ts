/** Volumes by the API: what pods want, or wanted when they ran, PersistentVolumes, attachments. */
import { csiSourceOf } from '../desired/csi-translation/csi-source.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { volumesInStatus } from '../desired/node-status.ts'
import type { VolumeAttachment } from '../model/objects.ts'
import { attachmentName, csiUniqueName, parseCsiUniqueName } from '../names/volume-names.ts'
import { desiredStateOfPods } from '../populator/populate.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { identifyAttachment } from '../reconcile/identity/attachment-identity.ts'
import { type NodeVolume, podDirOf } from './node-volume.ts'
import type { VolumeRegister } from './volume-register.ts'

/** What pods want comes first: by their directories the rest is assigned to volumes. */
export function notePodsVolumes({ inputs, classes, desired }: PlanContext, register: VolumeRegister): void {
  const { api } = inputs.snapshot
  const others = classes.all.flatMap((pod) => (pod.class === 'Finished' ? (pod.pod ?? []) : []))
  const ended = api === undefined ? [] : desiredStateOfPods(others, api).volumes
  for (const volume of desired.volumes) noteVolume(volume, register).wanted.push(volume)
  for (const volume of ended) noteVolume(volume, register).ended.push(volume)
  for (const unresolved of desired.unresolved) {
    const { persistentVolumeName: name, mayBe } = unresolved
    const found = mayBe.of === 'itself' ? register.named(mayBe.volume.uniqueName) : register.alone()
    found.unresolved.push(unresolved)
    if (name !== undefined && !register.byPersistentVolume.has(name)) register.byPersistentVolume.set(name, found)
  }
}

function noteVolume(volume: VolumeToMount, register: VolumeRegister): NodeVolume {
  const found = register.named(volume.uniqueName)
  const { driver, handle, persistentVolume } = volume
  if (driver !== undefined && handle !== undefined) {
    const from = persistentVolume === undefined ? 'the pod' : `PersistentVolume ${persistentVolume.metadata.name}`
    found.identity ??= { driver, handle, from }
  }
  if (persistentVolume !== undefined) register.noteObject(persistentVolume, found)
  register.byDirectory.set(podDirOf(volume), found)
  return found
}

/** Last: most PersistentVolumes and attachments are of volumes that are known by then. */
export function noteObjects(context: PlanContext, register: VolumeRegister): void {
  const { api, nodeName } = context.inputs.snapshot
  for (const object of api?.persistentVolumes ?? []) {
    const name = object.metadata.name
    if (register.byPersistentVolume.get(name)?.persistentVolume !== undefined) continue
    const csi = csiSourceOf(object)
    const found =
      csi === undefined
        ? (register.byPersistentVolume.get(name) ?? register.alone())
        : register.named(csiUniqueName(csi.driver, csi.volumeHandle))
    if (csi !== undefined)
      found.identity ??= { driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${name}` }
    register.noteObject(object, found)
  }
  for (const attachment of api?.volumeAttachments ?? []) {
    if (attachment.spec.nodeName !== nodeName) {
      noteElsewhere(attachment, register)
      continue
    }
    const identity = identifyAttachment(context, attachment)
    const { persistentVolumeName = '' } = attachment.spec.source
    const found =
      identity === undefined
        ? (register.byPersistentVolume.get(persistentVolumeName) ?? register.alone())
        : register.named(csiUniqueName(identity.driver, identity.handle))
    found.identity ??= identity
    found.attachment ??= attachment
    register.byAttachment.set(attachment.metadata.name, found)
  }
  // Also those that nothing else has.
  for (const name of volumesInStatus(api?.node)) {
    const csi = parseCsiUniqueName(name)
    const found = register.named(name)
    if (csi !== undefined) found.identity ??= { ...csi, from: "the node's status" }
  }
}

/** Another node's attachment of a volume that pods here want or have is asked about for that volume's sake (S30). */
function noteElsewhere(
  { metadata, spec: { attacher, nodeName, source } }: VolumeAttachment,
  register: VolumeRegister,
): void {
  const found = register.byPersistentVolume.get(source.persistentVolumeName ?? '')
  if (found?.identity === undefined) return
  const { wanted, onDisk, staged, maps } = found
  if (wanted.length + onDisk.length + staged.length + maps.length === 0) return
  // Only the hash in its name says which volume it is of (R007).
  if (attachmentName(found.identity.handle, attacher, nodeName) === metadata.name)
    register.byAttachment.set(metadata.name, found)
}
