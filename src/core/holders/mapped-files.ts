/** Which processes have a file of some places mapped, which no descriptor need show: asked of a child that can be given up. */

import { errorMessage } from '../errors/errors.ts'
import { runCommand } from '../trust/programs.ts'
import { type MapAnswer, type MapRequest, mapAnswer } from './map-messages.ts'
import type { Places } from './places.ts'
import { type Holder, holder, type Suspect } from './process-files.ts'

export interface MappedFiles {
  readonly holders: readonly Holder[]
  /** In words, what could not be found out; empty: all was. */
  readonly unread: readonly string[]
}

export interface MapReader {
  /** Command line that starts it (map-reader.ts). */
  readonly command: readonly string[]
  /** Milliseconds, for all processes together. */
  readonly deadlineMs: number
}

/** A child is given up when it stands still, and the next one goes on behind the process that held it. */
const MOST_CHILDREN = 3

/** Named one by one. */
const MOST_PIDS = 4

/** @param suspects whose memory is looked at, each asked whether a path of its own lies in the places */
export async function mappedFiles(
  places: Places,
  suspects: readonly Suspect[],
  reader: MapReader,
): Promise<MappedFiles> {
  const byPid = Map.groupBy(suspects, ({ pid }) => pid)
  const { answers, unread } = await readMaps({ pids: [...byPid.keys()], devices: [...places.devices] }, reader)
  return { holders: holdersIn(answers, byPid), unread }
}

export interface ReadMaps {
  readonly answers: readonly MapAnswer[]
  /** In words, what could not be found out; empty: all was. */
  readonly unread: readonly string[]
}

/** What these processes have mapped, by a child that can be given up. */
export async function readMaps(
  { pids, ...question }: Omit<MapRequest, 'parent'>,
  { command: [program = '', ...args], deadlineMs }: MapReader,
): Promise<ReadMaps> {
  const answers: MapAnswer[] = []
  const silent: number[] = []
  let left = pids
  for (let tried = 1; left.length > 0 && tried <= MOST_CHILDREN; tried++) {
    const request: MapRequest = { parent: process.pid, pids: left, ...question }
    const { found, ended, why } = await askChild(program, args, request, deadlineMs / MOST_CHILDREN)
    answers.push(...found)
    left = left.slice(found.length)
    if (ended && left.length > 0) return { answers, unread: [why] }
    const [stuck] = left
    if (stuck !== undefined) silent.push(stuck)
    left = left.slice(1)
  }
  const failed = answers.flatMap(({ pid, error }) => (error === undefined || ENDED.has(error) ? [] : [pid]))
  const unread = [
    ...(silent.length > 0 ? [`what ${pidsText(silent)} mapped could not be read in time`] : []),
    ...(left.length > 0 ? [`what ${left.length} more processes have mapped was not read`] : []),
    ...(failed.length > 0 ? [`what ${pidsText(failed)} mapped may not be read`] : []),
  ]
  return { answers, unread }
}

const ENDED: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH'])

function pidsText(pids: readonly number[]): string {
  return pids.length > MOST_PIDS ? `${pids.length} processes` : pids.map((pid) => `pid ${pid}`).join(', ')
}

interface Child {
  readonly found: readonly MapAnswer[]
  /** By itself, before its time was up. */
  readonly ended: boolean
  readonly why: string
}

async function askChild(
  program: string,
  args: readonly string[],
  request: MapRequest,
  deadlineMs: number,
): Promise<Child> {
  let text = ''
  const onOutput = (piece: string): void => {
    text += piece
  }
  try {
    const { timedOut, stderr } = await runCommand(program, args, deadlineMs, JSON.stringify(request), { onOutput })
    const lines = text.split('\n').slice(0, -1)
    const found = lines.map((line) => mapAnswer(JSON.parse(line), ''))
    const words = stderr.trim().split('\n').at(-1)
    return { found, ended: !timedOut, why: `what processes have mapped was not read${words ? ` (${words})` : ''}` }
  } catch (error) {
    return { found: [], ended: true, why: `what processes have mapped was not read (${errorMessage(error)})` }
  }
}

function holdersIn(answers: readonly MapAnswer[], byPid: ReadonlyMap<number, readonly Suspect[]>): Holder[] {
  return answers.flatMap(({ pid, paths }) => {
    const isHeld = (path: string): boolean => byPid.get(pid)?.some(({ holds }) => holds(path)) === true
    return paths.filter(isHeld).map((path) => holder(pid, 'map', path))
  })
}
