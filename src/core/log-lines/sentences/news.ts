/** Lines that are no trouble: what was done, what is waited for, what is always there. */
import { news } from './sentence.ts'

export const NEWS = {
  WaitsForConsumer: news(
    'waiting for first consumer | waitforfirstconsumer | waitforpodscheduled | waiting for pod … to be scheduled',
    'The claim waits for a pod that uses it: its StorageClass makes the volume only when a node is chosen (WaitForFirstConsumer).',
    'Nothing: the claim is bound once a pod that refers to it is scheduled. If such a pod is Pending, its own events say why.',
  ),
  VolumeDone: news(
    'attachvolume.attach succeeded | successfulattachvolume | detachvolume.detach succeeded | mountvolume.setup succeeded | mountvolume.mountdevice succeeded | unmountvolume.teardown succeeded | unmountdevice … succeeded | mapvolume.mappoddevice succeeded | mapvolume.setupdevice succeeded | unmapvolume … succeeded | successfulmountvolume | successfuldetachvolume | verifycontrollerattachedvolume succeeded | volume detached for volume | successfully attached | successfully detached | successfully mounted | successfully unmounted | unmapdevice succeeded | mount succeeded | waitforattach succeeded | successfully bound | already attached to node, so attach is a no-op | unmounted successfully | successfully unpublished | successfully unstaged',
    'The operation succeeded.',
  ),
  VolumeBegun: news(
    'operationexecutor.mountvolume started | operationexecutor.unmountvolume started | operationexecutor.verifycontrollerattachedvolume started | operationexecutor.attachvolume started | operationexecutor.detachvolume started | operationexecutor.unmountdevice started | operationexecutor.mapvolume started | starting operationexecutor | attacherdetacher.attachvolume started | attacherdetacher.detachvolume started | entering for volume | mountvolume.waitforattach entering | unmountvolume entering | started for volume | starting attacherdetacher | starting syncing pvc | start rebuilding replica',
    'Something is begun; whether it succeeds, a later line says.',
  ),
  FsckBegun: news(
    'checking for issues with fsck | fsck error … not found | fsck … clean | clean, … files',
    'The disk is checked before it is mounted, as always; this is no finding.',
  ),
  FormatBegun: news(
    'appears to be unformatted, attempting to format | appears to be unformatted | successfully formatted | output: , err: exit status 2',
    'An empty disk is formatted for its first use.',
    'Nothing, if the volume is new. If it held data: stop the pod at once, and find out why the disk looks empty.',
  ),
  EfsWatchdog: news(
    'could not start amazon-efs-mount-watchdog',
    'The EFS helper finds no init system in its container and starts its watchdog itself: so it is in each driver pod.',
  ),
  OrphanCleaned: news(
    'cleaned up orphaned pod volumes dir | cleaned up orphaned volumes from pod | orphaned volume cleaned up | cleaned up orphaned pod | removing orphaned pod | orphaned pod … removed | cleaned up mount point for volume | cleaned up volume | orphaned volume … found, tearing down | in desired state, clean up the mount points',
    'The kubelet removed what was left of a deleted pod: nothing is wrong any more.',
  ),
  Provisioned: news(
    'provisioningsucceeded | successfully provisioned volume | succeeded in provisioning | external provisioner is provisioning volume | volume … created for claim | successfully created pv | saved pv | bound to claim | volume … entered phase bound | entered phase available | entered phase released | volume is already provisioned | createdsnapshot | snapshotcreated | snapshotready | volumesnapshot … is ready | started provisioning | successfully deleted | creatingsnapshot | waiting for a snapshot | synchronizing persistentvolume | synchronizing persistentvolumeclaim',
    'A volume or snapshot is made, bound or deleted as asked; nothing failed.',
  ),
  RegisteredWithKubelet: news(
    'successfully registered | register new plugin with name | trying to validate a new csi driver | registered csi driver | plugin registered successfully | received getinfo call | received notifyregistrationstatus call | received notifyregistrationstatus | starting registration server | registration server started | adding socket path | calling csi driver to discover driver name | kubelet registration probe created',
    'A CSI driver was registered, or asked for its name: that happens at each start of driver or kubelet.',
  ),
  CallLogged: news(
    'grpc call: | grpc response: | grpc request: | grpc error: <nil> | grpc error: nil | gprc call | gprc response | called with args | called with req | nodegetcapabilities: | nodegetvolumestats | using default attach | using default mountdevice | using default detach | using default setupat | using default expand | using default filesystem resize | using default waitforattach | using default waitfordetach | using default unmountdevice | using default teardownat | using default getvolumename | using default getdevicemountpath | using default getdevicemountrefs | flexvolume driver … using default | unmounting /var/lib/kubelet | executing mount command: | executing filesystem command: | executing iscsi command: | mount.nfs: timeout set for | trying text-based options | grpc … without params',
    'A driver or program logs each call, as it should; this line reports no error.',
  ),
  ControllerStarted: news(
    'starting attach detach controller | shutting down attach detach controller | starting persistent volume controller | caches populated | caches are synced | waiting for caches to sync | successfully acquired lease | attempting to acquire leader lease | became leader | new leader elected | starting controller | reconciler: start to sync state | starting kubelet volume manager | desired state populator starts to run | desired_state_of_world populator starts | shutting down kubelet volume manager | starting expand controller | started attachdetach | starting pvc protection | starting volume manager | finished processing | starting server | leaderelection.go | lock is held by | successfully renewed lease | metrics endpoint will not be started | cannot run systemd-run, assuming non-systemd | detected os without systemd | waiting for volume state | skipping http server | loopywriter | clientconn switching balancer | starts running | can not reconfigure: could not find a cgroup | claiming to support | attempting to open a grpc connection | connecting to unix | probing csi driver for readiness | systemd-run failed with: exit status | systemd-run output: | failed to acquire lease | nfs server initialized | nfs startup | running nfs server',
    'A program starts, stops or takes its turn as leader; nothing failed.',
  ),
  SkippedAsDone: news(
    'already unmounted | already mounted, skipping | is already mounted … skip | is not attached, skip | detach … no-op | is already detached | volume is already attached | already published | not found. proceeding without | proceeding without the | continuing without | already staged | skipping because | node not found on api server. detachvolume will skip | skip safe to detach check | getdevicemountpath failed, but unmount operation will proceed | csinode … initialization … standalone | volume was not mounted | tgtd is already running | not calling systemd-notify | getsnapshotfromstore | env var not found | skipping removal',
    'What was to be done was found done already, or has to be left out; nothing is wrong in this line.',
  ),
  VolumeStillSettling: news(
    'cannot detach volume: … not yet | detach … delayed | operation … is pending | already has an operation pending | failed to start operation … is already | has a pending operation | volume operation is still pending | operation … already exists … is executing | exponential backoff | no retries permitted on',
    'Another operation on the same volume is under way, or its pause after a failure is not over: this one is tried later.',
    'Nothing in this line. If the operation never ends: volctl explain on the volume.',
  ),
  AttacherAtWork: news(
    'started va processing | processing va | starting attach operation for | starting detach operation for | va finalizer added | nodeid annotation added | fully attached | fully detached | marked as attached | marked as detached | ignoring va',
    'The external attacher works on a VolumeAttachment, step by step.',
  ),
  DriverStarted: news(
    'listening for connections on address | starting manager | metrics backend | enabling controller service capability | enabling volume access mode | driver: … version | failed to parse pid from file',
    'A CSI driver starts and says what it can do.',
  ),
  FileSystemNews: news(
    'mounted filesystem | health check cleared: … is offline | health check cleared: … osds down | health check cleared: … osd down | health check cleared: … is degraded | ending clean mount | mounting v5 filesystem | mounting v4 filesystem | unmounting filesystem | recovery complete | starting recovery | resized filesystem | resizing filesystem | orphan cleanup | re-mounted | attached scsi disk | detected capacity change | nfs: server … ok | attached scsi | connection … is operational now | write protect is off | now operational | is operational after recovery | spinning up disk | logical blocks | mode sense | setting new capacity | added device | mounted successfully | power-on or device reset occurred | write cache: enabled | direct-access | callbacks suppressed | iscsi initiator over tcp/ip | unknown partition table | ending recovery | attempting to mount | session established | synchronizing scsi cache | stopping disk | with acls, security attributes | sgi xfs | supports timestamps until | attached scsi generic | no dialect specified on mount | loading iscsi transport class | registered transport | quota mode | libceph … up | deprecated v4 format | assigned me to become a standby | updating mds map to version',
    'The kernel says what it did with a disk or file system; nothing failed.',
  ),
  Deprecated: news(
    'is deprecated and will be removed | is deprecated, please use | is deprecated. please use | is deprecated in favor of | is deprecated; use | is deprecated in | it will be removed in a future release | has been deprecated | is deprecated and replaced',
    'A name or option was used that still works, and that a later version no longer takes.',
    'Nothing now. Change it before the next upgrade.',
  ),
  EventsCombined: {
    ...news(
      'combined from similar events',
      'Several events are shown as one; what stands behind these words says what they are about.',
    ),
    speaker: true,
  },
  PodNews: news(
    'created container | started container | stopping container | pulling image | successfully assigned | successfully pulled image | container image … already present | add/remove pod | syncloop add | syncloop update | syncloop delete | syncloop remove | syncloop reconcile | syncloop (add | syncloop (update | syncloop (delete | syncloop (remove | syncloop (reconcile | syncloop (pleg | syncloop (probe | syncloop (sync | syncloop (housekeeping | scaling replica set | successfulcreate | successfuldelete | mount: deactivated successfully | scope: deactivated successfully | mount: succeeded | scope: succeeded | service: succeeded',
    'A pod is started or stopped as usual.',
  ),
  /** Known by its level alone: sentences.ts. */
  Informational: {
    says: [],
    means: 'The program says what it does, and reports no failure.',
    next: 'Nothing.',
    harmless: true,
  },
} as const
