/**
 * The main job on any Linux machine, with no cluster: a node's real state is made in a mount namespace of its own and a
 * temporary directory, broken as nodes break, and repaired. Each command is echoed as a person would type it. Nothing is left
 * behind, even if it is interrupted.
 *
 *   npm run demo -- --layout shared-self-bind
 *
 * sets up the node's root directory as on other machines (test/helpers/scene/layouts.ts).
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { errorMessage } from '../src/core/errors/errors.ts'
import { loopDevicesWork } from '../test/helpers/csi-driver/start.ts'
import { detachLoops } from '../test/helpers/detach-loops.ts'
import { noMounts, ownProcArguments, unshareArguments } from '../test/helpers/namespace.ts'
import { LAYOUTS, type Layout, layouts } from '../test/helpers/scene/layouts.ts'
import { makeScene, type Scene } from '../test/helpers/scene/scene.ts'
import { VOLCTL } from '../test/helpers/volctl-program.ts'

const root = join(import.meta.dirname, '..')
/** Set inside the namespace: the directory that contains everything. */
const INSIDE = 'VOLCTL_DEMO_DIRECTORY'
const layout = layoutAsked()
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const directory = process.env[INSIDE]
process.exitCode = directory === undefined ? await outside() : await inside(directory)

/**
 * Starts the demo again in namespaces of its own; if that is forbidden, shows the plan of a recorded node. A PID namespace
 * makes it a machine of its own: a kubelet or kind that runs here is not taken for the demo's.
 */
async function outside(): Promise<number> {
  if (noMounts !== undefined) return onSnapshot()
  const own = realpathSync(mkdtempSync(join(tmpdir(), 'volctl-demo-')))
  const ownProc = [...unshareArguments, ...ownProcArguments]
  const namespaces = spawnSync('unshare', [...ownProc, 'true']).status === 0 ? ownProc : unshareArguments
  try {
    const child = spawn(
      'unshare',
      [...namespaces, process.execPath, '--no-warnings', import.meta.filename, '--layout', layout],
      {
        // unshare(1) passes no signal on to a process that it forks: a request to stop goes through a channel.
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
        env: { ...process.env, [INSIDE]: own, TMPDIR: own },
      },
    )
    // The child cleans up, and this process ends with it.
    for (const signal of SIGNALS) process.on(signal, () => child.connected && child.send(signal))
    const [status] = (await once(child, 'exit')) as [number | null]
    return status ?? 130
  } finally {
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

function sweep(own: string): void {
  if (loopDevicesWork()) detachLoops(own)
  rmSync(own, { recursive: true, force: true })
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
    console.error(`\ndemo: the node could not be set up or broken on this machine: ${errorMessage(error).trimEnd()}`)
    return 1
  } finally {
    await scene?.dispose()
    say(existsSync(own) ? `\n${own} could not be removed.` : '\nThe demo has removed everything that it created.')
  }
}

async function story(scene: Scene, signal: AbortSignal): Promise<number> {
  const run = async (shown: string[], ...more: string[]): Promise<number> => {
    say(`\n$ volctl ${shown.map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ')}`)
    return runVolctl(scene, signal, [...shown, ...more])
  }
  title('Break the node')
  await scene.breakIt((step) => {
    signal.throwIfAborted()
    say(step)
  })
  const before = JSON.stringify(scene.contentHashes())

  title('What does this line of the kubelet mean?')
  const { uid } = scene.pods.db
  await run(['explain', `orphaned pod "${uid}" found, but volume paths are still present on disk`])
  title('What is wrong?')
  await run(['status'])
  await run(['plan'])
  title('Repair it, with the leftovers of deleted pods')
  const applied = await run(['apply', '--orphans'])
  title('Is anything left?')
  // The exit status is for this script alone.
  const left = await run(['plan'], '--detailed-exitcode')

  const kept = JSON.stringify(scene.contentHashes()) === before
  title('Reboot with the kubelet stopped: nothing is mounted')
  const { 'pod that lives': _, ...volumes } = scene.contentHashes()
  await scene.reboot()
  await run(['plan'])
  const mounted = await run(['apply'])
  const waited = await run(['wait', '--for=mounted', 'shop/web-0'])
  const missing = await run(['plan'], '--detailed-exitcode')

  const { 'pod that lives': __, ...after } = scene.contentHashes()
  const unchanged = kept && JSON.stringify(after) === JSON.stringify(volumes)
  say(unchanged ? '\nThe content of every volume is unchanged.' : '\nTHE CONTENT OF A VOLUME HAS CHANGED.')
  return [applied, left, mounted, waited, missing].every((status) => status === 0) && unchanged ? 0 : 1
}

/** Without a terminal to ask on, `apply` does not ask. */
async function runVolctl(scene: Scene, signal: AbortSignal, args: readonly string[]): Promise<number> {
  signal.throwIfAborted()
  const child = spawn(VOLCTL, args, { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...scene.env } })
  const end = (): void => void child.kill('SIGTERM')
  signal.addEventListener('abort', end)
  const [status] = (await once(child, 'exit')) as [number | null]
  signal.removeEventListener('abort', end)
  signal.throwIfAborted()
  return status ?? 1
}

function onSnapshot(): number {
  say(`This user cannot create real mounts here: ${noMounts}.`)
  say('Instead, this is the plan of a recorded node, on which three pods were deleted while the kubelet was down.')
  const snapshot = join('test', 'fixtures', 'captures', 'forcedel-killed', 'before.json')
  let worst = 0
  for (const args of [['plan'], ['plan', '--orphans']]) {
    const all = [...args, '--snapshot', snapshot]
    say(`\n$ volctl ${all.join(' ')}`)
    worst = Math.max(worst, spawnSync(VOLCTL, all, { stdio: 'inherit', cwd: root }).status ?? 1)
  }
  return worst
}

function title(text: string): void {
  say(`\n== ${text}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
