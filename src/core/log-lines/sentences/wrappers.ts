/** Lines around a cause: what they end with says more, and is looked for before them. */
import type { Sentence } from './sentence.ts'

export const WRAPPERS = {
  VolumesNotReady: {
    envelope: true,
    says: [
      'unmounted volumes=',
      'unable to attach or mount volumes',
      'timeout expired waiting for volumes to attach or mount',
    ],
    by: ['kubelet'],
    means: 'The pod cannot start: after 2 minutes and 3 seconds some of its volumes are still not mounted.',
    why: 'Unmounted: not mounted yet. Unattached: the controller has to attach it first. Failed to process: its claim or volume could not be read. Other lines say the cause.',
    next: "volctl explain on the pod shows which volume waits, and for whom; the pod's events (kubectl describe pod) show the last error of each.",
    volctl: 'Shows for each volume of the pod who has to act next; with the kubelet stopped, it mounts what is ready.',
    codes: ['NotMounted', 'NotAttached', 'VolumeUnresolved'],
    rules: ['R318', 'S22'],
    about: 'pod',
  },
  NotReconstructed: {
    frame: true,
    says: [
      'could not construct volume information',
      'could not construct volume information … is not mounted',
      'could not reconstruct volume',
      'failed to reconstruct volume',
      'reconstructvolume.newmounter failed',
      'reconstructvolume.newblockvolumemapper failed',
      'reconstructvolume.newdevicemounter failed',
      'plugin.constructvolumespec failed',
      'plugin.constructblockvolumespec failed',
      'error occurred during reconstruct',
      'reconstruct volume information failed',
    ],
    by: ['kubelet'],
    means:
      'After its start the kubelet found the directory of a volume that it cannot rebuild from disk. It says so at each start, mostly of volumes that it then mounts again: harmless.',
    why: 'Tokens, config maps and local volumes have nothing on disk to be known by: normal. Of a CSI volume it means a lost vol_data.json, or a plugin that is gone.',
    next: 'volctl explain on the directory says which volume it is. If its pod still wants it, the kubelet mounts it again.',
    volctl:
      'Finds volume and driver by evidence (state files, device, VolumeAttachment); cleans up with CleanOrphanVolume.',
    codes: ['NotReconstructable', 'IdentityUnconfirmed'],
    rules: ['C93', 'O32', 'S17'],
  },
  UnmountingFailed: {
    frame: true,
    says: [
      'unmountvolume … failed',
      'unmapvolume … failed',
      'unmountdevice … failed',
      'unmapdevice … failed',
      'teardownat failed',
      'unpublishvolumeforblock failed',
      'unstagevolumeforblock failed',
      'blockmapper.teardowndevice failed',
      'blockmapper.unmappoddevice failed',
      'getdevicemountpath failed',
      'unmountvolumehandler … failed',
      'error cleaning subpath mounts',
    ],
    by: ['kubelet'],
    means:
      'The kubelet could not take a volume down; it tries again, with longer and longer pauses of up to 2 minutes 2 seconds.',
    why: "What follows the last colon is the driver's or the kernel's own word for it.",
    next: "volctl explain on the volume shows what still holds it; the driver's log shows its side (NodeUnpublishVolume, NodeUnstageVolume).",
    volctl:
      'Asks the driver to unpublish and unstage, checks the mount table afterwards, and never counts an error as done.',
    codes: ['DriverFailed', 'DriverRefused', 'UnmountFailed'],
    rules: ['R441', 'S16', 'O15'],
  },
  MountingFailed: {
    frame: true,
    says: [
      'mountvolume … failed',
      'mapvolume … failed',
      'verifycontrollerattachedvolume … failed',
      'mountdevice failed',
      'setupat failed',
      'failedmount',
      'failedmapvolume',
      'failedmountvolume',
      'blockmapper.setupdevice failed',
      'blockmapper.mappoddevice failed',
      'blockmapper.publishvolumeforblock failed',
      'blockmapper.stagevolumeforblock failed',
    ],
    by: ['kubelet'],
    means:
      'The kubelet could not set a volume up for a pod; it tries again, with longer and longer pauses of up to 2 minutes 2 seconds.',
    why: "What follows the last colon is the driver's or the kernel's own word for it.",
    next: "volctl explain on the volume shows how far it came; the driver's log shows its side (NodeStageVolume, NodePublishVolume).",
    volctl:
      'Shows attachment, staged mount and pod mount, and which of them is missing; mounts only while no kubelet runs.',
    codes: ['NotMounted', 'MountFailed', 'DriverFailed'],
    rules: ['S22', 'S11'],
  },
} as const satisfies Readonly<Record<string, Sentence>>
