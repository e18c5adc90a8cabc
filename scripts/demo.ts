/**
 * The main job on any Linux machine, with no cluster: a node's real state is made in a private mount namespace and a
 * temporary directory, broken as nodes break, and repaired. Each command is echoed as a person would type it, and none waits for
 * a person. Nothing is left behind, even if it is interrupted; what it leaves if it is killed, the next demo sweeps.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../src/core/messages/findings.ts'
import { lockedDirectory, sweepUnlocked } from '../test/e2e/demo-directory.ts'
import { sweep } from '../test/helpers/left-behind.ts'
import { noMounts } from '../test/helpers/namespace.ts'
import { allowMachines, onOwnMachine } from '../test/helpers/own-machine.ts'
import { makeScene, type Scene } from '../test/helpers/scene/scene.ts'
import { noteStrangers } from '../test/helpers/strangers-here.ts'
import { VOLCTL } from '../test/helpers/volctl-program.ts'

const root = join(import.meta.dirname, '..')
/** Set inside the namespace: the directory that contains everything. */
const INSIDE = 'VOLCTL_DEMO_DIRECTORY'
/** How the names of such directories begin. */
const DIRECTORIES = 'volctl-demo-'
const TO_REMEMBER = `
On a node, as root:
  volctl plan                   # what is wrong, and what to type
  volctl apply --stop-kubelet   # asks, stops the kubelet, repairs, starts it
  volctl explain shop/web-0     # why a pod, a volume or a log line is so`
/** A command ended as it should not. */
class Failed extends Error {}
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const directory = process.env[INSIDE]
process.exitCode = directory === undefined ? await outside() : await inside(directory)

/**
 * Starts the demo again in private namespaces; if that is forbidden, shows the plan of a recorded node. A PID namespace
 * makes it a separate machine: a kubelet or kind that runs here is not taken for the demo's, nor is any other's disk.
 */
async function outside(): Promise<number> {
  if (noMounts !== undefined) return onSnapshot()
  for (const left of sweepUnlocked(DIRECTORIES))
    say(`An earlier demo was killed: what it left in ${left} is removed.\n`)
  const { path: own, lock } = lockedDirectory(DIRECTORIES)
  noteStrangers()
  const endMachine = allowMachines(own)
  const inner = [process.execPath, '--no-warnings', import.meta.filename]
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

async function inside(own: string): Promise<number> {
  let scene: Scene | undefined
  let status = 1
  const stop = new AbortController()
  for (const signal of SIGNALS) process.on(signal, () => stop.abort())
  // The inner demo ends with the outer one, even if that was killed.
  for (const event of ['message', 'disconnect'] as const) process.on(event, () => stop.abort())
  // Listens only as long as there is something to do.
  process.channel?.unref()
  try {
    say('A node is set up in its own mount namespace:')
    say('an API server, a container runtime, a CSI driver, three pods.')
    scene = await makeScene({ directory: own, small: true })
    stop.signal.throwIfAborted()
    const { driver, rootDir } = scene
    const data = driver.backend === 'loop' ? 'loop devices' : 'directories, because loop devices need real root'
    say(`Root directory: ${rootDir}, ${scene.mountPoints().length} mounts.`)
    say(`CSI volumes are on ${data}.`)
    status = await story(scene, stop.signal)
    return status
  } catch (error) {
    if (stop.signal.aborted) {
      say('\nInterrupted: cleaning up.')
      return 130
    }
    return failed(error)
  } finally {
    await scene?.dispose()
    say(existsSync(own) ? `\n${own} could not be removed.` : '\nThe demo has removed everything that it created.')
    if (status === 0) say(TO_REMEMBER)
  }
}

async function story(scene: Scene, signal: AbortSignal): Promise<number> {
  const run = (...shown: readonly string[]): Promise<void> => runVolctl(shown, scene.env, signal)
  await scene.breakIt((line) => {
    signal.throwIfAborted()
    say(line)
  })
  const before = JSON.stringify(scene.contentHashes())
  const { uid } = scene.pods.db
  const line = `orphaned pod "${uid}" found, but volume paths are still present on disk`
  await run('plan')
  await run('explain', line)
  await run('apply', '--orphans', '--yes')
  await run('status')
  const unchanged = JSON.stringify(scene.contentHashes()) === before
  say(unchanged ? '\nThe content of every volume is unchanged.' : '\nTHE CONTENT OF A VOLUME HAS CHANGED.')
  return unchanged ? 0 : 1
}

/** Echoes a command and runs it. It reads nothing: a person may be there or not. @throws Failed */
async function runVolctl(
  shown: readonly string[],
  env: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted()
  const typed = ['volctl', ...shown.map((word) => (word.includes(' ') ? `'${word}'` : word))].join(' ')
  // Before it asks, apply shows the plan once more, with all that is known about each volume: pages of it.
  const brief = shown[0] === 'apply'
  say(`\n$ ${typed}${brief ? '   # the plan that it shows first is left out' : ''}`)
  const options = { cwd: root, env: { ...process.env, ...env } }
  const child = spawn(VOLCTL, shown, { ...options, stdio: ['ignore', 'inherit', brief ? 'pipe' : 'inherit'] })
  let leftOut = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    leftOut += text
  })
  const end = (): void => void child.kill('SIGTERM')
  signal?.addEventListener('abort', end)
  const [status, by] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  signal?.removeEventListener('abort', end)
  signal?.throwIfAborted()
  if (status === 0) return
  say(leftOut)
  throw new Failed(`${typed} ended with ${by ?? `exit status ${status}`}`)
}

async function onSnapshot(): Promise<number> {
  say(`This user cannot create real mounts here: ${noMounts}.`)
  say('Instead, this is the plan of a recorded node,')
  say('on which three pods were deleted while the kubelet was down.')
  const snapshot = join('test', 'fixtures', 'captures', 'forcedel-killed', 'before.json')
  try {
    for (const args of [['plan'], ['plan', '--orphans']]) await runVolctl([...args, '--snapshot', snapshot], {})
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

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
