/** Lines of a kubelet and a controller about a node with real mounts, as a log through a pipe, and one of them by itself. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { LineExplanation } from '../../../src/core/log-lines/line-explanation.ts'
import type { LogExplanation } from '../../../src/core/log-lines/log-explanation.ts'
import { csiUniqueName } from '../../../src/core/names/volume-names.ts'
import {
  clusterObjects,
  DRIVER,
  handleOf,
  NAMESPACE,
  pod,
  pvOf,
  type ScenePod,
} from '../../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../../helpers/scene/pods.ts'
import { type Scene, setAlive } from '../../helpers/scene/scene.ts'
import { setUpPod } from '../../helpers/scene/set-up-pod.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { withScene, writeReport } from './scenario.ts'

export interface LinesReport {
  readonly pods: Readonly<Record<'web' | 'db' | 'batch', string>>
  readonly driver: string
  readonly log: LogExplanation
  readonly busy: LineExplanation
  /** Of the process that holds the volume. */
  readonly pid: number
  readonly screen: string
  /** What is said of each paste: status, and the sentences by which it is known. */
  readonly pastes: readonly Pasted[]
  readonly harmless: readonly Pasted[]
}

export interface Pasted {
  readonly status: number | null
  readonly known: readonly string[]
}

const klog = (severity: string, message: string): string =>
  `Nov 22 20:01:02 worker-1 kubelet[812]: ${severity}1122 20:01:02.123456     812 file.go:1] ${message}`
const many = (error: string): string =>
  klog('E', `"There were many similar errors. Turn up verbosity to see them." err=${JSON.stringify(error)} numErrs=1`)

function linesOf({ pods, rootDir }: Scene): { readonly all: string[]; readonly busy: string } {
  const { web, db, batch } = pods
  const common = csiUniqueName(DRIVER, 'vol-common')
  const idle = csiUniqueName(DRIVER, handleOf(IDLE))
  const forgotten = csiUniqueName(DRIVER, handleOf(FORGOTTEN))
  const target = `${rootDir}/pods/${db.uid}/volumes/kubernetes.io~csi/pv-common/mount`
  const busy = klog(
    'E',
    `Operation for "{volumeName:${common} podName:${db.uid} nodeName:}" failed. No retries permitted until 2026-11-22 20:03:04 +0000 UTC (durationBeforeRetry 2m2s). Error: UnmountVolume.TearDown failed for volume "data" (UniqueName: "${common}") pod "${db.uid}" (UID: "${db.uid}") : kubernetes.io/csi: Unmounter.TearDownAt failed: rpc error: code = Internal desc = unmount failed: exit status 32\\nUnmounting arguments: ${target}\\nOutput: umount: ${target}: target is busy.`,
  )
  const all = [
    many(`orphaned pod "${db.uid}" found, but volume paths are still present on disk`),
    many(
      `orphaned pod "${batch.uid}" found, but failed to rmdir() subpath at path ${rootDir}/pods/${batch.uid}/volume-subpaths/pv-batch/main/0: device or resource busy`,
    ),
    busy,
    `E1122 20:01:02.123456       1 a.go:1] DetachVolume.Detach failed for volume "${pvOf(IDLE)}" (UniqueName: "${idle}") on node "worker-1" : volume is still in use by node, according to Node status`,
    klog(
      'E',
      `UnmountDevice failed for volume "${pvOf(FORGOTTEN)}" (UniqueName: "${forgotten}") on node "worker-1" : rpc error: code = Internal desc = x`,
    ),
    klog(
      'I',
      `"Pod still has one or more containers in the non-exited state and will not be removed from desired state" pod="${NAMESPACE}/${ENDS.name}"`,
    ),
    klog(
      'I',
      `Starting operationExecutor.MountVolume for volume "password" (UniqueName: "kubernetes.io/secret/${web.uid}-password") pod "${web.name}" (UID: "${web.uid}") Volume is already mounted to pod, but remount was requested.`,
    ),
    klog(
      'E',
      `"Unable to attach or mount volumes for pod; skipping pod" err="unmounted volumes=[late], unattached volumes=[], failed to process volumes=[late]: context deadline exceeded" pod="${NAMESPACE}/${WAITS.name}"`,
    ),
    `I1122 20:01:02.123456       1 a.go:1] "Multi-Attach error: volume is already exclusively attached and can't be attached to another node" attachedTo=["worker-2"] volume="${common}"`,
    `I1122 20:01:02.123456       1 a.go:1] "Removing pod from dsw because it does not exist in pod informer" podName="${NAMESPACE}/${db.name}" podUID="${db.uid}"`,
    klog(
      'E',
      `MountVolume.MountDevice failed for volume "pv-common" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ${DRIVER} not found in the list of registered CSI drivers`,
    ),
    // A driver knows its volume by its own name alone.
    `E1122 20:01:02.123456   48123 utils.go:109] GRPC error: rpc error: code = Aborted desc = An operation with the given Volume ID ${handleOf(FORGOTTEN)} already exists`,
    many(
      'orphaned pod "99999999-2222-4333-8444-000000000001" found, but error occurred when trying to remove the volumes dir: not a directory',
    ),
  ]
  return { all, busy }
}

