/** Why an operation failed: words of Kubernetes and of mount programs first, then words of the kernel, then what says little. */

/**
 * A phrase of a log line as a pattern, in any case, from word edge to word edge: `*` is the rest of a word, `…` some text, `{a|b}` one or
 * the other, and ` | ` stands between phrases that mean the same. It takes time in proportion to the line.
 */
export function phrase(words: string): RegExp {
  const alternatives = words.split(' | ').map((each) => {
    const pattern = each.replaceAll(/[.+?^$()[\]\\*…{}|]/g, (mark) => OWN[mark] ?? `\\${mark}`)
    return `${/^[\w{]/.test(each) ? '(?<!\\w)' : ''}(?:${pattern})${/[\w}]$/.test(each) ? '(?!\\w)' : ''}`
  })
  return new RegExp(alternatives.join('|'), 'gi')
}

const OWN: Readonly<Record<string, string>> = { '*': '\\S*', '…': '[^]{0,800}?', '{': '(?:', '|': '|', '}': ')' }

/** By what is said: what it means, or that and what to do. */
export type Meanings = Readonly<Record<string, string | readonly [means: string, next: string]>>

/** In their order. */
export function meaningsOf(meanings: Meanings) {
  return Object.entries(meanings).map(([words, meaning]) => {
    const [means, next] = typeof meaning === 'string' ? [meaning] : meaning
    return { words, means, next }
  })
}

/** `next` undefined: the operation's own advice stands. */
export type Cause = ReturnType<typeof causes>[number]

function causes(pattern: (words: string) => RegExp, meanings: Meanings) {
  return meaningsOf(meanings).map(({ words, ...meaning }) => ({ says: pattern(words), ...meaning }))
}

const DMESG = 'dmesg on {node} says more.'
const ATTACHER_LOG =
  "The log of the driver's external attacher; `kubectl describe volumeattachment` has the last error."

