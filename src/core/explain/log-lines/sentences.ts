/**
 * What the volume code of kubelets and controllers says. Each is known by words of Kubernetes' own source, if they are few with the
 * file that logs them; by no word that other programs use as well. A sentence is an operation that failed, whose cause follows in the
 * line (causes.ts), or with `whole` the answer itself.
 */

import type { Hint } from '../../messages/command.ts'
import { ANSWERS, type Cause, ERRNO, type Meanings, meaningsOf, phrase, SPECIFIC, VAGUE } from './causes.ts'
import type { LogLine } from './log-line.ts'

/** A known sentence. */
export interface SentenceView {
  /** Who says it. */
  readonly by: string
  readonly means: string
  /** Why that is so; absent: the sentence says it all, or the line names no cause that volctl knows. */
  readonly cause?: string
  /** Of a CSI driver that was called: the code of gRPC, and what that means. */
  readonly answered?: string
  /** What to do. */
  readonly next: Hint
  /** Nothing is wrong in this line. */
  readonly harmless: boolean
  /** What the answer is about where the line names several things; absent: the volume. */
  readonly about?: 'pod' | 'driver'
}

interface Sentence extends Pick<SentenceView, 'by' | 'means' | 'about'> {
  /** In "file.go:1] text of the line"; of several the one that begins last is meant, and the first here of those that begin together. */
  readonly says: RegExp
  /** What to do, commands in marks; `{unit}` is the unit that runs the kubelet here, `{node}` the node. */
  readonly next: string
  /** What comes behind it in the line is no cause of it. */
  readonly whole?: true
  /** It says who failed, or with what, and not at what: any other comes before it. */
  readonly envelope?: true
}

/** @param common for each of them; `next` where one has no advice of its own */
function said({ next: usual = '', ...common }: Omit<Sentence, 'says' | 'means' | 'next'> & { readonly next?: string }) {
  return (meanings: Meanings): readonly Sentence[] =>
    meaningsOf(meanings).map(({ words, means, next = usual }) => ({ ...common, says: phrase(words), means, next }))
}

const KUBELET = 'the kubelet'
const CONTROLLER = 'the attach/detach controller'
const NOT_BY_HAND = 'Do not remove the directory with rm -rf: what is mounted in it would be deleted.'
const REASON_BEHIND =
  "The end of the line is the reason. A driver's pod on {node} logs its calls: `kubectl get pods -A -o wide --field-selector spec.nodeName={node}`"

