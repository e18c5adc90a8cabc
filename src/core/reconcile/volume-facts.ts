/** What a person is shown about a CSI volume before saying yes (S31), and what else the API says of it. */

import { csiSourceOf } from '../desired/csi-translation/csi-source.ts'
import type { PersistentVolume, VolumeAttachment } from '../model/objects.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { attachmentName } from '../names.ts'
import type { VolumeMode, VolumeRef } from '../plan/plan.ts'
import type { PlanContext } from './context.ts'
import type { CsiIdentity } from './csi-identity.ts'

export function describeCsiVolume(
  context: PlanContext,
  about: {
    readonly name: string
    readonly mode: VolumeMode
    readonly identity: CsiIdentity | undefined
    readonly uniqueName: string | undefined
    readonly device?: MountInfo | undefined
    readonly podVolumeName?: string | undefined
  },
): VolumeRef {
  const { name, mode, identity, uniqueName, device, podVolumeName } = about
  const status = context.inputs.snapshot.api?.node?.status
  const volume = identity === undefined ? undefined : persistentVolumesOf(context, identity)[0]
  const claim = volume?.spec.claimRef
  const elsewhere = identity === undefined ? [] : attachedElsewhere(context, identity)
  return {
    name,
    ...(podVolumeName === undefined ? {} : { podVolumeName }),
    ...(uniqueName === undefined ? {} : { uniqueName }),
    plugin: 'kubernetes.io/csi',
    ...(identity === undefined ? {} : { driver: identity.driver, handle: identity.handle }),
    mode,
    ...(identity === undefined ? {} : { handleFrom: identity.from }),
    ...(claim?.name === undefined ? {} : { claim: `${claim.namespace ?? 'default'}/${claim.name}` }),
    ...(volume === undefined ? {} : { persistentVolume: volume.metadata.name }),
    ...(volume?.spec.accessModes === undefined ? {} : { accessModes: volume.spec.accessModes }),
    ...(elsewhere.length === 0 ? {} : { attachedElsewhere: elsewhere }),
    ...(uniqueName === undefined || status === undefined
      ? {}
      : {
          attached: (status.volumesAttached ?? []).some((each) => each.name === uniqueName),
          inUse: (status.volumesInUse ?? []).includes(uniqueName),
        }),
    ...(device === undefined ? {} : { device: `${device.dev} ${device.source}` }),
  }
}

/** Every PersistentVolume with this driver and handle: two of them are one volume (R818). */
export function persistentVolumesOf(
  { inputs }: PlanContext,
  { driver, handle }: { readonly driver: string; readonly handle: string },
): PersistentVolume[] {
  return (inputs.snapshot.api?.persistentVolumes ?? []).filter((volume) => {
    const csi = csiSourceOf(volume)
    return csi?.driver === driver && csi.volumeHandle === handle
  })
}

/** Nodes other than this one that have the volume attached (S30); empty where nothing is known. */
export function attachedElsewhere(
  context: PlanContext,
  { driver, handle }: { driver: string; handle: string },
): string[] {
  const { api, nodeName } = context.inputs.snapshot
  return (api?.volumeAttachments ?? [])
    .filter((attachment) => attachment.spec.nodeName !== nodeName && attachment.spec.attacher === driver)
    .filter((attachment) => attachment.metadata.name === attachmentName(handle, driver, attachment.spec.nodeName))
    .filter((attachment) => attachment.status?.attached === true)
    .map((attachment) => attachment.spec.nodeName)
    .toSorted()
}

/** This node's attachment of a volume (R007). */
export function attachmentOf(
  { inputs }: PlanContext,
  { driver, handle }: { readonly driver: string; readonly handle: string },
): VolumeAttachment | undefined {
  const name = attachmentName(handle, driver, inputs.snapshot.nodeName)
  return inputs.snapshot.api?.volumeAttachments.find((each) => each.metadata.name === name)
}

/** May several nodes write or read the volume at once (R740); unknown modes: no. */
export function allowsSeveralNodes(volume: PersistentVolume | undefined): boolean {
  return volume?.spec.accessModes?.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany') ?? false
}

/** Are the attachments of other nodes known: the list was read whole, not object by object (S30). */
export function knowsOtherNodes({ inputs }: PlanContext): boolean {
  const { api } = inputs.snapshot
  if (api === undefined || api.credential === 'kubelet') return false
  return !api.errors.some((error) => error.resource === 'volumeattachments' && error.name === undefined)
}