export const SPECIFIC = causes(phrase, {
  'driver name * not found in the list of registered CSI drivers | CSINode * does not contain driver | node "*" has no NodeID annotation | dial unix *{plugin|csi}*: {|connect: }{connection refused|no such file or directory}':
    [
      'The CSI driver is not registered with the kubelet of the node, or nobody listens on its socket: its pod does not run there, or its registrar failed.',
      'See its pod on {node}: `kubectl get pods -A -o wide --field-selector spec.nodeName={node}`',
    ],
  'unmounter failed to load volume data file | failed to {open|parse} volume data file | plugin.Construct* failed loading volume data':
    [
      'vol_data.json of the volume is missing or unusable: without it the kubelet does not know driver and volume, and leaves the volume for ever.',
      '`volctl plan --orphans`: volctl finds the volume by the staged mount or the API.',
    ],
  'uses the ReadWriteOncePod access mode and is already in use by another pod': [
    'Another pod of the node has the volume, which one pod at a time may use.',
    '`volctl explain` on the volume names that pod: delete one of the two.',
  ],
  'object "*"/"*" not registered | no relationship found between node * and this object': [
    'The kubelet does not follow this object for a pod of its node: the pod has ended, or the kubelet has just been started.',
    'Nothing, if it stops within a minute.',
  ],
  'failed to sync {configmap|secret} cache: timed out waiting for the condition': [
    'The kubelet has not read the object from the API server in time.',
    'Nothing, if it came once. If it repeats, the kubelet does not reach the API server, or its watch hangs: `journalctl -u {unit}`',
  ],
  '{configmap|configmaps|secret|secrets} "*" not found | references non-existent {secret|config} key': [
    'The config map or secret does not exist, or lacks a key that the pod names.',
    'Create it: in the namespace of the pod, or in the one that the PersistentVolume names. Or correct items of the volume.',
  ],
  '{persistentvolumeclaim|persistentvolumeclaims} "*" not found': [
    'The claim does not exist.',
    'Create it in the namespace of the pod, or correct the name in the pod.',
  ],
  'PVC is not bound | PVC has empty pvc.Spec.VolumeName | has non-bound phase': [
    'The claim has no PersistentVolume yet.',
    '`kubectl describe pvc` shows what its provisioner waits for.',
  ],
  '{persistentvolume|persistentvolumes} "*" not found': [
    'The PersistentVolume was deleted: without it nobody knows which volume of the storage is meant, and an attachment of it stays for ever.',
    '`volctl plan --cluster` says what can free the VolumeAttachment. See at the storage that the volume is detached.',
  ],
  '{node|nodes|csinode*} "*" not found': [
    'The API has no such Node or CSINode: the node was deleted, or has not been registered yet.',
    '`kubectl get nodes,csinodes`. A node that is there registers again when its kubelet is restarted: `systemctl restart {unit}`',
  ],
  'hostPath type check failed: * is {not a|not an|a|an} *': [
    'The path does not exist on this node, or is of another kind than the hostPath volume asks for (type).',
    '`ls -ld` of the path on {node}; create it, or correct type in the pod.',
  ],
  'attachment timeout for volume * | timed out waiting for external-attacher of * CSI driver to * volume | timeout after * [volume=…; attachment.ID=':
    [
      'The external attacher of the driver did not finish in time: it does not run, or the storage does not answer.',
      ATTACHER_LOG,
    ],
  '{volume attachment|VolumeAttachment *} {is being deleted|has deletion timestamp|has been deleted} | volumeattachment* "*" not found':
    [
      'The VolumeAttachment is being deleted or is gone: an earlier detach is not finished, or the attach was not asked for yet.',
      `Nothing for a minute. If it repeats: ${ATTACHER_LOG}`,
    ],
  'still mounted by other references | is still referenced from other pods | already mounted or * busy': [
    'The device is in use on this node: another mount of it is left, or a program has it open.',
    '`volctl explain` on the volume shows each mount of it, and who uses it.',
  ],
  'failed to bind mount devicePath': [
    'The raw block device could not be bound where the container expects it: mostly the driver left no device at the published path.',
    '`ls -l` of the published path on {node}; `volctl explain` on the volume shows its maps.',
  ],
  '{FindAttachablePluginBySpec|FindPluginBySpec|FindMapperPluginBySpec|FindPluginByName} failed | no volume plugin matched':
    [
      'Kubernetes has no plugin for the volume: it is of a kind that this version does not have, or its driver is not installed (CSI migration).',
      'Compare the source in the PersistentVolume with the drivers: `kubectl get csidrivers`',
    ],
  'path "*" does not exist | special device * does not exist': [
    'The device, or the path of the local volume, is not on this node.',
    'lsblk on {node}. A disk that should be attached: `kubectl get volumeattachments`',
  ],
  'executable file not found in $PATH | unknown filesystem type | you might need a /sbin/mount.* helper program': [
    'A program or kernel module that is needed is not installed where the call runs: in the image of the driver, or on the node.',
    'Use an image of the driver that has it, or install it on {node} (nfs-common or nfs-utils for NFS, cifs-utils for SMB).',
  ],
  "wrong fs type, bad option, bad superblock | can't read superblock on | {fsck|'fsck'} found errors on device * but could not correct them | : structure needs cleaning":
    [
      'The kernel does not take the disk: its file system is damaged or of another type than fsType, or a mount option is unknown.',
      'dmesg on {node} says which. blkid of the device shows its type; end the pods, and fsck or xfs_repair it only unmounted, after a copy.',
    ],
  'access denied by server while mounting': [
    'The NFS server does not export the path to this node.',
    'Compare the exports of the server with the address of {node}.',
  ],
  'mkdir *: file exists': [
    'Mostly a dead mount stands at the directory that should be made: it can neither be read nor replaced.',
    '`volctl explain` on the path says whose it is; `volctl plan` whether it can be taken off.',
  ],
  '{stat|lstat|open|readdirent|readlink|lgetxattr} /*: connection refused | : transport endpoint is not connected | : stale {|NFS }file handle':
    [
      'A mount is dead: the daemon (FUSE) or the directory of the server behind it has gone.',
      '`volctl explain` on the path says whose it is. It has to be taken off and mounted again: `volctl plan`',
    ],
  'is forbidden: User "*" cannot * resource': [
    'The API server does not allow that to whoever asked.',
    'The line names user, verb and resource: its ClusterRole or its binding is missing.',
  ],
})

