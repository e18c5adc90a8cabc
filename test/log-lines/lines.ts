/**
 * Lines as a kubelet, a controller, a scheduler, a driver or the kernel writes them, by the sentence that they say: with klog's
 * text, structured, as JSON, as an event. POD is an orphaned pod, LIVING one that runs; the names are those of the nodes of
 * explain-line.test.ts.
 */
import type { SentenceName } from '../../src/core/log-lines/sentences/sentences.ts'
import { attachmentName, csiGlobalDir } from '../../src/core/names/volume-names.ts'
import { DRIVER, ROOT, uid } from '../helpers/node-builder.ts'

export const GONE = uid(9)
export const LIVING = uid(2)

const UNIQUE = `kubernetes.io/csi/${DRIVER}^pv-1`
const TARGET = `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1/mount`
const STATE_FILE = `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1/vol_data.json`
const STAGED = `${ROOT}/${csiGlobalDir(DRIVER, 'pv-1')}/globalmount`
const ATTACHMENT = attachmentName('pv-1', DRIVER, 'node-1')

const klog = (severity: string, file: string, text: string): string =>
  `${severity}1122 20:01:02.123456     812 ${file}] ${text}`
const journal = (text: string): string => `Nov 22 20:01:02 node-1 kubelet[812]: ${text}`
const go = (text: string): string => JSON.stringify(text)

/** What the kubelet writes around what an operation failed with. */
function pending(key: string, error: string, severity = 'E'): string {
  return klog(
    severity,
    'nestedpendingoperations.go:348',
    `Operation for "${key}" failed. No retries permitted until 2026-11-22 20:03:04.123456789 +0000 UTC m=+1234.567890123 (durationBeforeRetry 2m2s). Error: ${error}`,
  )
}

const unmounting = (error: string): string =>
  pending(
    `{volumeName:${UNIQUE} podName:${GONE} nodeName:}`,
    `UnmountVolume.TearDown failed for volume "data" (UniqueName: "${UNIQUE}") pod "${GONE}" (UID: "${GONE}") : kubernetes.io/csi: Unmounter.TearDownAt failed: ${error}`,
  )

const mounting = (step: string, error: string): string =>
  pending(
    `{volumeName:${UNIQUE} podName: nodeName:}`,
    `MountVolume.${step} failed for volume "pv-1" (UniqueName: "${UNIQUE}") pod "web-0" (UID: "${LIVING}") : ${error}`,
  )

const content = (error: string): string =>
  pending(
    `{volumeName:kubernetes.io/configmap/${LIVING}-config podName:${LIVING} nodeName:}`,
    `MountVolume.SetUp failed for volume "config" (UniqueName: "kubernetes.io/configmap/${LIVING}-config") pod "web-0" (UID: "${LIVING}") : ${error}`,
  )

const event = (reason: string, from: string, message: string): string =>
  `  Warning  ${reason}  2m3s (x5 over 10m)  ${from}  ${message}`

/** As "Error syncing pod, skipping" has it, structured. */
const skipping = (error: string): string =>
  klog(
    'E',
    'pod_workers.go:1324',
    `"Error syncing pod, skipping" err=${go(error)} pod="default/web-0" podUID="${LIVING}"`,
  )

const many = (error: string): string =>
  klog(
    'E',
    'kubelet_volumes.go:263',
    `"There were many similar errors. Turn up verbosity to see them." err=${go(error)} numErrs=3`,
  )

const json = (fields: object): string =>
  JSON.stringify({ ts: 1_795_377_662_123.456, caller: 'kubelet.go:2101', v: 0, ...fields })

const umount = `unmount failed: exit status 32\nUnmounting arguments: ${TARGET}\nOutput: umount: ${TARGET}: target is busy.\n`
const mountCommand = `mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults /dev/loop1 ${STAGED}\nOutput: mount: ${STAGED}: `

