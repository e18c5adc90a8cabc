/**
 * What the volume code of kubelets and controllers says. Each is known by words of Kubernetes' own source, if they are few with the
 * file that logs them; by no word that other programs use as well. A sentence is an operation that failed, whose cause follows in the
 * line (causes.ts), or with `whole` the answer itself.
 */

export interface Sentence {
  /** In "file.go:1] text of the line"; of several the one that begins last is meant, and the first here of those that begin together. */
  readonly says: RegExp
  /** Who says it. */
  readonly by: string
  readonly means: string
  /** What to do; `{unit}` is the unit that runs the kubelet here, `{node}` the node. */
  readonly next: string
  /** What comes behind it in the line is no cause of it. */
  readonly whole?: true
  /** It says who failed, or with what, and not at what: any other comes before it. */
  readonly envelope?: true
  /** What the answer is about where the line names several things; absent: the volume. */
  readonly about?: 'pod' | 'driver'
}

const KUBELET = { by: 'the kubelet' }
const CONTROLLER = { by: 'the attach/detach controller' }
const ATTACHER = { by: "the driver's external attacher" }
const POD = { ...KUBELET, about: 'pod', whole: true } as const

const DRIVER_LOG =
  "The driver's pod on {node} logs the call: kubectl get pods -A -o wide --field-selector spec.nodeName={node}"
const ON_VOLUME = 'volctl explain on the volume shows how far it came.'
const NOT_BY_HAND = 'Do not remove the directory with rm -rf: what is mounted in it would be deleted.'

/** The kubelet's clean-up of pods' directories. */
const PODS: readonly Sentence[] = [
  {
    ...POD,
    says: /orphaned running pod terminating without grace period|pod is orphaned and must be torn down/i,
    means:
      'The kubelet finds a container of a pod that the API does not list any more, and is about to kill it, without the time to stop that the pod would get.',
    next: 'If the pod was deleted on purpose, that is right. Else the API lost it (etcd restored from a backup, another cluster in the kubeconfig): stop the kubelet before it kills more: systemctl stop {unit}',
  },
  {
    ...POD,
    says: /orphaned pod .{0,60}found, but volumes not yet removed|pod is terminated, but some volumes have not been cleaned up/is,
    means:
      'The pod has ended, and its volumes are still being torn down. Until that is done its cgroup stays, and a pod that is being deleted stays in the API.',
    next: 'Nothing for a minute. If it repeats longer, volctl explain on the pod shows which volume does not come down.',
  },
  {
    ...POD,
    says: /orphaned pod .{0,60}found, but (?:volume subpaths are still present|failed to (?:rmdir\(\)|remove) subpath)/is,
    means:
      "The pod was deleted, and sub-path mounts are left in its directory. The kubelet takes them off with their volume: once the volume's directory is gone, it never comes to them.",
    next: 'volctl plan --orphans shows what would be unmounted and removed.',
  },
  {
    ...POD,
    says: /orphaned pod .{0,60}found, but (?:.{1,200}(?:not a directory|directory not empty)|failed to remove volumes subdir)|volumes subdir was found after it was removed/is,
    means:
      'The pod was deleted, and a file is left below volumes in its directory: a state file (vol_data.json), or what somebody wrote below a mount point. The kubelet removes empty directories alone.',
    next: "volctl plan --orphans shows what would be removed. A file that is not the kubelet's own stays: see whose it is first.",
  },
  {
    ...POD,
    says: /(?:orphaned pod .{0,60}found, but|failed to remove orphaned pod).{1,600}(?:device or resource busy)/is,
    means: 'The pod was deleted, and a directory of it is a mount point still, or is one in another mount namespace.',
    next: `volctl explain on the path names what is mounted there, and who holds it. ${NOT_BY_HAND}`,
  },
  {
    ...POD,
    says: /orphaned pod .{0,60}found, but (?:volume paths are still present|volumes are not cleaned up)|(?:orphaned pod|pod) found, but volumes are (?:not cleaned up|still mounted on disk)/is,
    means:
      'The pod was deleted, and volumes of it are left on this node, mounted or as directories. The kubelet does not know them any more: it was restarted and could not reconstruct them, or their driver was away.',
    next: `volctl plan --orphans shows what would be unmounted and removed. ${NOT_BY_HAND}`,
  },
  {
    ...KUBELET,
    about: 'pod',
    says: /orphaned pod .{0,60}found, but (?:error|failed)|failed to remove orphaned pod|pod found, but error occurred during checking mounted volumes/is,
    means:
      'The pod was deleted, and the kubelet cannot remove its directory: something in it is mounted, not empty, or cannot be read.',
    next: `volctl plan --orphans shows what is left, and what of it can go. ${NOT_BY_HAND}`,
  },
  {
    ...POD,
    says: /pod still has one or more containers in the non-exited state and will not be removed from desired state/i,
    means: 'The pod is being deleted, and a container of it still runs: its volumes stay until it has ended.',
    next: 'volctl explain on the pod names what still runs. A container that cannot be stopped often waits for a dead server or disk.',
  },
]