const SENTENCES: readonly Sentence[] = [
  ...said({ by: KUBELET, about: 'pod', whole: true })({
    'orphaned running pod terminating without grace period | pod is orphaned and must be torn down': [
      'The kubelet finds a container of a pod that the API does not list any more, and is about to kill it, without the time to stop that the pod would get.',
      'If the pod was deleted on purpose, that is right. Else the API lost it (etcd restored from a backup, another cluster in the kubeconfig): stop the kubelet before it kills more: `systemctl stop {unit}`',
    ],
    'orphaned pod …found, but volumes not yet removed | pod is terminated, but some volumes have not been cleaned up': [
      'The pod has ended, and its volumes are still being torn down. Until that is done its cgroup stays, and a pod that is being deleted stays in the API.',
      'Nothing for a minute. If it repeats longer, `volctl explain` on the pod shows which volume does not come down.',
    ],
    'orphaned pod …found, but {volume subpaths are still present|failed to rmdir() subpath|failed to remove subpath}': [
      "The pod was deleted, and sub-path mounts are left in its directory. The kubelet takes them off with their volume: once the volume's directory is gone, it never comes to them.",
      '`volctl plan --orphans` shows what would be unmounted and removed.',
    ],
    'orphaned pod …found, but …{not a directory|directory not empty} | orphaned pod …found, but failed to remove volumes subdir | volumes subdir was found after it was removed':
      [
        'The pod was deleted, and a file is left below volumes in its directory: a state file (vol_data.json), or what somebody wrote below a mount point. The kubelet removes empty directories alone.',
        "`volctl plan --orphans` shows what would be removed. A file that is not the kubelet's own stays: see whose it is first.",
      ],
    'orphaned pod …found, but {volume paths are still present|volumes are not cleaned up} | pod found, but volumes are {not cleaned up|still mounted on disk}':
      [
        'The pod was deleted, and volumes of it are left on this node, mounted or as directories. The kubelet does not know them any more: it was restarted and could not reconstruct them, or their driver was away.',
        `volctl plan --orphans shows what would be unmounted and removed. ${NOT_BY_HAND}`,
      ],
    'pod still has one or more containers in the non-exited state and will not be removed from desired state': [
      'The pod is being deleted, and a container of it still runs: its volumes stay until it has ended.',
      '`volctl explain` on the pod names what still runs. A container that cannot be stopped often waits for a dead server or disk.',
    ],
    'failed to set MOUNT_ATTR_IDMAP': [
      'The pod has a user namespace of its own, and the runtime could not map the ids of a mount for it: the file system of the volume cannot, as NFS cannot.',
      'Take another kind of volume, or hostUsers: true in the pod.',
    ],
  }),
  ...said({ by: KUBELET, whole: true })({
    'could not construct volume information | cleaning up mounts for volume that could not be reconstructed | failed to reconstruct volume for plugin':
      [
        'After its start the kubelet could not find out from the disk which volume a directory belongs to: its state file is lost, or nothing is mounted there. It tries to take the mount off once, and forgets the volume.',
        '`volctl explain` on the volume shows what is left of it, and what takes that off.',
      ],
    'volume not attached according to node status': [
      'The controller has not attached the volume to this node, as node.status.volumesAttached says. A few seconds of this are normal.',
      'If it repeats: `kubectl get volumeattachments`, and the logs of kube-controller-manager and of the external attacher.',
    ],
    'volume has not been added to the list of VolumesInUse': [
      'The kubelet waits until node.status lists the volume as in use; only then may it be attached and mounted. That takes seconds.',
      'If it repeats, the kubelet cannot update the status of its node: `journalctl -u {unit}`',
    ],
    'setting volume ownership for …{is taking|and fsGroup set}': [
      'The kubelet changes owner and group of every file in the volume (fsGroup); with many files that takes long.',
      'fsGroupChangePolicy: OnRootMismatch in the pod leaves it out where the root of the volume is right already.',
    ],
  }),
  ...said({ by: CONTROLLER, whole: true })({
    'multi-attach error': [
      'The volume may be on one node at a time, and another node still has it: its pod there has not ended, that node is down, or the volume is still mounted there.',
      '`kubectl get volumeattachments` shows the other node; `volctl plan` there shows what keeps the volume. A node that is down for good: taint it node.kubernetes.io/out-of-service.',
    ],
    'cannot {detach|trigger detach for} volume because it is still mounted | volume is still in use by node, according to node status':
      [
        "The controller does not detach the volume: the node's kubelet lists it as in use (node.status.volumesInUse).",
        'On that node `volctl explain` on the volume shows what keeps it. If its kubelet is down, nobody shortens that list.',
      ],
    'DetachVolume started: {node has out-of-service taint|this volume is not safe to detach, but …expired}, force detaching | volume not safe to detach…force detaching':
      [
        'The controller detaches the volume from a node that has not reported it unmounted. If that node still lives, the volume may still be mounted there, and lose what is written.',
        'Before that node gets pods again: `volctl plan` there, and its kernel log (dmesg).',
      ],
  }),
  // Operations that failed.
  ...said({ by: KUBELET, about: 'pod', next: '`volctl explain` on the pod shows which volume is missing, and why.' })({
    'orphaned pod …found, but {error|failed} | failed to remove orphaned pod | pod found, but error occurred during checking mounted volumes':
      [
        'The pod was deleted, and the kubelet cannot remove its directory: something in it is mounted, not empty, or cannot be read.',
        `volctl plan --orphans shows what is left, and what of it can go. ${NOT_BY_HAND}`,
      ],
    'unable to attach or mount volumes | unmounted volumes=[':
      'The pod cannot start: the kubelet has waited in vain for the volumes that the line lists as unmounted.',
    'desired_state_of_world_populator.go:*] {|"}{error processing volume|failed to add volume} | error processing PVC */*: | failed to add volume{| for pod} to desiredStateOfWorld':
      'A volume of the pod could not be resolved: its claim, its PersistentVolume or its plugin.',
    'failed to mount image volume': [
      'The runtime could not mount the image of an image volume; its reason is behind the last colon.',
      'Correct the image that the volume names, or use a runtime that can mount it; the kubelet tries again.',
    ],
    'failed to {prepare subPath|create subPath directory} for volumeMount':
      'A container cannot start: the kubelet could not mount a sub-path of its volume (subPath).',
  }),
  ...said({ by: "the driver's external resizer", whole: true })({
    VolumeModifyFailed: [
      'The driver refuses what the VolumeAttributesClass asks for; the volume itself stays as it was. What the driver said is behind "desc =".',
      'Correct the parameters of the VolumeAttributesClass, or give the claim its former one.',
    ],
  }),
  ...said({ by: KUBELET, next: REASON_BEHIND })({
    '{MountVolume|MapVolume}.* failed while expanding volume | NodeEx{pand|apnd}Volume*{| get PVC} failed | NodeExpand failed | resize of device * failed':
      'The volume is larger now, and the file system in it could not be grown on the node.',
    '{MountVolume|MapVolume|attacher}.WaitForAttach failed | VerifyControllerAttachedVolume*{| fetching pvc} failed': [
      'The kubelet waits for the volume to be attached to this node, in vain.',
      '`kubectl describe volumeattachments` has the last error of each. Then the log of the external attacher.',
    ],
    '{MountVolume.|}MountDevice failed': 'The volume could not be staged: mounted once for this node, below plugins.',
    'MountVolume*{| initialization| check} failed | mounter.SetUpAt failed':
      'The kubelet could not mount the volume for the pod; it tries again.',
    '{Map|Unmap}{Volume|Device}*{| initialization| check} failed | blockMapper.* failed':
      'The kubelet could not give a pod the volume as a raw block device, or could not take that down; it tries again.',
    "couldn't get {configMap|secret}{| payload} */*: | error preparing data for projected volume":
      'The kubelet could not read what a config map, secret or projected volume is made of.',
  }),
  ...said({ by: KUBELET, next: '`volctl explain` on the volume names what still uses it, and what takes it down.' })({
    'UnmountVolume* failed | unmounter.TearDownAt failed | error cleaning subPath mounts | failed to clean subpath "':
      'The kubelet could not take the volume of a pod down; it tries again, with pauses of up to 2 minutes 2 seconds.',
    'UnmountDevice* failed | GetDeviceMountRefs check failed':
      'No pod of this node wants the volume any more, and it could not be unstaged.',
  }),
  ...said({
    by: `${CONTROLLER} or the driver's external attacher`,
    next: '`kubectl describe volumeattachments` has the last error of each; then the logs of the external attacher and of the driver beside it.',
  })({
    'AttachVolume* failed | attacher.Attach failed | kubernetes.io/csi: attachment for * failed | error processing {|"}csi-*: failed to attach':
      'The volume could not be attached to the node; it is tried again.',
    'DetachVolume* failed | detacher.* failed | detachment for VolumeAttachment for volume | error processing {|"}csi-*: failed to detach':
      [
        'The volume could not be detached from the node; it is tried again.',
        'On the node, `volctl explain` on the volume shows what still has it. If nothing does: the log of the external attacher.',
      ],
  }),
  ...said({ by: KUBELET, about: 'driver' })({
    'RegisterPlugin error -- | OperationExecutor.{Register|Unregister}Plugin failed | registrationHandler.* failed | error {updating|uninstalling} {CSINode|CSI driver} | failed to initialize CSINode | when waiting for CSINode publishing | failed to get NodeGetInfo from driver':
      [
        'A driver could not be registered with the kubelet of the node, or taken from its list (CSINode).',
        'See the pod of the driver on {node}: its node-driver-registrar registers it, and the driver has to answer NodeGetInfo.',
      ],
  }),
  ...said({ by: 'the kubelet, a controller or a CSI driver', envelope: true, next: REASON_BEHIND })({
    'GRPC error{:|} {err=|}{"|}rpc error: code =': [
      'A call of a CSI driver failed; who called it tries again.',
      "The lines before it in the driver's log say more.",
    ],
    'mount failed: {exit status|signal} | mounting command: *{ |\n}mounting arguments: | unmount failed: {exit status|signal} …unmounting arguments:':
      'mount(8) or umount(8) failed.',
    'operation for "…" failed. No retries permitted until':
      'An operation on a volume failed, and is tried again after a pause of up to 2 minutes 2 seconds.',
  }),
]

