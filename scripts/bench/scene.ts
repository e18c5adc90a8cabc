/** A node for the bench: real mounts in a private mount namespace, an API server over TLS and a runtime. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { TreeEntry } from '../../src/core/volumes/snapshot.ts'
import { bigCluster, POD_SPEC } from '../../test/cluster/big-cluster/objects.ts'
import { startApiServer } from '../../test/helpers/api-server/start.ts'
import { startCriServer } from '../../test/helpers/cri-server/start.ts'
import { PodFiles } from '../../test/helpers/pod-files.ts'
import type { Timed } from './measure.ts'

export const NODE_NAME = 'bench-node'
const MACHINE_ID = 'b0c1d2e3f4a5968778695a4b3c2d1e0f'

/** Objects of the size that real ones have. */
export interface ApiObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
}

/** What a bench's node has on disk: paths below its root directory, made in this order. */
export class LayoutBuilder extends PodFiles {
  readonly rootDir: string
  readonly directories: string[] = ['pods', 'plugins', 'plugins_registry']
  /** An empty tmpfs on each, in this order. */
  readonly mounts: string[] = []
  readonly files: Record<string, string> = {}
  readonly links: Record<string, string> = {}

  constructor(rootDir: string) {
    super()
    this.rootDir = rootDir
  }

  override entry({ path, type, target = '', content = '' }: TreeEntry): this {
    if (type === 'dir') this.directories.push(path)
    else if (type === 'link') this.links[path] = target
    else this.files[path] = content
    return this
  }

  override mount(path: string): this {
    this.directories.push(path)
    this.mounts.push(path)
    return this
  }
}

export interface SceneContent {
  /** Living pods, as the API has them. */
  readonly pods: readonly ApiObject[]
  /** Objects besides the pods and the node. */
  readonly objects?: readonly ApiObject[]
  readonly layout: LayoutBuilder
}

/**
 * @param directory of its own
 * @param executable that looks at the scene
 * @param user of the test API server's users
 */
export async function startScene(
  directory: string,
  executable: string,
  user: string,
  describe: (layout: LayoutBuilder) => SceneContent,
) {
  const rootDir = join(directory, 'kubelet')
  mkdirSync(rootDir, { recursive: true })
  const { pods, objects = [], layout } = describe(new LayoutBuilder(rootDir))
  const uids = pods.map((pod) => pod.metadata.uid ?? '')
  await using started = new AsyncDisposableStack()
  const api = started.use(
    await startApiServer({ nodeName: NODE_NAME, objects: [...nodeObjects(), ...pods, ...objects] }),
  )
  const runtime = await startCriServer({
    socketPath: join(directory, 'cri.sock'),
    pods: pods.map(({ metadata: { uid = '', namespace = '', name } }) => ({
      uid,
      namespace,
      name,
      state: 'SANDBOX_READY',
      containers: [{ name: 'app', state: 'CONTAINER_RUNNING' }],
    })),
  })
  started.defer(() => runtime.stop())
  const host = file(directory, 'host.json', {
    machineID: MACHINE_ID,
    systemUUID: MACHINE_ID,
    bootID: MACHINE_ID,
    nodeName: NODE_NAME,
    rootDir,
    kubelet: { running: false, mayReturn: false },
    runtimeEndpoints: [runtime.endpoint],
    runtimeExpected: true,
    processes: uids,
    lockFile: join(directory, 'lock'),
    journalDir: join(directory, 'journal'),
    kubeconfig: api.kubeconfig(user),
  })
  const keeper = started.adopt(startKeeper(file(directory, 'layout.json', layout)), endKeeper)
  const answers = createInterface({ input: keeper.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  /** Makes the missing parts of the layout again. */
  const make = async (): Promise<void> => {
    keeper.stdin?.write('make\n')
    if ((await answers.next()).done) throw new Error('the mounts of the scene could not be made')
  }
  await make()
  const enter = ['nsenter', `--mount=/proc/${keeper.pid}/ns/mnt`, '--']
  const env = { VOLCTL_TEST_HOST: host }
  const ended = started.move()
  return {
    rootDir,
    api,
    /** The layout's mounts, absolute. */
    mountPoints: layout.mounts.map((mount) => join(rootDir, mount)),
    /** The mount table of the scene's namespace. */
    mountinfo: `/proc/${keeper.pid}/mountinfo`,
    make,
    /** A command inside the scene's mount namespace. */
    inside: (command: readonly string[]): Timed => ({ command: [...enter, ...command] }),
    /** A volctl command that looks at the scene. */
    volctl: (...args: readonly string[]): Timed => ({ command: [...enter, executable, ...args], env }),
    /** How many operations a plan has. */
    planned: async (): Promise<number> => {
      const [program = '', ...args] = [...enter, executable, 'plan', '-o', 'json']
      const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 1 << 26 })
      return JSON.parse(stdout).operations.length
    },
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  }
}

function startKeeper(layout: string): ChildProcess {
  const node = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'private-node.ts'),
    layout,
  ]
  return spawn('unshare', ['-m', '--propagation', 'private', ...node], { stdio: ['pipe', 'pipe', 'inherit'] })
}

async function endKeeper(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return
  const ended = once(keeper, 'exit')
  keeper.stdin?.end()
  await ended
}

function file(directory: string, name: string, value: unknown): string {
  const path = join(directory, name)
  writeFileSync(path, JSON.stringify(value))
  return path
}

/** RFC 3339, in whole seconds. */
function timeText(hoursAgo = 0): string {
  return new Date(Date.now() - hoursAgo * 3_600_000).toISOString().replace(/\.\d+/, '')
}

/** The node and its lease: the kubelet has been stopped long enough (S11). */
export function nodeObjects(): ApiObject[] {
  const anHourAgo = timeText(1)
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: NODE_NAME,
      uid: '30000000-0000-4000-8000-000000000000',
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    status: {
      nodeInfo: { machineID: MACHINE_ID, systemUUID: MACHINE_ID, bootID: MACHINE_ID },
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: anHourAgo, lastTransitionTime: anHourAgo }],
      volumesAttached: [],
      volumesInUse: [],
    },
  }
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: NODE_NAME, namespace: 'kube-node-lease' },
    spec: { holderIdentity: NODE_NAME, renewTime: anHourAgo },
  }
  return [node, lease]
}

/** A UID that is a proper RFC 4122 UUID, by kind and number. */
export function podUid(kind: 'living' | 'gone', index: number): string {
  return `${kind === 'living' ? '10000000' : '20000000'}-0000-4000-8000-${String(index).padStart(12, '0')}`
}

/** Of a busy cluster: every third has a claim. */
const { '/api/v1/pods': PODS } = bigCluster({ nodes: 1 })

/** A pod that runs on the node, as large as one of a Deployment. @param volumes of its spec */
export function livingPod(index: number, volumes: readonly { readonly name: string }[] = []): ApiObject {
  const real = PODS?.at(3 * index + 1)
  const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/volumes/${volume.name}` }))
  const containers = POD_SPEC.containers.map((each) => ({ ...each, volumeMounts }))
  const own = { namespace: 'default', uid: podUid('living', index), creationTimestamp: timeText() }
  const spec = { ...POD_SPEC, nodeName: NODE_NAME, volumes, containers }
  const metadata = { ...real?.metadata, name: `app-${index}`, ...own }
  return { ...real, apiVersion: 'v1', kind: 'Pod', metadata, spec } as ApiObject
}
