/** A node for the bench: real mounts in a private mount namespace, an API server over TLS and a runtime. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startApiServer, type TestApiServer } from '../../test/helpers/api-server/start.ts'
import { startCriServer } from '../../test/helpers/cri-server/start.ts'
import { type ApiObject, MACHINE_ID, NODE_NAME, nodeObjects } from './api-objects.ts'
import { type Layout, LayoutBuilder } from './layout.ts'
import type { Timed } from './measure.ts'

export interface SceneContent {
  /** Living pods, as the API has them. */
  readonly pods: readonly ApiObject[]
  /** Objects besides the pods and the node. */
  readonly objects?: readonly ApiObject[]
  readonly layout: Layout
}

export interface Scene extends AsyncDisposable {
  readonly rootDir: string
  readonly api: TestApiServer
  /** The layout's mounts, absolute. */
  readonly mountPoints: readonly string[]
  /** The mount table of the scene's namespace. */
  readonly mountinfo: string
  /** Makes the missing parts of the layout again. */
  make(): Promise<void>
  /** A command inside the scene's mount namespace. */
  inside(command: readonly string[]): Timed
  /** A volctl command that looks at the scene. */
  volctl(...args: readonly string[]): Timed
  /** How many operations a plan has. */
  planned(): number
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
): Promise<Scene> {
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
    mountPoints: layout.mounts.map((mount) => join(rootDir, mount)),
    mountinfo: `/proc/${keeper.pid}/mountinfo`,
    make,
    inside: (command) => ({ command: [...enter, ...command] }),
    volctl: (...args) => ({ command: [...enter, executable, ...args], env }),
    planned: () => {
      const [program = '', ...args] = [...enter, executable, 'plan', '-o', 'json']
      return JSON.parse(execFileSync(program, args, { env, encoding: 'utf8', maxBuffer: 1 << 26 })).operations.length
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
