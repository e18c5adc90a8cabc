/** A node for the bench: real mounts in a private mount namespace, an API server over TLS and a runtime. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startApiServer, type TestApiServer } from '../../test/helpers/api-server/start.ts'
import { startCriServer } from '../../test/helpers/cri-server/start.ts'
import { type ApiObject, MACHINE_ID, NODE_NAME, nodeObjects } from './api-objects.ts'
import { type Layout, LayoutBuilder } from './layout.ts'
import type { Timed } from './measure.ts'
import { PRIVATE_NODE } from './private-node.ts'
import type { Form, Programs } from './programs.ts'

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
  /** The runtime's socket. */
  readonly runtime: string
  /** The layout's mounts, absolute. */
  readonly mountPoints: readonly string[]
  /** The mount table of the scene's namespace. */
  readonly mountinfo: string
  /** Makes the missing parts of the layout again. */
  make(): Promise<void>
  /** A command inside the scene's mount namespace. */
  inside(command: readonly string[]): Timed
  /** A volctl command that looks at the scene, in both forms. */
  volctl(args: readonly string[]): Readonly<Record<Form, Timed>>
}

/**
 * @param name its directory's
 * @param user of the test API server's users
 */
export async function startScene(
  programs: Programs,
  name: string,
  user: string,
  describe: (layout: LayoutBuilder) => SceneContent,
): Promise<Scene> {
  const directory = programs.directory(name)
  const rootDir = join(directory, 'kubelet')
  mkdirSync(rootDir, { recursive: true })
  const { pods, objects = [], layout } = describe(new LayoutBuilder(rootDir))
  const uids = pods.map((pod) => pod.metadata.uid ?? '')
  await using started = new AsyncDisposableStack()
  const api = started.use(
    await startApiServer({ nodeName: NODE_NAME, objects: [...nodeObjects(), ...pods, ...objects] }),
  )
  const socket = join(directory, 'cri.sock')
  const runtime = await startCriServer({
    socketPath: socket,
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
  const volctl = (program: string, args: readonly string[]): Timed => ({
    command: [...enter, program, ...args],
    env: { VOLCTL_TEST_HOST: host },
  })
  const ended = started.move()
  return {
    rootDir,
    api,
    runtime: socket,
    mountPoints: layout.mounts.map((mount) => join(rootDir, mount)),
    mountinfo: `/proc/${keeper.pid}/mountinfo`,
    make,
    inside: (command) => ({ command: [...enter, ...command] }),
    volctl: (args) => ({ executable: volctl(programs.executable, args), bundle: volctl(programs.bundle, args) }),
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  }
}

function startKeeper(layout: string): ChildProcess {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', PRIVATE_NODE, layout]
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
