/** Whole processes, timed in pairs: only the ratio of two that ran one after the other means anything here. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
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

export interface PairRatios {
  readonly pairs: number
  /** Median of subject/peer over the pairs, and its extremes. */
  readonly ratio: number
  readonly least: number
  readonly most: number
  /** Medians. */
  readonly subjectMs: number
  readonly peerMs: number
}

/** Runs both alternately, changing the order from pair to pair, after one unmeasured run of each. */
export async function pairRatios(subject: Timed, peer: Timed, pairs: number): Promise<PairRatios> {
  await timed(peer)
  await timed(subject)
  const subjectMs: number[] = []
  const peerMs: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    if (pair % 2 === 0) peerMs.push(await timed(peer))
    subjectMs.push(await timed(subject))
    if (pair % 2 === 1) peerMs.push(await timed(peer))
  }
  const ratios = subjectMs.map((ms, pair) => ms / (peerMs[pair] ?? Number.NaN))
  return {
    pairs,
    ratio: median(ratios),
    least: Math.min(...ratios),
    most: Math.max(...ratios),
    subjectMs: median(subjectMs),
    peerMs: median(peerMs),
  }
}

/** Milliseconds from start to end; throws if the command fails. */
async function timed({ command, env = {}, stdout = '/dev/null', before, after }: Timed): Promise<number> {
  await before?.()
  const [file = '', ...args] = command
  const output = openSync(stdout, 'w')
  const started = performance.now()
  const child = spawn(file, args, {
    stdio: ['ignore', output, 'pipe'],
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', ...env },
  })
  closeSync(output)
  const messages = child.stderr === null ? '' : text(child.stderr)
  const [status] = (await once(child, 'exit')) as [number | null]
  const ms = performance.now() - started
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${await messages}`)
  await after?.()
  return ms
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
