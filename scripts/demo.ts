/**
 * The main job on any Linux machine, with no cluster: a node's real state is made in a mount namespace of its own and a
 * temporary directory, broken as nodes break, and repaired. Each command is echoed as a person would type it, and none waits for
 * a person. Nothing is left behind, even if it is interrupted; what it leaves if it is killed, the next demo sweeps.
 *
 *   npm run demo -- --layout shared-self-bind
 *
 * sets up the node's root directory as on other machines (test/helpers/scene/layouts.ts).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { errorMessage } from '../src/core/errors/errors.ts'
import { lockedDirectory, sweepUnlocked } from '../test/helpers/demo-directory.ts'
import { sweep } from '../test/helpers/left-behind.ts'
import { noMounts } from '../test/helpers/namespace.ts'
import { allowMachines, onOwnMachine } from '../test/helpers/own-machine.ts'
import { LAYOUTS, type Layout, layouts } from '../test/helpers/scene/layouts.ts'
import { makeScene, type Scene } from '../test/helpers/scene/scene.ts'
import { noteStrangers } from '../test/helpers/strangers-here.ts'
import { VOLCTL } from '../test/helpers/volctl-program.ts'

const root = join(import.meta.dirname, '..')
/** Set inside the namespace: the directory that contains everything. */
const INSIDE = 'VOLCTL_DEMO_DIRECTORY'
/** How the names of such directories begin. */
const DIRECTORIES = 'volctl-demo-'
const layout = layoutAsked()
const NO_PAGER = '--no-pager'
/** `plan` fails if there is something to do. */
const NOTHING_LEFT = '--detailed-exitcode'
/** A command ended as it should not. */
class Failed extends Error {}
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const directory = process.env[INSIDE]
process.exitCode = directory === undefined ? await outside() : await inside(directory)

/**
 * Starts the demo again in namespaces of its own; if that is forbidden, shows the plan of a recorded node. A PID namespace
 * makes it a machine of its own: a kubelet or kind that runs here is not taken for the demo's, nor is any other's disk.
 */
async function outside(): Promise<number> {
  if (noMounts !== undefined) return onSnapshot()
  for (const left of sweepUnlocked(DIRECTORIES))
    say(`An earlier demo was killed: what it left in ${left} is removed.\n`)
  const { path: own, lock } = lockedDirectory(DIRECTORIES)
  noteStrangers()
  const endMachine = allowMachines(own)
  const inner = [process.execPath, '--no-warnings', import.meta.filename, '--layout', layout]
  try {
    const child = spawn(...onOwnMachine(inner), {
      // unshare(1) passes no signal on to a process that it forks: a request to stop goes through a channel. The directory is
      // locked as long as either process lives.
      stdio: ['inherit', 'inherit', 'inherit', 'ipc', lock],
      env: { ...process.env, [INSIDE]: own, TMPDIR: own },
    })
    // The child cleans up, and this process ends with it.
    for (const signal of SIGNALS) process.on(signal, () => child.connected && child.send(signal))
    const [status] = (await once(child, 'exit')) as [number | null]
    return status ?? 130
  } finally {
    endMachine()
    // Only if the child was killed by SIGKILL: then its mounts went away with it.
    if (existsSync(own)) sweep(own)
  }
}

/** The layout of the mounts around the root directory; default: private. */
function layoutAsked(): Layout {
  const { layout: asked = 'private' } = parseArgs({ options: { layout: { type: 'string' } } }).values
  const found = layouts.find((each) => each === asked)
  if (found === undefined) throw new Error(`demo: --layout ${asked} is not one of ${layouts.join(', ')}`)
  return found
}

