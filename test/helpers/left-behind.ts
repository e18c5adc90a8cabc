/**
 * What a run of the tests leaves on the machine when it is killed: temporary directories, and the loop devices on files
 * below them. Mounts go with their namespaces.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kernelTextIfAny } from '../../src/core/trust/kernel.ts'
import { detachLoops } from './detach-loops.ts'
import { BUNDLES } from './programs.ts'

const SWEEPER = join(import.meta.dirname, 'sweeper', 'main.ts')

/** A file in the run's own directory: one path per line. */
const RECORD = 'directories'

/** Makes a directory that is swept at the end of the run in any case; the caller should remove it. */
export function temporary(prefix: string): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
  const { [BUNDLES]: run } = process.env
  if (run !== undefined) appendFileSync(join(run, RECORD), `${directory}\n`)
  return directory
}

/** Removes a directory of the tests; the loop devices on its files, and the swap areas, first. */
export function sweep(directory: string): void {
  swapOff(directory)
  try {
    detachLoops(directory)
  } catch {
    // Another process is removing it.
  }
  // One file system only: a mount that is still there is not walked into.
  spawnSync('rm', ['-rf', '--one-file-system', directory])
}

/** The kernel deletes no file that it swaps to; the file's name in /proc/swaps may not be a path from here. */
function swapOff(directory: string): void {
  const [, ...areas] = (kernelTextIfAny('/proc/swaps') ?? '').split('\n')
  if (areas.length > 0) spawnSync('find', [directory, '-xdev', '-name', 'swap-*', '-exec', 'swapoff', '{}', '+'])
}

/** @param run the run's own directory, which is removed, too */
export function sweepRun(run: string): void {
  for (const directory of (kernelTextIfAny(join(run, RECORD)) ?? '').split('\n'))
    if (directory !== '' && existsSync(directory)) sweep(directory)
  rmSync(run, { recursive: true, force: true })
}

/**
 * Starts a sweeper for a run that is killed, alone or with its whole process group: it waits for a line or the end of its
 * input, and gives processes that were killed with the run a second to end.
 *
 * @returns to be called if nothing is left to sweep
 */
export function startSweeper(run: string): () => void {
  const script = 'read -r _ || { sleep 1; exec "$@"; }'
  const child: ChildProcess = spawn('sh', ['-c', script, 'sweeper', process.execPath, '--no-warnings', SWEEPER, run], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  })
  child.unref()
  return () => child.stdin?.end('done\n')
}