/** Sentences after which nothing has to be done: each whole, at the beginning of what is said. No other line is called harmless. */
const HARMLESS = Object.entries({
  '{MountVolume.{SetUp|MountDevice|WaitForAttach|NodeExpandVolume}|MapVolume.{MapPodDevice|WaitForAttach}|UnmountVolume.TearDown|UnmountDevice|UnmapVolume|UnmapDevice|AttachVolume.Attach|DetachVolume.Detach|Controller attach} succeeded':
    'The operation on the volume has succeeded.',
  '{|Starting }{operationExecutor|attacherDetacher}.{Mount|Unmount|Attach|Detach|VerifyControllerAttached|ExpandInUse}{Volume|Device}{| started}{"| for volume| for device}':
    'An operation on the volume begins.',
  'Checking for issues with fsck on disk: *':
    'The disk is checked before it is mounted, as always. What fsck found is in the next lines, if anything.',
  'All volumes are {attached and mounted|unmounted} for pod': 'The volumes of the pod are done.',
}).map(([says, means]) => ({
  says: new RegExp(`^"?(?:${phrase(says).source})${says.endsWith('*') ? '$' : '(?:["\\s]|$|(?<=:))'}`, 'i'),
  means,
}))

// What a line says: the sentence that it is known by, and of an operation that failed the cause, which stands further in.