async function inside(own: string): Promise<number> {
  let scene: Scene | undefined
  const stop = new AbortController()
  for (const signal of SIGNALS) process.on(signal, () => stop.abort())
  // The inner demo ends with the outer one, even if that was killed.
  for (const event of ['message', 'disconnect'] as const) process.on(event, () => stop.abort())
  // Listens only as long as there is something to do.
  process.channel?.unref()
  try {
    title('Set up a node in its own mount namespace')
    say('An API server over HTTPS, a container runtime, a CSI driver on a unix socket, and three pods with')
    say('CSI volumes (one shared by two pods), a local volume, a secret, a config map, emptyDirs and subPaths.')
    scene = await makeScene({ directory: own, layout })
    stop.signal.throwIfAborted()
    const { driver, rootDir } = scene
    if (layout !== 'private') say(`The root directory: ${LAYOUTS[layout]}.`)
    const data = driver.backend === 'loop' ? 'loop devices' : 'tmpfs, because loop devices need real root'
    say(`Root directory: ${rootDir}, ${scene.mountPoints().length} mounts; CSI volumes are on ${data}.`)
    return await story(scene, stop.signal)
  } catch (error) {
    if (stop.signal.aborted) {
      say('\nInterrupted: cleaning up.')
      return 130
    }
    return failed(error)
  } finally {
    await scene?.dispose()
    say(existsSync(own) ? `\n${own} could not be removed.` : '\nThe demo has removed everything that it created.')
  }
}

async function story(scene: Scene, signal: AbortSignal): Promise<number> {
  const run = (shown: readonly string[], ...more: readonly string[]): Promise<void> =>
    runVolctl(shown, more, scene.env, signal)
  title('Break the node')
  await scene.breakIt((step) => {
    signal.throwIfAborted()
    say(step)
  })
  const before = JSON.stringify(scene.contentHashes())

  title('What does this line of the kubelet mean?')
  const { uid } = scene.pods.db
  await run(['explain', `orphaned pod "${uid}" found, but volume paths are still present on disk`], NO_PAGER)
  title('What is wrong?')
  await run(['status'], NO_PAGER)
  await run(['plan'], NO_PAGER)
  title('Repair it, with the leftovers of deleted pods')
  await run(['apply', '--orphans', '--yes'])
  title('Is anything left?')
  await run(['plan'], NO_PAGER, NOTHING_LEFT)

  const kept = JSON.stringify(scene.contentHashes()) === before
  title('Reboot with the kubelet stopped: nothing is mounted')
  const { 'pod that lives': _, ...volumes } = scene.contentHashes()
  await scene.reboot()
  await run(['plan'], NO_PAGER)
  await run(['apply', '--yes'])
  await run(['wait', '--for=mounted', 'shop/web-0'])
  await run(['plan'], NO_PAGER, NOTHING_LEFT)

  const { 'pod that lives': __, ...after } = scene.contentHashes()
  const unchanged = kept && JSON.stringify(after) === JSON.stringify(volumes)
  say(unchanged ? '\nThe content of every volume is unchanged.' : '\nTHE CONTENT OF A VOLUME HAS CHANGED.')
  return unchanged ? 0 : 1
}

/**
 * Echoes a command and runs it. It reads nothing: a person may be there or not.
 *
 * @param more arguments for this script alone, which are not echoed
 * @throws Failed
 */
async function runVolctl(
  shown: readonly string[],
  more: readonly string[],
  env: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted()
  const args = [...shown, ...more]
  const typed = (words: readonly string[]): string =>
    ['volctl', ...words.map((word) => (word.includes(' ') ? `'${word}'` : word))].join(' ')
  say(`\n$ ${typed(shown)}`)
  const options = { cwd: root, env: { ...process.env, ...env } }
  const child = spawn(VOLCTL, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] })
  const end = (): void => void child.kill('SIGTERM')
  signal?.addEventListener('abort', end)
  const [status, by] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  signal?.removeEventListener('abort', end)
  signal?.throwIfAborted()
  if (status !== 0) throw new Failed(`${typed(args)} ended with ${by ?? `exit status ${status}`}`)
}

async function onSnapshot(): Promise<number> {
  say(`This user cannot create real mounts here: ${noMounts}.`)
  say('Instead, this is the plan of a recorded node, on which three pods were deleted while the kubelet was down.')
  const snapshot = join('test', 'fixtures', 'captures', 'forcedel-killed', 'before.json')
  try {
    for (const args of [['plan'], ['plan', '--orphans']])
      await runVolctl([...args, '--snapshot', snapshot], [NO_PAGER], {})
    return 0
  } catch (error) {
    return failed(error)
  }
}

function failed(error: unknown): number {
  const message = errorMessage(error).trimEnd()
  console.error(
    error instanceof Failed
      ? `\nThe demo stops: ${message}`
      : `\ndemo: the node could not be set up or broken on this machine: ${message}`,
  )
  return 1
}

function title(text: string): void {
  say(`\n== ${text}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
