/** Which processes have a file of some places mapped, perhaps without a descriptor: read by a child that can be abandoned. */

import { errorMessage } from '../errors/errors.ts'
import { namespaceOf } from '../trust/kernel.ts'
import { runCommand } from '../trust/programs.ts'
import { type MapAnswer, type MapRequest, mapAnswer } from './map-messages.ts'
import { type Holder, holder, type Suspect } from './process-files.ts'
import type { Places } from './searched-places.ts'

export interface MappedFiles {
  readonly holders: readonly Holder[]
  /** What could not be read, for messages; empty: everything was. */
  readonly unread: readonly string[]
}

export interface MapReader {
  /** Command line that starts it (map-reader.ts). */
  readonly command: readonly string[]
  /** Milliseconds, for all processes together. */
  readonly deadlineMs: number
}

/** A child that hangs is abandoned, and the next one continues after the process that made it hang. */
const MOST_CHILDREN = 3

/** How many processes are named; more are counted. */
const MOST_PIDS = 4

/**
 * @param suspects processes whose maps are read; each judges whether a path of its own is in the places
 * @param known maps that another search has just read: only those that it lacks are read again
 */
export async function mappedFiles(
  places: Places,
  suspects: readonly Suspect[],
  reader: MapReader,
  known?: KnownMaps,
): Promise<MappedFiles> {
  const byPid = Map.groupBy(suspects, ({ pid }) => pid)
  const devices = [...places.devices]
  const isKnown = known !== undefined && devices.every((device) => known.devices.includes(device))
  // What it could not read, it reports itself.
  const asked = new Set(isKnown ? known.pids : [])
  // A process that has ended since needs no child to say so.
  const pids = [...byPid.keys()].filter((pid) => !asked.has(pid) && namespaceOf(pid, 'mnt') !== undefined)
  const { answers, unread } = await readMaps({ pids, devices }, reader)
  return { holders: holdersIn([...(isKnown ? known.answers : []), ...answers], byPid), unread }
}

/** Memory maps as one search has read them, for another one at the same moment. */
export interface KnownMaps {
  /** "major:minor" of the file systems whose mapped files were looked for. */
  readonly devices: readonly string[]
  /** Processes that were asked about. */
  readonly pids: readonly number[]
  readonly answers: readonly MapAnswer[]
}

export interface ReadMaps {
  readonly answers: readonly MapAnswer[]
  /** What could not be read, for messages; empty: everything was. */
  readonly unread: readonly string[]
}

/** The memory maps of these processes, read by a child that can be abandoned. */
export async function readMaps(
  { pids, ...question }: Omit<MapRequest, 'parent'>,
  { command: [program = '', ...args], deadlineMs }: MapReader,
): Promise<ReadMaps> {
  const answers: MapAnswer[] = []
  const silent: number[] = []
  let rest = pids
  for (let tried = 1; rest.length > 0 && tried <= MOST_CHILDREN; tried++) {
    const request: MapRequest = { parent: process.pid, pids: rest, ...question }
    const { found, ended, why } = await askChild(program, args, request, deadlineMs / MOST_CHILDREN)
    answers.push(...found)
    rest = rest.slice(found.length)
    if (ended && rest.length > 0) return { answers, unread: [why] }
    const [stuck] = rest
    if (stuck !== undefined) silent.push(stuck)
    rest = rest.slice(1)
  }
  const failed = answers.flatMap(({ pid, error }) => (error === undefined || ENDED.has(error) ? [] : [pid]))
  const unread = [
    ...(silent.length > 0 ? [`the memory maps of ${pidsText(silent)} could not be read in time`] : []),
    ...(rest.length > 0 ? [`the memory maps of ${rest.length} more processes were not read`] : []),
    ...(failed.length > 0 ? [`volctl may not read the memory maps of ${pidsText(failed)}`] : []),
  ]
  return { answers, unread }
}

const ENDED: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH'])

function pidsText(pids: readonly number[]): string {
  return pids.length > MOST_PIDS ? `${pids.length} processes` : pids.map((pid) => `pid ${pid}`).join(', ')
}

interface Child {
  readonly found: readonly MapAnswer[]
  /** True if the child ended by itself, before its deadline. */
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
    const reason = stderr.trim().split('\n').at(-1)
    return { found, ended: !timedOut, why: `the memory maps of processes were not read${reason ? ` (${reason})` : ''}` }
  } catch (error) {
    return { found: [], ended: true, why: `the memory maps of processes were not read (${errorMessage(error)})` }
  }
}

function holdersIn(answers: readonly MapAnswer[], byPid: ReadonlyMap<number, readonly Suspect[]>): Holder[] {
  return answers.flatMap(({ pid, paths }) => {
    const isHeld = (path: string): boolean => byPid.get(pid)?.some(({ holds }) => holds(path)) === true
    return paths.filter(isHeld).map((path) => holder(pid, 'map', path))
  })
}
