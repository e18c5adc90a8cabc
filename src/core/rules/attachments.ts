/** S21: whether an attachment may be deleted, by what the API says. What only the machine knows is asked at apply. */

import { useCredential } from '../reconcile/context/hints.ts'
import { whyNotManaged } from '../reconcile/pods/kubelet-mode.ts'
import { isListedWhole } from '../volumes/api-lookup.ts'
import type { Judge } from './rule.ts'

export const notManaged: Judge = (_, { attachment }, { inputs }) => {
  const unmanaged = attachment && whyNotManaged(inputs.snapshot)
  return unmanaged === undefined
    ? undefined
    : {
        code: 'NotManaged',
        message: `the attach/detach controller does not manage this node: ${unmanaged}`,
        hint: 'Detach the volume with the tools of its storage system.',
      }
}

export const sharedAttachment: Judge = (_, { attachment, device }, { objects, inputs }) => {
  if (attachment === undefined || device?.identity === undefined) return undefined
  const { api } = inputs.snapshot
  const others = objects
    .persistentVolumesOf(device.identity)
    .filter((each) => each.metadata.name !== attachment.object.spec.source.persistentVolumeName)
  if (others.length > 0) {
    return {
      code: 'AttachmentUnclear',
      message: `PersistentVolume ${others.map((each) => each.metadata.name).join(', ')} shares this attachment`,
      hint: 'Remove the other PersistentVolume, or leave the detach to the attach/detach controller.',
    }
  }
  if (api?.credential === 'kubelet' || api?.mayDeleteVolumeAttachments === false) {
    return {
      code: 'Forbidden',
      message: 'this credential may not delete VolumeAttachments',
      hint: useCredential('delete volumeattachments'),
    }
  }
  if (isListedWhole(api, 'persistentvolumes')) return undefined
  return {
    code: 'AttachmentUnclear',
    message: 'not all PersistentVolumes could be read: another one may share this attachment',
    hint: useCredential('list persistentvolumes'),
  }
}