async function logThroughPipe(scene: Scene, lines: readonly string[]): Promise<LogExplanation> {
  const child = spawn(VOLCTL, ['explain', '--log', '-', '-o', 'json'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...scene.env },
  })
  child.stdin.end(`${lines.join('\n')}\n`)
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(stdout) as LogExplanation
}

/** Several rows each, as people copy them from a terminal, a journal, a describe or a table of events. */
function pastesOf({ pods, rootDir }: Scene): string[] {
  const { web, db } = pods
  const target = `${rootDir}/pods/${db.uid}/volumes/kubernetes.io~csi/pv-common/mount`
  const journal = (text: string): string => `Nov 22 20:01:02 worker-1 kubelet[812]: ${text}`
  const failed = `MountVolume.SetUp failed for volume "password" pod "${web.name}" (UID: "${web.uid}")`
  return [
    `${klog('E', `UnmountVolume.TearDown failed for volume "data" pod "${db.uid}" : unmount failed: exit status 32`)}\nUnmounting arguments: ${target}\nOutput: umount: ${target}: target is busy.`,
    [
      `${failed} : mount failed: exit status 32`,
      'Mounting command: mount',
      'Output: mount.nfs: Connection refused',
    ].join('\n'),
    [
      klog('E', `${failed} : mount failed: exit status 1`),
      journal('Mounting command: mount'),
      journal('Output: mount: wrong fs type, bad option, bad superblock on /dev/sdb'),
    ].join('\n'),
    [
      'Name: waits-0',
      `Namespace: ${NAMESPACE}`,
      'Containers:',
      'Events:',
      '  Warning  FailedMount  3s (x9 over 2m)  kubelet  MountVolume.SetUp failed for volume "late" : configmap "late" not found',
    ].join('\n'),
    `2m  Warning  FailedAttachVolume  pod/${web.name}  AttachVolume.Attach failed for volume "${pvOf(IDLE)}" : rpc error: code = ResourceExhausted desc = no slot is left\n1m  Normal  Pulled  pod/${web.name}  Container image "x" already present on machine`,
    `E1122 20:01:02.1 1 a.go:1] error syncing claim "x": failed to provision volume with StorageClass "fast": rpc error: code = Internal desc =\nstorage pool is away`,
    `[  12.3] EXT4-fs error (device sdb): ext4_find_entry:1455: inode #2: comm java: reading directory lblock 0\n[  12.4] Aborting journal on device sdb-8.`,
    `${klog('E', `${failed} : permission denied`)}\n${klog('I', `MountVolume.SetUp succeeded for volume "password" pod "${web.name}" (UID: "${web.uid}")`)}`,
    `orphaned pod "${db.uid}" found, but volume paths are still present on disk\nMulti-Attach error for volume "${pvOf(IDLE)}" Volume is already exclusively attached to one node`,
    `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: late\n  namespace: ${NAMESPACE}\nstatus:\n  conditions:\n  - message: 'rpc error: code = DeadlineExceeded desc = context\n      deadline exceeded'\n    type: ControllerResizeError\n  phase: Pending`,
  ]
}

