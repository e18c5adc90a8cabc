/**
 * Real lines of volume code, each with what a good answer says (fixtures/log-lines/examples.tsv), and the words by which the answer is
 * known here. A line that volctl does not know is no fault; a wrong answer is.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseLine } from '../../src/core/explain/log-lines/log-line.ts'
import { saidBy } from '../../src/core/explain/log-lines/sentences.ts'
import { namesIn } from '../../src/core/explain/log-lines/take-names.ts'
import { uid } from '../helpers/node-builder.ts'

/** Cause and what the driver answered, then the sentence. */
function answer(line: string): string {
  const said = saidBy(parseLine(line))
  if (said === undefined) return 'not known'
  const { harmless, cause = '', answered = '', means, by } = said
  return `${harmless ? 'harmless ' : ''}${[cause, answered].filter((each) => each !== '').join(' / ')} <- ${means} (${by})`
}

const EXAMPLES = readFileSync(new URL('../fixtures/log-lines/examples.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((row) => row.split('\t'))

const NOT_KNOWN = /^not known$/

/** In the order of the file. */
const ANSWERS: readonly RegExp[] = [
  /^harmless .*checked before it is mounted/,
  /only its exit status.* <- .*staged/,
  /file system is damaged or of another type than fsType, or a mount option/,
  /Aborted: another call .* is still at work/,
  /external attacher of the driver did not finish.* <- .*attached/,
  /still uses it.* <- .*take the volume of a pod down/,
  /still uses it.* <- .*take the volume of a pod down/,
  /config map or secret does not exist/,
  /vol_data\.json of the volume is missing.* <- .*take the volume of a pod down/,
  /Aborted: another call .* hangs there <- .*staged/,
  /driver is not registered with the kubelet/,
  /on one node at a time, and another node still has it/,
  /lists it as in use/,
  NOT_KNOWN,
  /raw block device could not be bound/,
  /pod has ended, or the kubelet has just been started/,
  /not installed where the call runs.* <- .*could not be grown/,
  /Internal: the driver failed <- .*could not be grown/,
  /nothing listens on that port.* <- .*mount the volume/,
  /still uses it.* <- .*cannot remove its directory/,
  /still being torn down.*cgroup/,
  /a file is left below volumes.*vol_data\.json/,
  /still being torn down.*stays in the API/,
  /PersistentVolume was deleted.* <- .*detach/,
  /controller has not attached the volume/,
  /path does not exist on this node/,
  /^harmless .*has succeeded/,
  NOT_KNOWN,
  /mount is dead: the daemon \(FUSE\)/,
  /could not find out from the disk/,
  /not read the object from the API server/,
  /dead mount stands at the directory/,
  /no plugin for the volume/,
  /^ <- The runtime could not mount the image of an image volume/,
  /^ <- The driver refuses what the VolumeAttributesClass asks for; .* stays as it was.*external resizer/,
  /^not known$/,
  /^not known$/,
  /^Another pod of the node has the volume/,
  /^ <- The pod has a user namespace of its own.*NFS cannot/,
]

it.each(EXAMPLES.map(([line = '', good = ''], index) => ({ line, good, want: ANSWERS[index] })))(
  'real lines: $good',
  ({ line, want }) => expect(answer(line)).toMatch(want ?? /no answer/),
)

const klog = (text: string, level = 'E', file = 'kubelet.go:1'): string =>
  `${level}1128 12:00:01.000000     812 ${file}] ${text}`
const POD = uid(9)

it.each([
  {
    line: klog(
      '"Event occurred" object="shop/web-0" kind="Pod" type="Warning" reason="FailedMount" message="Unable to attach or mount volumes: unmounted volumes=[d], unattached volumes=[], failed to process volumes=[d]: error processing PVC shop/pvc-n4: failed to fetch PVC from API server: persistentvolumeclaims \\"pvc-n4\\" not found"',
      'I',
      'event.go:389',
    ),
    want: /^The claim does not exist\. <- .*\(the kubelet\)$/,
  },
  {
    line: klog(
      'Failed to initialize CSINode: error updating CSINode annotation: timed out waiting for the condition; caused by: nodes "n" not found',
    ),
    want: /^The API has no such Node/,
  },
  {
    line: klog(
      '"MountVolume.SetUp failed for volume \\"x\\": permission denied" err="mkdir /a/b: no space left on device" pod="shop/web-0"',
    ),
    want: /^The file system is full/,
  },
  {
    line: klog('unmounted volumes=[d]: error processing PVC shop/d: something new'),
    want: /^ <- A volume of the pod could not be resolved/,
  },
  {
    line: klog(
      'MountVolume.SetUp failed for volume "x" : failed to sync configmap cache: timed out waiting for the condition: configmap "a" not found',
    ),
    want: /^The config map or secret does not exist/,
  },
  {
    line: klog('MountVolume.SetUp failed for volume "x" : permission denied; caused by: something new'),
    want: /^ <- The kubelet could not mount/,
  },
  ...['/x is not a directory', '/x is a file, not a directory', '/x is not a directory, but a file'].map((kind) => ({
    line: klog(`MountVolume.SetUp failed for volume "x" : hostPath type check failed: ${kind}`),
    want: /^The path does not exist on this node, or is of another kind/,
  })),
  {
    line: klog('"Orphaned running pod terminating without grace period" podUID="x"', 'I'),
    want: /is about to kill it/,
  },
  {
    line: klog(
      `"There were many similar errors. Turn up verbosity to see them." err="orphaned pod \\"${POD}\\" found, but failed to rmdir() subpath at path /x: device or resource busy" numErrs=1`,
    ),
    want: /sub-path mounts are left/,
  },
  {
    line: klog(`orphaned pod "${POD}" found, but volume paths are still present on disk`),
    want: /volumes of it are left/,
  },
  {
    line: klog(
      'UnmountDevice failed for volume "x" : rpc error: code = Internal desc = unmount failed: exit status 32\\nUnmounting arguments: /x\\nOutput: umount: /x: target is busy.\\n',
    ),
    want: /^Something on this node still uses it.* \/ Internal: .* <- .*unstaged/,
  },
  {
    line: '  Warning  FailedMount  5s  kubelet  MountVolume.MountDevice failed for volume "x" : rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/plugins/x/csi.sock: connect: connection refused"',
    want: /^The CSI driver is not registered .* nobody listens on its socket/,
  },
  {
    line: '{"ts":1763841662123.4,"caller":"csi_mounter.go:1","msg":"kubernetes.io/csi: mounter.SetUpAt failed","err":"rpc error: code = DeadlineExceeded desc = context deadline exceeded"}',
    want: /^DeadlineExceeded: .* <- .*mount the volume/,
  },
])('frames and causes: $line', ({ line, want }) => expect(answer(line)).toMatch(want))

describe('what volctl does not know', () => {
  it.each([
    klog('"SyncLoop DELETE" source="api" pods=["shop/web-0"]', 'I'),
    klog(
      '"Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"c\\" with CrashLoopBackOff" pod="shop/web-0"',
    ),
    klog(
      '"RunPodSandbox from runtime service failed" err="rpc error: code = Unavailable desc = connection error: desc = \\"transport: Error while dialing: dial unix /var/run/crio/crio.sock: connect: no such file or directory\\""',
    ),
    klog('"Failed to list *v1.CSIDriver" err="dial tcp 10.0.0.1:6443: connect: connection refused"'),
    klog(
      'ID: 26 failed to map rbd image: rpc error: code = Internal desc = device or resource busy',
      'E',
      'nodeserver.go:164',
    ),
    'Nov 28 12:00:01 n kernel: EXT4-fs error (device sdb): ext4_find_entry: reading directory lblock 0',
    'time="2026-11-22T20:01:02Z" level=error msg="failed to attach: timeout" error="context deadline exceeded"',
    'Failed to attach volume: device or resource busy',
    // A sentence of the list with trouble beside it, or in the middle of another.
    klog('"MountVolume.SetUp succeeded for volume \\"x\\"" err="x"', 'I'),
    klog('MountVolume.SetUp succeeded for volume "x"'),
    klog('it is not true that MountVolume.SetUp succeeded for volume "x"', 'I'),
  ])('%s', (line) => expect(answer(line)).toBe('not known'))

  it('node: timed out names no node', () =>
    expect(namesIn(parseLine(klog('"x" err="node: timed out"; on node timed out')))).toEqual([]))
})
