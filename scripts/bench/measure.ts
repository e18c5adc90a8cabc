/** Whole processes, timed in rounds: only the ratio of two that ran one after the other means anything here. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** One command line to be timed. */
export interface Timed {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Called before each run, not timed. */
  readonly before?: () => Promise<void>
  /** Called after each run, not timed: throws if the run did not do its work. */
  readonly after?: () => void
}

export type Ratio = ReturnType<typeof ratio>

/** One demand, and what was measured. */
export interface Row {
  readonly name: string
  /** What it is measured against. */
  readonly peer: string
  /** The highest ratio that is allowed. */
  readonly atMost: number
  readonly measured: Ratio
}

/** Runs both in turns, the first to begin changing from round to round, after one unmeasured run of each. */
export async function compared(subject: Timed, peer: Timed, rounds: number): Promise<Ratio> {
  const commands = [subject, peer] as const
  const found: [number[], number[]] = [[], []]
  for (const each of commands) await run(each)
  for (let round = 0; round < rounds; round++) {
    for (const at of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
      found[at].push((await run(commands[at])).ms)
  }
  return ratio(...found, 'ms')
}

/** Of a subject to its peer, over the rounds, and medians of both. @param peer as many values as the subject has */
export function ratio(subject: readonly number[], peer: readonly number[], unit: 'ms' | 'MB') {
  const each = subject.map((value, round) => value / (peer[round] ?? Number.NaN))
  return {
    rounds: subject.length,
    median: median(each),
    least: Math.min(...each),
    most: Math.max(...each),
    subject: median(subject),
    peer: median(peer),
    unit,
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[sorted.length >> 1] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2
}

/** What it took, and said. @throws if the command fails */
async function run({
  command,
  env = {},
  before,
  after,
}: Timed): Promise<{ readonly ms: number; readonly said: string }> {
  await before?.()
  const [file = '', ...args] = command
  const started = performance.now()
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', ...env },
  })
  const ended = once(child, 'exit').then(([status]) => ({ status, ms: performance.now() - started }))
  const [{ status, ms }, said] = await Promise.all([ended, text(child.stderr)])
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${said}`)
  after?.()
  return { ms, said }
}

const GETRUSAGE: Readonly<Record<string, number>> = { x64: 98, arm64: 165 }
/** An expression of perl: the most KiB that an ended child ever used, by getrusage(2). */
export const CHILDRENS_PEAK = `do { my $usage = "\\0" x 144; syscall(${GETRUSAGE[process.arch]}, -1, $usage); unpack("x32 q", $usage) }`

/** Of the program alone, started by a small one, since a child begins as large as its parent. */
const PEAK_MEMORY = `system(@ARGV) == 0 or exit 1; print STDERR ${CHILDRENS_PEAK}`

/** One run, with the peak memory of the program alone. @throws if it fails */
export async function weighed(of: Timed): Promise<{ readonly ms: number; readonly mb: number }> {
  const { ms, said } = await run({ ...of, command: ['perl', '-e', PEAK_MEMORY, ...of.command] })
  return { ms, mb: Number(said.trim().split('\n').at(-1)) / 1024 }
}
