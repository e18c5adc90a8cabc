/** volctl's whole run, from outside: how it ended, what it said, how long it took and how much memory it and its children took. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { CHILDRENS_PEAK } from '../../../scripts/bench/measure.ts'
import { kernelTextIfAny, processIds } from '../../../src/core/trust/kernel.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'

/** What no run of volctl takes more of, whatever it is given to read. */
export const DEADLINE_MS = 60_000
export const LIMIT_MIB = 500

export interface WatchedRun {
  /** Undefined: ended by a signal. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
  /** By whom: who is late or large is killed. */
  readonly ended: 'itself' | 'late' | 'large'
  readonly seconds: number
  /** The most that one of its processes had in memory. */
  readonly peakMiB: number
  /** From the interruption until it was answered: by a word, or the end. Absent: it ended before. */
  readonly answeredMs?: number
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Of a shell, which has volctl and its arguments in "$@". */
  readonly script?: string
  readonly deadlineMs?: number
  /** When somebody presses Ctrl-C. */
  readonly interruptAtMs?: number
}

/** Far more than is allowed, far less than a machine has: whoever gets here would not have stopped. */
const KILL_MIB = 1200
const LOOK_EVERY_MS = 20
/** Of a text that never ends so much is kept. */
const KEPT_TEXT = 4 << 20

/**
 * Runs a command, ends as it does, and says the most KiB that a process of it had: the kernel counts to the end, also of what ends
 * between two looks.
 */
const COUNTED = `use Fcntl; open(my $say, '>&=', 3); fcntl($say, F_SETFD, FD_CLOEXEC); system(@ARGV); my $ended = $?;
print $say ${CHILDRENS_PEAK}; close($say); kill($ended & 127, $$) if $ended & 127; exit($ended >> 8)`

/** @param args of volctl */
export async function runWatched(args: readonly string[], options: RunOptions = {}): Promise<WatchedRun> {
  const { script = 'exec "$@"', env = process.env, cwd, deadlineMs = DEADLINE_MS } = options
  const begun = performance.now()
  const child = spawn('perl', ['-e', COUNTED, '/bin/sh', '-c', script, 'sh', VOLCTL, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env,
    detached: true,
    cwd,
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      if (said[name].length < KEPT_TEXT) said[name] += text
    })
  }
  let counted = ''
  child.stdio[3]?.on('data', (text) => {
    counted += text
  })
  let interruptedAt: number | undefined
  let answeredMs: number | undefined
  const answered = (): void => {
    if (interruptedAt !== undefined) answeredMs ??= Math.round(performance.now() - interruptedAt)
  }
  child.stderr?.on('data', (text: string) => void (/interrupted/i.test(text) && answered()))
  const interrupt =
    options.interruptAtMs === undefined
      ? undefined
      : setTimeout(() => {
          interruptedAt = performance.now()
          process.kill(-(child.pid ?? 0), 'SIGINT')
        }, options.interruptAtMs)
  let ended: WatchedRun['ended'] = 'itself'
  let peak = 0
  const look = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid ?? 0))
    if (performance.now() - begun > deadlineMs) ended = 'late'
    else if (peak > KILL_MIB) ended = 'large'
    else return
    killAll(child)
  }, LOOK_EVERY_MS)
  const [status] = (await once(child, 'close')) as [number | null]
  clearInterval(look)
  clearTimeout(interrupt)
  answered()
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  return {
    status: status ?? undefined,
    ...said,
    ended,
    seconds,
    peakMiB: Math.round(Math.max(peak, Number(counted) / 1024)),
    answeredMs,
  }
}

/** In MiB, of the one of its processes that had the most at any time. */
function peakOf(root: number): number {
  return Math.max(0, ...familyOf(root).map(highWaterOf))
}

function highWaterOf(pid: number): number {
  const kib = /^VmHWM:\s*(\d+) kB$/m.exec(kernelTextIfAny(`/proc/${pid}/status`) ?? '')?.[1]
  return kib === undefined ? 0 : Number(kib) / 1024
}

/** A process and its descendants, level by level. */
export function familyOf(root: number): readonly number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? kernelTextIfAny(`/proc/${name}/stat`) : undefined
    const parent = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (stat !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const family = [root]
  for (const pid of family) family.push(...(children.get(pid) ?? []))
  return family
}

function killAll({ pid = 0 }: ChildProcess): void {
  for (const each of familyOf(pid).toReversed()) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}

/** What it said on standard error as one line, and perhaps one on what to do; else what else it said. */
export function oneLine({ stderr }: Pick<WatchedRun, 'stderr'>): string {
  return /^volctl: .+\n(?: {8}.+\n)?$/.test(stderr) ||
    /^\{"apiVersion":"volctl.io\/v1","kind":"Error","code":.+\}\n$/.test(stderr)
    ? 'one line'
    : stderr.slice(0, 400)
}

/** Of a run with `-o json`: the code of the error that ended it. */
export function codeOf({ stderr }: Pick<WatchedRun, 'stderr'>): string | undefined {
  return /^\{"apiVersion":"volctl.io\/v1","kind":"Error","code":"(\w+)"/m.exec(stderr)?.[1]
}

/** Processes that nothing ends; without those of the test. */
export const stuck = (): string[] =>
  processIds().flatMap((pid) => {
    const command = kernelTextIfAny(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ') ?? ''
    return /\) D /.test(kernelTextIfAny(`/proc/${pid}/stat`) ?? '') && !command.includes('control') ? [command] : []
  })