/** Other sentences that are the answer. */
const NEWS_OF_TROUBLE: readonly Sentence[] = [
  {
    ...KUBELET,
    says: /could not construct volume information|cleaning up mounts for volume that could not be reconstructed|failed to reconstruct volume for plugin/i,
    means:
      'After its start the kubelet could not find out from the disk which volume a directory belongs to: its state file is lost, or nothing is mounted there. It tries to take the mount off once, and forgets the volume.',
    next: 'volctl explain on the volume shows what is left of it, and what takes that off.',
    whole: true,
  },
  {
    ...CONTROLLER,
    says: /multi-attach error\b/i,
    means:
      'The volume may be on one node at a time, and another node still has it: its pod there has not ended, that node is down, or the volume is still mounted there.',
    next: 'kubectl get volumeattachments shows the other node; volctl plan there shows what keeps the volume. A node that is down for good: taint it node.kubernetes.io/out-of-service.',
    whole: true,
  },
  {
    ...CONTROLLER,
    says: /cannot (?:detach|trigger detach for) volume because it is still mounted|volume is still in use by node, according to node status/i,
    means:
      "The controller does not detach the volume: the node's kubelet lists it as in use (node.status.volumesInUse).",
    next: 'On that node volctl explain on the volume shows what keeps it. If its kubelet is down, nobody shortens that list.',
    whole: true,
  },
  {
    ...CONTROLLER,
    says: /detachvolume started: (?:node has out-of-service taint|this volume is not safe to detach, but .{1,40} expired), force detaching|volume not safe to detach.{1,80}force detaching/i,
    means:
      'The controller detaches the volume from a node that has not reported it unmounted. If that node still lives, the volume may still be mounted there, and lose what is written.',
    next: 'Before that node gets pods again: volctl plan there, and its kernel log (dmesg).',
    whole: true,
  },
  {
    ...CONTROLLER,
    says: /failed to delete node .{1,260} from list of nodes managed by attach\/detach controller/i,
    means:
      'The node was deleted from the API, and pods that are still bound to it want volumes there: the controller keeps it in its list until they are gone.',
    next: 'kubectl get pods -A -o wide --field-selector spec.nodeName=NODE shows them. Delete them if the node is gone for good.',
    whole: true,
  },
  {
    ...ATTACHER,
    says: /can't get csinode \S+ csinode\S* "\S+" not found/i,
    means: 'The node was deleted from the API, and a VolumeAttachment for it is still there.',
    next: 'kubectl get volumeattachments shows it; volctl plan --cluster says whether it can go.',
    whole: true,
  },
  {
    ...KUBELET,
    says: /volume not attached according to node status/i,
    means:
      'The controller has not attached the volume to this node, as node.status.volumesAttached says. A few seconds of this are normal.',
    next: 'If it repeats: kubectl get volumeattachments, and the logs of kube-controller-manager and of the external attacher.',
    whole: true,
  },
  {
    ...KUBELET,
    says: /volume has not been added to the list of volumesinuse/i,
    means:
      'The kubelet waits until node.status lists the volume as in use; only then may it be attached and mounted. That takes seconds.',
    next: 'If it repeats, the kubelet cannot update the status of its node: journalctl -u {unit}',
    whole: true,
  },
  {
    ...KUBELET,
    says: /determined volume .{1,400} is no longer attached to node/is,
    means:
      'The storage or the VolumeAttachment says that the volume is not attached any more, though the controller counts it as attached.',
    next: 'On the node, volctl explain on the volume shows whether it is mounted still.',
    whole: true,
  },
  {
    ...KUBELET,
    says: /getmountrefs found corrupted mount at|potential stale file handle detected/i,
    means: 'A mount is dead: the server or daemon behind it has gone.',
    next: 'volctl plan names the mount, whose it is, and whether it can be taken off.',
    whole: true,
  },
  {
    ...KUBELET,
    says: /setting volume ownership for .{1,400} (?:is|and) (?:taking|fsgroup set)/is,
    means:
      'The kubelet changes owner and group of every file in the volume (fsGroup); with many files that takes long.',
    next: 'fsGroupChangePolicy: OnRootMismatch in the pod leaves it out where the root of the volume is right already.',
    whole: true,
  },
]

