/**
 * What a run of the tests leaves on the machine when it is killed: temporary directories, and the loop devices on files
 * below them. Mounts go with their namespaces.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kernelTextIfAny } from '../../src/core/trust/kernel.ts'
import { detachLoops } from './detach-loops.ts'
import { BUNDLES } from './programs.ts'

const SWEEPER = join(import.meta.dirname, 'sweeper', 'main.ts')

/** A file of the run's own directory: a path a line. */
const RECORD = 'directories'

/** Makes a directory that is swept at the end of the run, whatever becomes of it; whoever makes it removes it. */
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
    // Somebody else is at it.
  }
  // One file system only: a mount that is still there is not walked into.
  spawnSync('rm', ['-rf', '--one-file-system', directory])
}

/** The kernel deletes no file that it swaps to; what a file is called there is no path from here. */
function swapOff(directory: string): void {
  const [, ...areas] = (kernelTextIfAny('/proc/swaps') ?? '').split('\n')
  if (areas.length > 0) spawnSync('find', [directory, '-xdev', '-name', 'swap-*', '-exec', 'swapoff', '{}', '+'])
}

/** @param run the run's own directory, which goes too */
export function sweepRun(run: string): void {
  for (const directory of (kernelTextIfAny(join(run, RECORD)) ?? '').split('\n')) if (directory !== '') sweep(directory)
  rmSync(run, { recursive: true, force: true })
}

/**
 * Starts what sweeps up after a run that ends without a word, by SIGKILL or with its whole process group: it waits for
 * a line or the end of its input, and gives those who were killed with the run a second to be gone.
 *
 * @returns tell it that nothing is left to do
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
