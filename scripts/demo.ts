/**
 * The main job on any Linux machine, with no cluster: a node's real state is made in a mount namespace of its own and a
 * temporary directory, broken as nodes break, and repaired. Each command is echoed as a person would type it. Nothing is
 * left behind, also when it is interrupted.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { privateNamespace } from '../test/helpers/scene/namespace.ts'
import { makeScene, type Scene } from '../test/helpers/scene/scene.ts'

const root = join(import.meta.dirname, '..')
const volctl = join(root, 'bin', 'volctl')
const INSIDE = 'VOLCTL_DEMO_INSIDE'

if (process.env[INSIDE] === undefined) process.exitCode = await outside()
else process.exitCode = await inside()

/** Starts the demo again in a namespace of its own; where that is forbidden, shows the plan on a recorded node. */
async function outside(): Promise<number> {
  const namespace = privateNamespace()
  if (namespace === undefined) return onSnapshot()
  const [command = '', ...args] = namespace
  const child = spawn(command, [...args, process.execPath, import.meta.filename], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  })
  // A terminal's Ctrl-C reaches the child by itself; it cleans up, and its end is ours.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const [status] = (await once(child, 'exit')) as [number | null]
  return status ?? 130
}

async function inside(): Promise<number> {
  let scene: Scene | undefined
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
  try {
    title('A node with three pods, their volumes, a CSI driver and an API server')
    scene = await makeScene('volctl-demo-')
    say(`Root directory: ${scene.rootDir} (${scene.driver.backend} volumes)`)
    return await story(scene, stop.signal)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    say('\nInterrupted: cleaning up.')
    return 130
  } finally {
    await scene?.dispose()
    say(scene === undefined || existsSync(scene.directory) ? 'Cleaning up failed.' : 'Everything is removed again.')
  }
}

async function story(scene: Scene, signal: AbortSignal): Promise<number> {
  const run = (...args: string[]): Promise<number> => runVolctl(scene, signal, args)
  await run('plan')
  title('The node breaks')
  await scene.breakIt((step) => {
    signal.throwIfAborted()
    say(`  ${step}`)
  })
  const before = scene.contentHashes()

  title('What is wrong?')
  await run('plan')
  title('Repair it, what is left of deleted pods included')
  const applied = await run('apply', '--orphans', '--yes')
  title('And again')
  const clean = await run('plan', '--detailed-exitcode')

  const same = JSON.stringify(scene.contentHashes()) === JSON.stringify(before)
  say(same ? '\nThe content of every volume is what it was.' : '\nTHE CONTENT OF A VOLUME HAS CHANGED.')
  return applied === 0 && clean === 0 && same ? 0 : 1
}

async function runVolctl(scene: Scene, signal: AbortSignal, args: readonly string[]): Promise<number> {
  signal.throwIfAborted()
  say(`\n$ volctl ${args.join(' ')}`)
  const child = spawn(volctl, args, { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...scene.env } })
  const end = (): void => void child.kill('SIGTERM')
  signal.addEventListener('abort', end)
  const [status] = (await once(child, 'exit')) as [number | null]
  signal.removeEventListener('abort', end)
  signal.throwIfAborted()
  return status ?? 1
}

function onSnapshot(): number {
  say('This machine lets nobody but root make a mount namespace, and this is not root:')
  say('no real mounts can be made here, so here is the plan of a recorded node instead.')
  const snapshot = join('test', 'fixtures', 'captures', 'forcedel-killed', 'before.json')
  let worst = 0
  for (const args of [['plan'], ['plan', '--orphans']]) {
    const all = [...args, '--snapshot', snapshot]
    say(`\n$ volctl ${all.join(' ')}`)
    worst = Math.max(worst, spawnSync(volctl, all, { stdio: 'inherit', cwd: root }).status ?? 1)
  }
  return worst
}

function title(text: string): void {
  say(`\n== ${text}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