/** Operations that failed. */
const OPERATIONS: readonly Sentence[] = [
  {
    ...KUBELET,
    says: /\b(?:Mount|Map)Volume\.\w+ failed while expanding volume|\bNodeEx(?:pand|apnd)[Vv]olume(?:\.\w+)?(?: get PVC)? failed|\bNodeExpand failed|\bresize of device \S+ failed/,
    means: 'The volume is larger now, and the file system in it could not be grown on the node.',
    next: DRIVER_LOG,
  },
  {
    ...KUBELET,
    says: /\b(?:Mount|Map)Volume\.WaitForAttach failed|\battacher\.WaitForAttach failed/,
    means: 'The kubelet waits for the volume to be attached to this node, in vain.',
    next: 'kubectl get volumeattachments, and describe the one of the volume: it has the last error. Then the log of the external attacher.',
  },
  {
    ...KUBELET,
    says: /\b(?:Mount|Map)Volume\.NodeAffinity check failed/,
    means:
      'The PersistentVolume may not be used on this node (its nodeAffinity): it is a disk of another zone, or a local volume of another node.',
    next: 'Compare nodeAffinity of the PersistentVolume with kubectl get node {node} --show-labels.',
    whole: true,
  },
  {
    ...KUBELET,
    says: /\bapplyFSGroup failed for vol\b/,
    means: 'The kubelet could not give the files of the volume to the group of the pod (fsGroup).',
    next: 'A server that squashes root does not allow that: leave fsGroup out, or allow it there.',
  },
  {
    ...KUBELET,
    says: /\bMountVolume\.MountDevice failed|\bMountDevice failed\b/,
    means: 'The volume could not be staged: mounted once for this node, below plugins.',
    next: DRIVER_LOG,
  },
  {
    ...KUBELET,
    says: /\bMountVolume(?:\.\w+)?(?: initialization| check)? failed|\bmounter\.Set[Uu]pAt failed/,
    means: 'The kubelet could not mount the volume for the pod; it tries again.',
    next: `The end of the line is the reason. ${ON_VOLUME}`,
  },
  {
    ...KUBELET,
    says: /\bMapVolume(?:\.\w+)?(?: initialization| check)? failed|\bblockMapper\.(?!un|TearDown|Unmap)\w+ failed/,
    means: 'The kubelet could not give the pod the volume as a raw block device; it tries again.',
    next: `The end of the line is the reason. ${ON_VOLUME}`,
  },
  {
    ...KUBELET,
    says: /\bUnmountVolume(?:\.\w+)? failed|\bUnmounter\.TearDownAt failed|\berror cleaning subPath mounts|\bFailed to clean subpath "/,
    means:
      'The kubelet could not take the volume of a pod down; it tries again, with pauses of up to 2 minutes 2 seconds.',
    next: 'volctl explain on the volume names what still uses it, and what takes it down.',
  },
  {
    ...KUBELET,
    says: /\bUnmountDevice(?:\.\w+)? failed|\bGetDeviceMountRefs check failed/,
    means: 'No pod of this node wants the volume any more, and it could not be unstaged.',
    next: 'volctl explain on the volume names what still uses it, and what takes it down.',
  },
  {
    ...KUBELET,
    says: /\bUnmap(?:Volume|Device)(?:\.\w+)?(?: check)? failed|\bblockMapper\.(?:un|TearDown|Unmap)\w* failed/,
    means: 'The kubelet could not take the raw block device of a volume down; it tries again.',
    next: 'volctl explain on the volume names what still uses it, and what takes it down.',
  },
  {
    ...CONTROLLER,
    says: /\b[Aa]ttachVolume(?:\.\w+)? failed|\battacher\.Attach failed|\bkubernetes\.io\/csi: attachment for \S+ failed/,
    means: 'The volume could not be attached to the node; it is tried again.',
    next: 'kubectl describe volumeattachments has the last error of each; then the logs of the external attacher and of the driver beside it.',
  },
  {
    ...CONTROLLER,
    says: /\b[Dd]etachVolume(?:\.\w+)? failed|\bdetacher\.\w+ failed|\bdetachment for VolumeAttachment for volume/,
    means: 'The volume could not be detached from the node; it is tried again.',
    next: 'On the node, volctl explain on the volume shows what still has it. If nothing does: the log of the external attacher.',
  },
  {
    ...KUBELET,
    says: /\bVerifyControllerAttachedVolume(?:\.\w+)?(?: fetching pvc)? failed/,
    means: 'The kubelet could not find out whether the volume is attached to this node.',
    next: 'The end of the line is the reason. kubectl get volumeattachments shows what is attached.',
  },
  {
    ...ATTACHER,
    says: /\bError processing "?csi-[\da-f]{64}"?: failed to detach\b/,
    means: 'The external attacher could not carry out the detach that a VolumeAttachment asks for; it tries again.',
    next: 'kubectl describe volumeattachment has the last error.',
  },
  {
    ...ATTACHER,
    says: /\bError processing "?csi-[\da-f]{64}"?: failed to attach\b/,
    means: 'The external attacher could not carry out the attach that a VolumeAttachment asks for; it tries again.',
    next: 'kubectl describe volumeattachment has the last error.',
  },
  {
    ...KUBELET,
    says: /\bUnable to attach or mount volumes\b|\bunmounted volumes=\[/,
    means: 'The pod cannot start: the kubelet has waited in vain for the volumes that the line lists as unmounted.',
    next: 'volctl explain on the pod shows which volume waits, and for what.',
    about: 'pod',
  },
  {
    ...KUBELET,
    says: /^desired_state_of_world_populator\.go:\d+\] "?(?:Error processing volume|Failed to add volume)|\berror processing PVC \S+\/\S+:|\bFailed to add volume(?: for pod)? to desiredStateOfWorld/,
    means: 'A volume of the pod could not be resolved: its claim, its PersistentVolume or its plugin.',
    next: 'volctl explain on the pod shows the chain from claim to mount.',
    about: 'pod',
  },
  {
    ...KUBELET,
    says: /\bCouldn't get (?:configMap|secret)(?: payload)? \S+\/\S+: |\bError preparing data for projected volume /,
    means: 'The kubelet could not read what a config map, secret or projected volume is made of.',
    next: 'kubectl get the object that the line names, in the namespace of the pod.',
  },
  {
    ...KUBELET,
    says: /^atomic_writer\.go:\d+\] .{0,600}\b(?:unable to|error)\b/s,
    means: 'The kubelet could not write the files of a config map, secret, token or downward API volume.',
    next: `The end of the line is the reason. ${ON_VOLUME}`,
  },
  {
    ...KUBELET,
    says: /\bfailed to (?:prepare subPath|create subPath directory) for volumeMount\b/i,
    means: 'A container cannot start: the kubelet could not mount a sub-path of its volume (subPath).',
    next: 'Compare subPath of the container with what is in the volume.',
    about: 'pod',
  },
  {
    ...KUBELET,
    says: /\bRegisterPlugin error -- |\bOperationExecutor\.(?:Unr|R)egisterPlugin failed|\bregistrationHandler\.\w+ failed|\berror (?:updating|uninstalling) (?:CSINode|CSI driver)|\b[Ff]ailed to initialize CSINode|\bwhen waiting for CSINode publishing|\bfailed to get NodeGetInfo from driver/,
    means: 'A driver could not be registered with the kubelet of the node, or taken from its list (CSINode).',
    next: 'See the pod of the driver on {node}: its node-driver-registrar registers it, and the driver has to answer NodeGetInfo.',
    about: 'driver',
  },
  {
    by: 'a CSI driver or a sidecar of it',
    says: /\bGRPC error:? (?:err=)?"?rpc error: code = /,
    means: 'A call of a CSI driver failed; who called it tries again.',
    next: "The lines before it in the driver's log say more.",
    envelope: true,
  },
  {
    by: 'the kubelet or a CSI driver',
    says: /\bmount failed: (?:exit status|signal)|\bMounting command: \S+\s+Mounting arguments: /i,
    means: 'mount(8) failed.',
    next: 'What the program printed stands behind "Output:".',
    envelope: true,
  },
  {
    by: 'the kubelet or a CSI driver',
    says: /\bunmount failed: (?:exit status|signal).{1,80}\sUnmounting arguments: /is,
    means: 'umount(8) failed.',
    next: 'What the program printed stands behind "Output:".',
    envelope: true,
  },
  {
    by: 'the kubelet or a controller',
    says: /\bOperation for ".{1,800}" failed\. No retries permitted until /s,
    means: 'An operation on a volume failed, and is tried again after a pause of up to 2 minutes 2 seconds.',
    next: `What follows "Error:" is the reason. ${ON_VOLUME}`,
    envelope: true,
  },
]