const HARMLESS = [
  'AttachVolume.Attach succeeded for volume "pv-idle" from node "worker-1"',
  'Normal  WaitForFirstConsumer  3s (x9 over 2m)  persistentvolume-controller  waiting for first consumer to be created before binding',
  'I1122 20:01:02.1 812 reconciler.go:1] "operationExecutor.VerifyControllerAttachedVolume started for volume \\"password\\"" pod="shop/web-0"',
  '[  12.3] EXT4-fs (sdb): mounted filesystem 7 r/w with ordered data mode. Quota mode: none.',
  'Checking for issues with fsck on disk: /dev/sdb',
  'I1122 20:01:02.1 1 csi_handler.go:1] Starting attach operation for "csi-1"',
  'Normal  FileSystemResizeSuccessful  3s  kubelet  MountVolume.NodeExpandVolume succeeded for volume "pv-idle"',
  'I1122 20:01:02.1 812 clientconn.go:1] ccResolverWrapper: sending update to cc',
  'kubernetes.io/csi: Register new plugin with name: disk.example.com at endpoint: /s.sock',
  'Operation cannot be fulfilled on persistentvolumes "pv-idle": the object has been modified; please apply your changes to the latest version and try again',
]

const AT_ONCE = 4

async function pasted(scene: Scene, texts: readonly string[]): Promise<Pasted[]> {
  const found: Pasted[] = []
  for (let at = 0; at < texts.length; at += AT_ONCE)
    found.push(...(await Promise.all(texts.slice(at, at + AT_ONCE).map((each) => pastedOne(scene, each)))))
  return found
}

async function pastedOne(scene: Scene, rows: string): Promise<Pasted> {
  const child = spawn(VOLCTL, ['explain', '-', '-o', 'json'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...scene.env },
  })
  child.stdin.end(rows)
  const [stdout, [status]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  const answer = JSON.parse(stdout) as LineExplanation | LogExplanation
  const { troubles = [], harmless = [] }: Partial<LogExplanation> = 'troubles' in answer ? answer : {}
  const own = 'sentence' in answer ? [answer.sentence?.name ?? ''] : []
  const known = [...own, ...troubles.map(({ sentence, over }) => `${sentence?.name}${over ? ' over' : ''}`)]
  return { status, known: [...known, ...harmless.map(({ name }) => name)] }
}

/** Is being deleted, and runs. */
const ENDS: ScenePod = { name: 'ends-0', uid: '11111111-2222-4333-8444-000000000011', volumes: [], others: ['memory'] }
/** Waits for a claim that has no volume. */
const WAITS: ScenePod = {
  name: 'waits-0',
  uid: '11111111-2222-4333-8444-000000000012',
  volumes: [{ name: 'late', kind: 'filesystem' }],
  others: [],
}

/** Three more states, each with a line of its own: a pod that ends, a pod that waits, a secret that was changed. */
async function breakMore(scene: Scene): Promise<void> {
  const { api, driver, sources, pods } = scene
  await setUpPod(driver, ENDS, sources)
  const [ends, waits] = [ENDS, WAITS].map((each) => pod(each, sources.hostPath) as { metadata: object; status: object })
  const metadata = { ...ends?.metadata, deletionTimestamp: new Date().toISOString(), deletionGracePeriodSeconds: 30 }
  const claim = { name: 'late', namespace: NAMESPACE, uid: '11111111-2222-4333-8444-000000000013' }
  const secret = clusterObjects().find((each) => (each as { kind: string }).kind === 'Secret')
  await api.put(
    { ...ends, metadata },
    { ...waits, status: { phase: 'Pending' } },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: claim,
      spec: { accessModes: ['ReadWriteOnce'] },
      status: { phase: 'Pending' },
    },
    { ...secret, data: { password: Buffer.from('changed').toString('base64') } },
  )
  setAlive(scene, [pods.web, ENDS])
}

async function run(scene: Scene): Promise<LinesReport> {
  await scene.breakIt()
  await breakMore(scene)
  const { web, db, batch } = scene.pods
  const { all, busy } = linesOf(scene)
  const log = await logThroughPipe(scene, all)
  const holder = spawn('sh', ['-c', 'echo ready; read -r line'], {
    cwd: `${scene.rootDir}/pods/${db.uid}/volumes/kubernetes.io~csi/pv-common/mount`,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  const pastes = await pasted(scene, pastesOf(scene))
  const harmless = await pasted(scene, HARMLESS)
  const answer = await runVolctl(scene, ['explain', busy, '-o', 'json'])
  const table = await runVolctl(scene, ['explain', busy])
  const ended = once(holder, 'exit')
  holder.stdin.end()
  await ended
  return {
    pods: { web: web.uid, db: db.uid, batch: batch.uid },
    driver: DRIVER,
    log,
    busy: JSON.parse(answer.stdout) as LineExplanation,
    pid: holder.pid ?? 0,
    screen: table.stdout,
    pastes,
    harmless,
  }
}

writeReport(await withScene(run, { small: true }))