/** Words of the kernel and of resolvers: they count at the end of a clause, where whoever failed puts them. */
function endOfClause(words: string): RegExp {
  return new RegExp(String.raw`: (?:${words})(?=[.\s]*(?:$|[\n"'\x60,;)\]}]| \())`, 'gi')
}

export const ERRNO = causes(endOfClause, {
  '(?:device or )?resource busy|(?:target|device) is busy': [
    'Something on this node still uses it: a process, another mount, or another mount namespace.',
    '`volctl explain` on the volume or path names who holds it. Once that has ended, it is tried again.',
  ],
  'no such file or directory|not a directory|is a directory|file exists': [
    'At the path that stands before these words is nothing, or something else than what is needed there.',
    '`volctl explain` on the path says what stands there, and who uses it.',
  ],
  'directory not empty': [
    'The directory has content, and only an empty one is removed.',
    '`volctl explain` on the path says what is in it. Do not remove it with rm -rf: what is mounted below would be deleted.',
  ],
  'permission denied|operation not permitted': [
    'Access is denied: by file modes, by SELinux, or by the server of a share (which may squash root).',
    'A share: what the server allows this node, the secret, and no fsGroup. A local path: `ls -ldZ` of each directory above it.',
  ],
  'read-only file system': ['The file system is read-only: mounted so, or set so by the kernel after errors.', DMESG],
  'input/output error': ['The disk or server below has errors, or is gone while it is still mounted.', DMESG],
  'no space left on device': [
    'The file system is full, of space or of inodes.',
    'df -h and df -i of the path on {node}.',
  ],
  'invalid argument': [
    'The kernel refuses an argument: mostly a mount option, or a path that is no mount point.',
    DMESG,
  ],
  '(?:protocol|operation) not supported|requested NFS version or transport protocol is not supported|an incorrect mount option was specified':
    [
      'The server, the file system or the kernel does not offer what the mount options ask for.',
      'Compare mountOptions of the PersistentVolume with what the server offers.',
    ],
  'no such device(?: or address)?': [
    'The device is not there, or the kernel has no module for it.',
    'lsblk and lsmod on {node}.',
  ],
  'connection refused': [
    'The machine answers, and nothing listens on that port.',
    'Start the server, or correct address and port.',
  ],
  'connection timed out|no route to host|host is down|network is unreachable|i\\/o timeout': [
    'The server does not answer: it is down, or something drops the packets.',
    'Try it from {node}: ping and nc -vz with address and port; then firewall and routes.',
  ],
  'name or service not known|temporary failure in name resolution|no such host': [
    'The name of the server could not be resolved.',
    "getent hosts NAME on {node}: mounts use the node's resolver, not the cluster's.",
  ],
})

export const VAGUE = causes(phrase, {
  'exit status *': [
    'A program failed, and the line has only its exit status.',
    "Look for its output at the same second: in the kubelet's log (`journalctl -u {unit}`) and in that of the driver.",
  ],
  'context deadline exceeded | timed out waiting for the condition':
    'It did not happen in time; what was waited for, the line does not say.',
})

/** What codes of gRPC mean in an answer of a CSI driver. */
export const ANSWERS: Readonly<Record<string, string>> = {
  Aborted: 'another call for the volume is still at work in the driver, or hangs there',
  AlreadyExists: 'the volume is there already, with other parameters',
  Canceled: 'the call was given up by who made it',
  DeadlineExceeded: 'the driver did not answer in time, and may still be at work',
  FailedPrecondition: 'volume or node are not in the state that the call needs',
  Internal: 'the driver failed',
  InvalidArgument: 'the driver refuses a parameter of the volume, or a mount option',
  NotFound: 'the storage does not have the volume or node that is meant',
  PermissionDenied: 'the storage does not allow the driver to do this',
  ResourceExhausted: 'a limit is reached: of space, or of volumes on the node',
  Unavailable: 'the driver, or the storage behind it, could not be reached',
  Unimplemented: 'the driver does not offer this function',
  Unknown: 'the driver failed',
}