export const LINES = {
  OrphanedPodVolumes: [
    journal(
      klog(
        'E',
        'kubelet_volumes.go:154',
        `orphaned pod "${GONE}" found, but volume paths are still present on disk : There were a total of 1 errors similar to this. Turn up verbosity to see them.`,
      ),
    ),
    klog(
      'I',
      'kubelet_volumes.go:86',
      `"Pod found, but volumes are still mounted on disk" podUID="${GONE}" paths=["${TARGET}"]`,
    ),
    klog('I', 'kubelet_volumes.go:180', `"Orphaned pod found, but volumes are not cleaned up" podUID="${GONE}"`),
  ],
  OrphanedPodSubPaths: [
    klog(
      'E',
      'kubelet_volumes.go:154',
      `orphaned pod "${GONE}" found, but volume subpaths are still present on disk : There were a total of 8 errors similar to this. Turn up verbosity to see them.`,
    ),
    journal(
      many(
        `orphaned pod "${GONE}" found, but failed to rmdir() subpath at path ${ROOT}/pods/${GONE}/volume-subpaths/pv-1/c/0: device or resource busy`,
      ),
    ),
  ],
  OrphanedPodFile: [
    klog(
      'E',
      'kubelet_volumes.go:154',
      `orphaned pod "${GONE}" found, but error not a directory occurred when trying to remove the volumes dir : There were a total of 1 errors similar to this. Turn up verbosity to see them.`,
    ),
    journal(
      many(`orphaned pod "${GONE}" found, but error occurred when trying to remove the volumes dir: not a directory`),
    ),
    many(`orphaned pod "${GONE}" found, but error not a directory occurred when trying to remove the volumes dir`),
    klog(
      'E',
      'kubelet_volumes.go:226',
      `"Orphaned pod found, but failed to remove volumes subdir" err="volumes subdir was found after it was removed" podUID="${GONE}" path="${ROOT}/pods/${GONE}/volumes"`,
    ),
  ],
  OrphanedPodBusy: [
    klog(
      'E',
      'kubelet_volumes.go:154',
      `orphaned pod "${GONE}" found, but failed to rmdir() volume at path ${TARGET}: device or resource busy : There were a total of 1 errors similar to this.`,
    ),
    many(`orphaned pod "${GONE}" found, but failed to rmdir() volume at path ${TARGET}: device or resource busy`),
    klog(
      'E',
      'kubelet_volumes.go:236',
      `"Failed to remove orphaned pod subdir" err="unlinkat ${ROOT}/pods/${GONE}/plugins/mnt: device or resource busy" podUID="${GONE}" path="${ROOT}/pods/${GONE}/plugins"`,
    ),
  ],
  OrphanedPodDirectory: [
    many(`orphaned pod "${GONE}" found, but error directory not empty occurred when trying to remove the volumes dir`),
    many(
      `orphaned pod "${GONE}" found, but error occurred during reading volume dir from disk: open ${ROOT}/pods/${GONE}/volumes: permission denied`,
    ),
    klog(
      'E',
      'kubelet_volumes.go:128',
      `Failed to remove orphaned pod "${GONE}" dir; err: remove ${ROOT}/pods/${GONE}/volumes: directory not empty`,
    ),
    many(
      `orphaned pod "${GONE}" found, but failed to rmdir() volume at path ${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1: directory not empty`,
    ),
    klog(
      'E',
      'kubelet_volumes.go:245',
      `"Failed to remove orphaned pod dir" err="directory not empty" podUID="${GONE}"`,
    ),
  ],
  ContentNotFound: [
    journal(content('configmap "web-config" not found')),
    content('references non-existent secret key: tls.crt'),
    event('FailedMount', 'kubelet', 'MountVolume.SetUp failed for volume "config" : configmap "web-config" not found'),
    klog('E', 'configmap.go:199', `Couldn't get configMap default/web-config: configmap "web-config" not found`),
    json({
      msg: 'Error syncing pod, skipping',
      pod: { name: 'web-0', namespace: 'default' },
      podUID: LIVING,
      err: 'MountVolume.SetUp failed for volume "config" : configmap references non-existent config key: app.yaml',
    }),
  ],
  ContentNotSynced: [
    content('failed to sync configmap cache: timed out waiting for the condition'),
    klog(
      'E',
      'projected.go:292',
      `Couldn't get configMap default/kube-root-ca.crt: object "default"/"kube-root-ca.crt" not registered`,
    ),
    skipping(
      'MountVolume.SetUp failed for volume "config" : failed to sync secret cache: timed out waiting for the condition',
    ),
  ],
  TokenRefused: [
    // Both in one list of errors: the second follows from the first.
    pending(
      `{volumeName:kubernetes.io/projected/${LIVING}-kube-api-access-x7x7x podName:${LIVING} nodeName:}`,
      `MountVolume.SetUp failed for volume "kube-api-access-x7x7x" (UniqueName: "kubernetes.io/projected/${LIVING}-kube-api-access-x7x7x") pod "web-0" (UID: "${LIVING}") : [failed to fetch token: serviceaccounts "web" is forbidden: User "system:node:node-1" cannot create resource "serviceaccounts/token" in API group "" in the namespace "default": no relationship found between node 'node-1' and this object, failed to sync configmap cache: timed out waiting for the condition]`,
    ),
    journal(
      pending(
        `{volumeName:kubernetes.io/projected/${LIVING}-kube-api-access-x7x7x podName:${LIVING} nodeName:}`,
        `MountVolume.SetUp failed for volume "kube-api-access-x7x7x" (UniqueName: "kubernetes.io/projected/${LIVING}-kube-api-access-x7x7x") pod "web-0" (UID: "${LIVING}") : failed to fetch token: serviceaccounts "web" is forbidden: User "system:node:node-1" cannot create resource "serviceaccounts/token" in API group "" in the namespace "default": no relationship found between node 'node-1' and this object`,
      ),
    ),
    klog(
      'E',
      'projected.go:198',
      `"Error preparing data for projected volume" err=${go(`failed to fetch token: serviceaccounts "web" not found`)} volumeName="kube-api-access-x7x7x" pod="default/web-0"`,
    ),
  ],
  DriverNotInList: [
    journal(
      mounting(
        'MountDevice',
        `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ${DRIVER} not found in the list of registered CSI drivers`,
      ),
    ),
    event(
      'FailedMount',
      'kubelet',
      `MountVolume.SetUp failed for volume "pv-1" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name ${DRIVER} not found in the list of registered CSI drivers`,
    ),
    skipping(
      `kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: driver name ${DRIVER} not found in the list of registered CSI drivers`,
    ),
  ],
  OwnershipSlow: [
    event(
      'VolumePermissionChangeInProgress',
      'kubelet',
      `Setting volume ownership for ${LIVING}/volumes/kubernetes.io~csi/pv-1/mount is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods`,
    ),
    klog(
      'W',
      'volume_linux.go:119',
      `Setting volume ownership for ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~csi/pv-1/mount and fsGroup set. If the volume has a lot of files then setting volume ownership could be slow, see https://github.com/kubernetes/kubernetes/issues/69699`,
    ),
    `Setting volume ownership for ${LIVING}/volumes/kubernetes.io~csi/pv-1/mount, processed 65414 files.`,
  ],
  FileSystemErrors: [
    mounting(
      'MountDevice',
      `rpc error: code = Internal desc = 'fsck' found errors on device /dev/loop1 but could not correct them: fsck from util-linux 2.39.3\n/dev/loop1: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.\n\t(i.e., without -a or -p options)\n.`,
    ),
    skipping(
      `rpc error: code = Internal desc = 'fsck' found errors on device /dev/loop1 but could not correct them: fsck from util-linux 2.39.3`,
    ),
    'Nov 22 20:01:02 node-1 kernel: EXT4-fs error (device loop1): ext4_lookup:1854: inode #2: comm nginx: iget: checksum invalid',
  ],
  WrongFileSystem: [
    mounting(
      'MountDevice',
      `rpc error: code = Internal desc = ${mountCommand}wrong fs type, bad option, bad superblock on /dev/loop1, missing codepage or helper program, or other error.`,
    ),
    json({
      msg: 'Error syncing pod, skipping',
      pod: { name: 'web-0', namespace: 'default' },
      podUID: LIVING,
      err: `MountVolume.MountDevice failed for volume "pv-1" : ${mountCommand}unknown filesystem type 'xfz'.`,
    }),
  ],
  StateFileBroken: [
    journal(
      klog(
        'E',
        'reconciler_common.go:153',
        `"operationExecutor.UnmountVolume failed (controllerAttachDetachEnabled true) for volume \\"data\\" (UniqueName: \\"${UNIQUE}\\") pod \\"${GONE}\\" (UID: \\"${GONE}\\") : UnmountVolume.NewUnmounter failed for volume \\"data\\" (UniqueName: \\"${UNIQUE}\\") pod \\"${GONE}\\" (UID: \\"${GONE}\\") : kubernetes.io/csi: unmounter failed to load volume data file [${TARGET}]: kubernetes.io/csi: failed to open volume data file [${STATE_FILE}]: open ${STATE_FILE}: no such file or directory" err="UnmountVolume.NewUnmounter failed for volume \\"data\\""`,
      ),
    ),
    unmounting(`kubernetes.io/csi: failed to parse volume data file [${STATE_FILE}]: EOF`),
    klog(
      'E',
      'csi_util.go:79',
      `kubernetes.io/csi: failed to parse volume data file [${STATE_FILE}]: unexpected end of JSON input`,
    ),
  ],
  NfsTimedOut: [
    pending(
      `{volumeName:kubernetes.io/nfs/${LIVING}-share podName:${LIVING} nodeName:}`,
      `MountVolume.SetUp failed for volume "share" (UniqueName: "kubernetes.io/nfs/${LIVING}-share") pod "web-0" (UID: "${LIVING}") : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.0.0.9:/export ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~nfs/share\nOutput: mount.nfs: Connection timed out`,
    ),
    skipping(
      `MountVolume.SetUp failed for volume "share" : mount.nfs: Connection timed out for 10.0.0.9:/export on ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~nfs/share`,
    ),
  ],
  MountIsDead: [
    event(
      'Failed',
      'kubelet',
      `Error: failed to start container "c": Error response from daemon: error while creating mount source path '${ROOT}/pods/${LIVING}/volumes/kubernetes.io~csi/pv-1/mount': mkdir ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~csi/pv-1/mount: file exists`,
    ),
    unmounting(`rpc error: code = Internal desc = stat ${TARGET}: transport endpoint is not connected`),
    skipping(
      `failed to prepare subPath for volumeMount "data" of container "c": lstat ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~csi/pv-1/mount: stale NFS file handle`,
    ),
    `stat ${TARGET}: transport endpoint is not connected`,
  ],
  DriverStillAtWork: [
    '2026-11-22T20:01:02.123456789Z stderr F E1122 20:01:02.123456   48123 utils.go:109] GRPC error: rpc error: code = Aborted desc = An operation with the given Volume ID pv-1 already exists',
    `E1122 20:01:02.123456       1 driver.go:108] "GRPC error" err="rpc error: code = Aborted desc = An operation with the given volume=\\"pv-1\\" is already in progress"`,
    'I1122 20:01:02.123456       1 connection.go:251] "GRPC error" err="rpc error: code = Aborted desc = The volume pv-1 is attaching"',
    mounting(
      'MountDevice',
      'rpc error: code = Aborted desc = An operation with the given Volume ID pv-1 already exists',
    ),
    event(
      'FailedMount',
      'kubelet',
      'MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = Aborted desc = An operation with the given Volume ID pv-1 already exists',
    ),
    klog(
      'E',
      'utils.go:107',
      '"GRPC error" err="rpc error: code = Aborted desc = An operation with the given Volume ID pv-1 already exists"',
    ),
  ],
  FileSystemReadOnly: [
    mounting(
      'SetUp',
      `rpc error: code = Internal desc = mkdir ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~csi/pv-1/mount: read-only file system`,
    ),
    'Nov 22 20:01:02 node-1 kernel: EXT4-fs (loop1): Remounting filesystem read-only',
    skipping(
      `failed to create subPath directory for volumeMount "data": mkdir ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~csi/pv-1/mount/x: read-only file system`,
    ),
  ],
  NoSpaceLeft: [
    content(
      `write ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~configmap/config/..2026_11_22_20_01_02.123/app.yaml: no space left on device`,
    ),
    klog('W', 'eviction_manager.go:376', '"Eviction manager: attempting to reclaim" resourceName="inodes"'),
    skipping(`mkdir ${ROOT}/pods/${LIVING}/volumes/kubernetes.io~empty-dir/tmp: no space left on device`),
  ],
  TargetBusy: [
    journal(unmounting(`rpc error: code = Internal desc = failed to unmount target ${TARGET}: ${umount}`)),
    klog(
      'E',
      'pod_workers.go:1324',
      `"Error syncing pod, skipping" err=${go(`UnmountVolume.TearDown failed for volume "data" : remove ${TARGET}: device or resource busy`)} podUID="${GONE}"`,
    ),
  ],
  MultiAttachError: [
    event(
      'FailedAttachVolume',
      'attachdetach-controller',
      `Multi-Attach error for volume "pv-1" Volume is already exclusively attached to one node and can't be attached to another`,
    ),
    `W1122 20:01:02.123456       1 reconciler.go:360] Multi-Attach error for volume "pv-1" (UniqueName: "${UNIQUE}") from node "node-1" Volume is already exclusively attached to node node-2 and can't be attached to another`,
    `I1122 20:01:02.123456       1 reconciler.go:421] "Multi-Attach error: volume is already used by pods" logger="persistentvolume-attach-detach-controller" pods=["default/old-0"] attachedTo=["node-2"] volume=${go(UNIQUE)}`,
    event(
      'FailedAttachVolume',
      'attachdetach-controller',
      'Multi-Attach error for volume "pv-1" Volume is already used by pod(s) old-0',
    ),
  ],
  ForcedDetach: [
    `I1122 20:01:02.123456       1 reconciler.go:279] "attacherDetacher.DetachVolume started: this volume is not safe to detach, but maxWaitForUnmountDuration expired, force detaching" logger="persistentvolume-attach-detach-controller" duration="6m0s" node="node-1" volumeName="${UNIQUE}"`,
    `W1122 20:01:02.123456       1 reconciler.go:236] attacherDetacher.DetachVolume started for volume "pv-1" (UniqueName: "${UNIQUE}") on node "node-1" This volume is not safe to detach, but maxWaitForUnmountDuration 6m0s expired, force detaching`,
  ],
  DetachStuck: [
    `I1122 20:01:02.123456       1 reconciler.go:227] "Cannot detach volume because it is still mounted" logger="persistentvolume-attach-detach-controller" node="node-1" volumeName="${UNIQUE}"`,
    `DetachVolume failed for volume "pv-1" (UniqueName: "${UNIQUE}") on node "node-1" : volume is still in use by node, according to Node status`,
  ],
  TooManyVolumes: [
    event(
      'FailedScheduling',
      'default-scheduler',
      '0/3 nodes are available: 3 node(s) exceed max volume count. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
    ),
    event(
      'FailedAttachVolume',
      'attachdetach-controller',
      'AttachVolume.Attach failed for volume "pv-1" : rpc error: code = ResourceExhausted desc = max number of volumes (8) already attached to instance',
    ),
    skipping(
      'Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded',
    ),
  ],
  NodeAffinityConflict: [
    event(
      'FailedScheduling',
      'default-scheduler',
      '0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) had volume node affinity conflict.',
    ),
    event(
      'FailedScheduling',
      'default-scheduler',
      "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity. preemption: 0/3 nodes are available.",
    ),
    mounting('NodeAffinity check', 'no matching NodeSelectorTerms'),
    skipping('MountVolume.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms'),
  ],
  ClaimNotBound: [
    event(
      'FailedScheduling',
      'default-scheduler',
      '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    ),
    klog(
      'E',
      'desired_state_of_world_populator.go:312',
      `"Error processing volume" err="error processing PVC default/claim-free: PVC is not bound" pod="default/web-0" volumeName="data"`,
    ),
    skipping(
      'unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/claim-free: failed to fetch PVC from API server: persistentvolumeclaim "claim-free" not found',
    ),
  ],
  NotYetInUse: [
    pending(
      `{volumeName:${UNIQUE} podName: nodeName:}`,
      `Volume has not been added to the list of VolumesInUse in the node's volume status for volume "pv-1" (UniqueName: "${UNIQUE}") pod "web-0" (UID: "${LIVING}")`,
    ),
    klog(
      'I',
      'reconciler_common.go:237',
      `"operationExecutor.VerifyControllerAttachedVolume failed for volume \\"pv-1\\" (UniqueName: \\"${UNIQUE}\\") pod \\"web-0\\" (UID: \\"${LIVING}\\")  volume not marked in-use" pod="default/web-0"`,
    ),
    pending(
      `{volumeName:${UNIQUE} podName: nodeName:}`,
      `Volume not attached according to node status for volume "pv-1" (UniqueName: "${UNIQUE}") pod "web-0" (UID: "${LIVING}")`,
    ),
  ],
  AttachFailed: [
    event(
      'FailedAttachVolume',
      'attachdetach-controller',
      `AttachVolume.Attach failed for volume "pv-1" : timed out waiting for external-attacher of ${DRIVER} CSI driver to attach volume pv-1`,
    ),
    klog(
      'E',
      'csi_attacher.go:125',
      `"AttachVolume.Attach failed" err="it did not come about" attachment="${ATTACHMENT}"`,
    ),
  ],
  PodTerminating: [
    `I1122 20:01:02.123456     812 kubelet_pods.go:949] Pod "web-0_default(${LIVING})" is terminated, but some volumes have not been cleaned up`,
    klog(
      'E',
      'pod_workers.go:1324',
      `"Error syncing pod, skipping" err="mounted volumes=[${UNIQUE}]: timed out waiting for the condition" pod="default/web-0" podUID="${LIVING}"`,
    ),
    klog(
      'I',
      'kubelet_pods.go:1036',
      `"Pod is terminated, but some volumes have not been cleaned up" pod="default/web-0" podUID="${LIVING}"`,
    ),
    event(
      'FailedKillPod',
      'kubelet',
      'error killing pod: failed to "KillPodSandbox" for "00000000-0000-4000-8000-000000000002" with KillPodSandboxError: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"',
    ),
    skipping(
      'failed to "KillContainer" for "c" with KillContainerError: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"',
    ),
  ],
  ContainersNotExited: [
    klog(
      'I',
      'desired_state_of_world_populator.go:246',
      `"Pod still has one or more containers in the non-exited state and will not be removed from desired state" pod="default/web-0"`,
    ),
    `I1122 20:01:02.123456     812 desired_state_of_world_populator.go:240] Pod "web-0_default(${LIVING})" still has one or more containers in the non-exited state. Therefore, it will not be removed from desired state.`,
  ],
  AttachabilityChanged: [
    klog(
      'I',
      'desired_state_of_world_populator.go:230',
      `"Volume changes from attachable to non-attachable" volumeName="${UNIQUE}"`,
    ),
    klog('I', 'desired_state_of_world_populator.go:230', `Volume ${UNIQUE} changes from attachable to non-attachable.`),
  ],
  RemountRequested: [
    klog(
      'I',
      'reconciler_common.go:220',
      `"Starting operationExecutor.MountVolume for volume \\"config\\" (UniqueName: \\"kubernetes.io/configmap/${LIVING}-config\\") pod \\"web-0\\" (UID: \\"${LIVING}\\") Volume is already mounted to pod, but remount was requested." pod="default/web-0"`,
    ),
    klog(
      'I',
      'reconciler.go:254',
      `Starting operationExecutor.MountVolume for volume "config" (UniqueName: "kubernetes.io/configmap/${LIVING}-config") pod "web-0" (UID: "${LIVING}") Volume is already mounted to pod, but remount was requested.`,
    ),
  ],
  UnmountSkipped: [
    klog('W', 'mount_helper_common.go:34', `Warning: Unmount skipped because path does not exist: ${TARGET}`),
    klog('W', 'mount_helper_common.go:34', `Warning: mount cleanup skipped because path does not exist: ${TARGET}`),
    klog('I', 'iscsi_util.go:617', `"iSCSI Unmount skipped because path does not exist" targetPath="${TARGET}"`),
  ],
  NotAMountPoint: [
    klog('W', 'mount_helper_common.go:131', `Warning: "${TARGET}" is not a mountpoint, deleting`),
    klog(
      'W',
      'mount_helper_common.go:131',
      `"Warning: \\"${TARGET}\\" is not a mountpoint, deleting" podUID="${GONE}"`,
    ),
  ],
  NotInPodInformer: [
    `I1122 20:01:02.123456       1 desired_state_of_world_populator.go:151] "Removing pod from dsw because it does not exist in pod informer" logger="persistentvolume-attach-detach-controller" podName="default/old-0" podUID="${GONE}"`,
    `I1122 20:01:02.123456       1 desired_state_of_world_populator.go:151] Removing pod "default/old-0" (UID "${GONE}") from dsw because it does not exist in pod informer.`,
  ],
  VolumesNotReady: [
    journal(
      klog(
        'E',
        'kubelet.go:2101',
        `"Unable to attach or mount volumes for pod; skipping pod" err="unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded" pod="default/web-0"`,
      ),
    ),
    event(
      'FailedMount',
      'kubelet',
      'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition',
    ),
    skipping(
      'unmounted volumes=[data config], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
    ),
    json({
      msg: 'Unable to attach or mount volumes for pod; skipping pod',
      pod: { name: 'web-0', namespace: 'default' },
      err: 'unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
    }),
  ],
  NotReconstructed: [
    klog(
      'I',
      'reconstruct_common.go:138',
      `"Could not construct volume information" err="kubernetes.io/csi: failed to get volume name" podName="${GONE}" volumeSpecName="pv-1"`,
    ),
    klog(
      'W',
      'reconstruct_common.go:138',
      `Could not construct volume information: failed to reconstruct volume "pv-1" for pod "${GONE}"`,
    ),
  ],
  UnmountingFailed: [
    unmounting('the driver has it still'),
    skipping(`UnmountDevice failed for volume "pv-1" (UniqueName: "${UNIQUE}") on node "node-1" : still published`),
  ],
  MountingFailed: [
    mounting('SetUp', 'no such profile'),
    skipping(`MountVolume.SetUp failed for volume "pv-1" : no such profile`),
    event('FailedMount', 'kubelet', 'MountVolume.SetUp failed for volume "pv-1" : no such profile'),
  ],
} as const satisfies Partial<Readonly<Record<SentenceName, readonly string[]>>>
