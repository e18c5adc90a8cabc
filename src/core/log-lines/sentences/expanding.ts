/** Volumes that grow: the resizer, the expand controller, and file systems on the node. */
import { frame, news, row } from './sentence.ts'

export const EXPANDING = {
  ResizeToolMissing: row(
    'expander … executable file not found | resize … executable file not found | resize2fs: command not found | nodeexpand … executable file not found | expand … executable file not found',
    'The file system cannot grow, since a program is missing where the driver runs.',
    'The image of the driver needs resize2fs (e2fsprogs), xfs_growfs (xfsprogs) or blockdev and findmnt (util-linux): use an image that has them.',
    { codes: ['ExpandFailed'] },
  ),
  ResizeRefused: row(
    'permission denied to resize filesystem | resize2fs: permission denied | online resizing not supported | filesystem does not support online resizing | on-line resizing required | resize2fs output | xfs_growfs output | please run e2fsck -f | bad magic number … resize2fs | failed to resize filesystem | resize of device … failed | resize.resize | could not parse fs info | failed to read size of | failed to parse size of | could not find block size | could not find total size | failed to parse block size | failed to parse total size | failed readonly device check | failed to get readonly bit | couldnt resize | resizefs.resize | online resizing is not allowed',
    'The file system could not be made larger: usually it has errors, is mounted read-only, or its kind cannot grow while it is mounted.',
    'dmesg on {node} has the reason. With errors: stop the pods, unmount, e2fsck -f, mount again. The larger device is there already; no data is lost.',
    { codes: ['ExpandFailed', 'FilesystemUnfit'], unchecked: 'volctl does not check file systems', open: true },
  ),
  ExpansionForbidden: row(
    'only dynamically provisioned pvc can be resized | must support resize | allowvolumeexpansion | does not support volume expansion | does not support resizing | resize is not supported | can not find plugin for expanding volume | error finding plugin for expanding volume | not support expansion | isnt capable of expanding | neither supports controller resize nor node resize | http response code [202] … got 406 | does not support online | volume is in use … expan | cannot expand … in use | offline expansion | not support node expansion | only offline volume expansion',
    'The volume cannot grow this way: its StorageClass does not allow it, or no plugin or driver here can do it.',
    'kubectl get storageclass {class|NAME} -o yaml: allowVolumeExpansion: true. For a CSI volume the external resizer of the driver has to run.',
    { codes: ['ExpandFailed'] },
  ),
  ShrinkForbidden: row(
    'field can not be less than | cannot shrink | shrinking | requested size … is smaller | new size … is less than | can not be less than previous value | size can not be less than',
    'A volume cannot become smaller.',
    'Set the request of the claim back to at least its present size (status.capacity); for less, make a new claim and copy the data.',
  ),
  ExpansionFailed: frame(
    'controllerresizeinfeasible | noderesizeinfeasible | volumeresizefailed | filesystemresizefailed | resize volume … failed | resize … failed by | error expanding volume | error expanding pvc | nodeexpandvolume … failed | nodeexapndvolume failed | expander.nodeexpand failed | failed while expanding volume | failed to expand the volume | expandinusevolume failed | could not resize volume | controllerexpandvolume … failed | failed to mark node expansion | error updating pvc … resize | error marking pvc | error updating pv spec capacity | error updating pv … annotation | error updating pv for pvc | error updating pvc | update pvc status failed | get pvc failed | nodeexpandvolume.newmounter | nodeexpandvolume.getdevicemountpath | nodeexpandvolume.checkvolumemodefilesystem | unable to mark volume as resized | patchpvcstatus failed | error patching pv | getdevicemountpath failed for expansion | current or new size of the volume is not set | error creating two way merge patch | error marshaling old pv | error marshaling new pv | failed to create 2 way merge patch | failed to add resource version | failed to marshal old data | failed to marshal new data | expander.nodeexpand | error unmarshalling patch | error creating accessor | error marshalling json patch | could not resize',
    'A volume could not be made larger; the pod goes on with the old size. It is tried again.',
    'What follows is the reason. kubectl describe pvc (Conditions, allocatedResourceStatuses) says whether the storage or the file system on {node} is behind.',
    { codes: ['ExpandFailed'], rules: ['S23'] },
  ),
  ExpansionUnderWay: row(
    'volume expansion not completed yet | volume is being modified | is in modifying state | modification is in progress | already being resized | resizing … in progress | expansion is in progress | expansion already in progress',
    'The storage is still at work on an earlier change of the size.',
    'Wait: it is tried again. If it stays for hours: the state of the volume at the storage.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  ExpansionSizeWrong: row(
    'must be greater than zero | updating capacity of pv … to 0 failed',
    'The driver answered the growing with no size, so that the PersistentVolume keeps the old one.',
    'It is a fault of the driver: use another version. The volume at the storage may be larger already.',
  ),
  ExpansionExternal: news(
    'ignoring the pvc: didnt find a plugin capable of expanding | waiting for an external controller to process this pvc | waiting for an external controller to expand this pvc | externalexpanding',
    'The controller leaves the growing of this volume to the external resizer of its driver: so it begins for every CSI volume.',
    'Nothing, if "Resizing" follows. If it does not: the driver\'s external resizer does not run, or the driver cannot expand.',
  ),
  ExpansionWaits: news(
    'waiting for user to (re-)start a pod | filesystemresizerequired | require file system resize of volume on node | filesystemresizepending | file system resize of volume | noderesizepending',
    'The volume is larger at the storage; its file system grows when a pod next mounts it, or at once where the driver can do it online.',
    'Usually nothing. If the size does not change within minutes while a pod runs: restart that pod.',
  ),
  Expanding: news(
    'controllerresizeinprogress | noderesizeinprogress | volumeresizesuccessful | volumeresizesuccess | filesystemresizesuccess | nodeexpandvolume succeeded | resize volume succeeded | external resizer is resizing volume | resize succeeded | expansion … succeeded | resizing filesystem from | controllerexpandvolume succeeded | already expanded | expanded volume',
    'A volume grows or has grown; nothing failed.',
  ),
} as const
