/** Whole processes, timed in rounds: only the ratio of two that ran one after the other means anything here. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'

/** One command line to be timed. */
export interface Timed {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** File that receives standard output; default: /dev/null. */
  readonly stdout?: string
  /** Called before each run, not timed. */
  readonly before?: () => Promise<void> | void
  /** Called after each run, not timed: throws if the run did not do its work. */
  readonly after?: () => Promise<void> | void
}

/** What one run took. */
export interface Run {
  readonly ms: number
  /** User and system time, in steps of 10 ms. */
  readonly cpuMs: number
}

export interface Ratios {
  readonly rounds: number
  /** Median of subject/peer over the rounds, and its extremes. */
  readonly ratio: number
  readonly least: number
  readonly most: number
  /** Medians, in `unit`. */
  readonly subject: number
  readonly peer: number
  readonly unit: 'ms' | 'MB'
  /** Of the sums over all rounds. */
  readonly cpuRatio?: number
}

/** Runs all, one after the other, in an order that turns from round to round, after one unmeasured run of each. */
export async function inRounds<K extends string>(
  commands: Readonly<Record<K, Timed>>,
  rounds: number,
): Promise<Readonly<Record<K, readonly Run[]>>> {
  const names = Object.keys(commands) as K[]
  const runs = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, Run[]>
  for (const name of names) await timed(commands[name])
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const name of order) runs[name].push(await timed(commands[name]))
  }
  return runs
}

/** The ratio of two commands of the same rounds. */
export function ratios(subject: readonly Run[], peer: readonly Run[]): Ratios {
  const cpu = (runs: readonly Run[]): number => runs.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  const ms = (runs: readonly Run[]): number[] => runs.map((run) => run.ms)
  return { ...ratiosOf(ms(subject), ms(peer), 'ms'), cpuRatio: cpu(subject) / cpu(peer) }
}

/** @param peer as many values as the subject has, or one that holds for all */
export function ratiosOf(subject: readonly number[], peer: readonly number[], unit: Ratios['unit']): Ratios {
  const each = subject.map((value, round) => value / (peer[round] ?? peer[0] ?? Number.NaN))
  return {
    rounds: subject.length,
    ratio: median(each),
    least: Math.min(...each),
    most: Math.max(...each),
    subject: median(subject),
    peer: median(peer),
    unit,
  }
}

/** @throws if the command fails */
export async function timed({ command, env = {}, stdout = '/dev/null', before, after }: Timed): Promise<Run> {
  await before?.()
  const [file = '', ...args] = command
  const output = openSync(stdout, 'w')
  const cpuBefore = childrenCpuMs()
  const started = performance.now()
  const child = spawn(file, args, {
    stdio: ['ignore', output, 'pipe'],
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', ...env },
  })
  closeSync(output)
  const messages = child.stderr === null ? '' : text(child.stderr)
  const [status] = (await once(child, 'exit')) as [number | null]
  const ms = performance.now() - started
  const cpuMs = childrenCpuMs() - cpuBefore
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${await messages}`)
  await after?.()
  return { ms, cpuMs }
}

/** User and system time of all children that have ended: proc_pid_stat(5), cutime and cstime, in ticks of 10 ms. */
function childrenCpuMs(): number {
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(13, 15)
  return (Number(user) + Number(system)) * 10
}

const GETRUSAGE: Readonly<Record<string, number>> = { x64: 98, arm64: 165 }
/** An expression of perl: the most KiB that an ended child ever used, by getrusage(2). */
export const CHILDRENS_PEAK = `do { my $usage = "\\0" x 144; syscall(${GETRUSAGE[process.arch]}, -1, $usage); unpack("x32 q", $usage) }`

/** Of the program alone, started by a small one, since a child begins as large as its parent. */
const PEAK_MEMORY = `open(STDOUT, ">", $ENV{OUTPUT}); system(@ARGV) == 0 or exit 1; print STDERR ${CHILDRENS_PEAK}`

/** One run with the peak memory of the program alone, in MB. @throws if it fails */
export async function weighed({
  command,
  env = {},
  stdout = '/dev/null',
}: Timed): Promise<Run & { readonly mb: number }> {
  const cpuBefore = childrenCpuMs()
  const started = performance.now()
  const child = spawn('perl', ['-e', PEAK_MEMORY, ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', OUTPUT: stdout, ...env },
  })
  const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number | null]>])
  const ms = performance.now() - started
  if (status !== 0) throw new Error(`${command.join(' ')} failed: ${said}`)
  return { ms, cpuMs: childrenCpuMs() - cpuBefore, mb: Number(said.trim().split('\n').at(-1)) / 1024 }
}

/** The peak memory of a command, in MB. @throws if it fails */
export async function peakMemory(command: Timed): Promise<number> {
  return (await weighed(command)).mb
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