export const SENTENCES: readonly Sentence[] = [...PODS, ...NEWS_OF_TROUBLE, ...OPERATIONS]

/** Sentences after which nothing has to be done: each whole, at the beginning of what is said. No other line is called harmless. */
export const HARMLESS: readonly (readonly [says: RegExp, means: string])[] = [
  [
    /^"?(?:MountVolume\.(?:SetUp|MountDevice|WaitForAttach|NodeExpandVolume)|MapVolume\.(?:MapPodDevice|WaitForAttach)|UnmountVolume\.TearDown|UnmountDevice|UnmapVolume|UnmapDevice|AttachVolume\.Attach|DetachVolume\.Detach|Controller attach) succeeded\b/,
    'The operation on the volume has succeeded.',
  ],
  [
    /^"?(?:Starting )?(?:operationExecutor|attacherDetacher)\.(?:Mount|Unmount|Attach|Detach|VerifyControllerAttached|ExpandInUse)(?:Volume|Device)(?: started)?(?:"\s| for (?:volume|device) )/,
    'An operation on the volume begins.',
  ],
  [/^"?Volume detached for volume /, 'The volume has been detached, and the kubelet has taken it from its list.'],
  [/^"?Verified volume is safe to detach\b/, 'Nothing on the node uses the volume any more: it is detached next.'],
  [
    /^"?(?:Cleaned up orphaned (?:pod volumes dir|volume from pod|volume subpath from pod)|Orphaned pod found, removing)"?(?:\s|$)/,
    'The kubelet has removed what was left of a deleted pod.',
  ],
  [
    /^"?Checking for issues with fsck on disk: \S+$/,
    'The disk is checked before it is mounted, as always. What fsck found is in the next lines, if anything.',
  ],
  [/^"?Disk successfully formatted \(mkfs\): /, 'A new disk was formatted.'],
  [/^"?All volumes are (?:attached and mounted|unmounted) for pod"?(?:\s|$)/, 'The volumes of the pod are done.'],
  [
    /^"?(?:Volume reconstruction finished|Orphan volume cleanup finished|Reconciler: start to sync state|Desired state populator starts to run|Finished populating initial desired state of world|Starting Kubelet Volume Manager|The desired_state_of_world populator starts)"?(?:\s|$)/,
    'The kubelet was started, and its volume manager begins.',
  ],
  [
    /^"?kubernetes\.io\/csi: (?:attacher\.(?:Unm|M)ountDevice|blockMapper\.\w+) STAGE_UNSTAGE_VOLUME capability not set\. Skipping /,
    'The driver does not stage its volumes, so that step is left out.',
  ],
  [
    /^"?Removing pod from dsw because it does not exist in pod informer"?\s/,
    'The pod is gone, and the controller forgets its volumes.',
  ],
  [/^"?kubernetes\.io\/csi: Register new plugin with name: /, 'A CSI driver was registered with the kubelet.'],
]