/** @returns undefined: volctl does not know the sentence */
export function saidBy(line: LogLine): SentenceView | undefined {
  const { source, reason, said: words } = line
  const text = source === undefined && reason === undefined ? words : `${source ?? reason}] ${words}`
  const found = sentenceIn(text)
  if (found === undefined) return harmlessSaid(line)
  const { says: _, envelope: __, whole, ...said } = found.sentence
  if (whole === true) return { ...said, harmless: false }
  const behind = lastPiece(text.slice(found.from))
  const [, code = ''] = RPC.exec(behind) ?? []
  const answer = Object.hasOwn(ANSWERS, code) ? `${code}: ${ANSWERS[code]}` : undefined
  // A code says as much as that it took too long, or that a program failed.
  const cause = causeIn(behind, answer === undefined ? [SPECIFIC, ERRNO, VAGUE] : [SPECIFIC, ERRNO])
  return {
    ...said,
    next: cause?.next ?? said.next,
    cause: cause?.means,
    answered: answer,
    harmless: false,
  }
}

/** At a level of trouble, or with an error beside it, no sentence is harmless. */
function harmlessSaid({ said, severity = 'info', error }: LogLine): SentenceView | undefined {
  if (severity !== 'info' || error !== undefined) return undefined
  const found = HARMLESS.find(({ says }) => says.test(said))
  return found && { by: 'Kubernetes', means: found.means, next: 'Nothing.', harmless: true }
}

/** The one that begins last, as it stands in the others; what only says who failed, if nothing else is said. */
function sentenceIn(text: string) {
  const found = SENTENCES.flatMap((sentence) => {
    const from = text.search(sentence.says)
    return from === -1 ? [] : [{ sentence, from }]
  })
  const telling = found.filter(({ sentence }) => !sentence.envelope)
  return (telling.length > 0 ? telling : found).toSorted((a, b) => b.from - a.from)[0]
}

/** What a line names as the reason comes before what it says in front. */
function lastPiece(text: string): string {
  const start = Math.max(...['caused by: ', ' err='].map((mark) => text.lastIndexOf(mark)))
  return start === -1 ? text : text.slice(start)
}

const RPC = /\brpc error: code = (\w+)/

/** Of the first kind that is there the one that ends last: the innermost. */
function causeIn(text: string, kinds: readonly (readonly Cause[])[]): Cause | undefined {
  for (const kind of kinds) {
    const found = kind.flatMap((cause) => {
      const last = [...text.matchAll(cause.says)].at(-1)
      return last === undefined ? [] : [{ cause, end: last.index + last[0].length }]
    })
    const [innermost] = found.toSorted((a, b) => b.end - a.end)
    if (innermost !== undefined) return innermost.cause
  }
  return undefined
}
