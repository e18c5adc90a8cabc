/** The columns of `volctl status`, and the order in which they give way where the terminal is narrow. */
import type { StatusRow, VerdictState } from '../status/status.ts'
import type { Cell } from './render-table.ts'
import type { Screen } from './screen.ts'
import { volumeText } from './words.ts'

export interface Column {
  readonly head: string
  readonly cell: (row: StatusRow, screen: Screen) => Cell
  /** The lowest gives way first; absent: it stays. */
  readonly stays?: number
  /** A row of which the column tells something that is wrong: the column then gives way after all others. */
  readonly tells?: (row: StatusRow) => boolean
}

/** Without the pod, which is a column of its own or the head of its rows. */
export const COLUMNS: readonly Column[] = [
  { head: 'VOLUME', cell: ({ podVolumeNames, volume }) => podVolumeNames.join(',') || volumeText(volume) },
  { head: 'SPEC NAME', cell: specName, stays: 1 },
  { head: 'PLUGIN', cell: ({ volume }) => volume.driver ?? volume.plugin.replace(/^kubernetes\.io\//, ''), stays: 4 },
  { head: 'WANTED', cell: ({ desired }) => WANTED[desired], stays: 5 },
  { head: 'ATTACHED', cell: attachedText, stays: 6 },
  { head: 'IN USE', cell: inUseText, stays: 3, tells: isInUseDoubtful },
  { head: 'STAGED', cell: ({ staged }) => (staged === undefined ? '' : STAGED[staged]), stays: 7 },
  { head: 'MOUNTED', cell: mountedText, stays: 8 },
  { head: 'DUE', cell: ({ due }) => due.join(','), stays: 2 },
  { head: 'VERDICT', cell: verdictCell },
]

/** Only with -o wide. */
export const ALSO: Column = { head: 'ALSO', cell: ({ verdict }) => verdict.also.join(','), stays: 0 }
export const WHY: Column = { head: 'WHY', cell: ({ verdict }) => verdict.message }

const WANTED = {
  wanted: 'yes',
  unused: 'unused',
  unresolved: 'unresolved',
  ended: 'ended',
  unknown: 'unknown',
  notWanted: 'no',
} as const

const STAGED = { DeviceGloballyMounted: 'yes', DeviceMountUncertain: 'uncertain', DeviceNotMounted: 'no' } as const

const MOUNTED = { VolumeMounted: 'yes', VolumeMountUncertain: 'uncertain', VolumeNotMounted: 'no' } as const

/** Where it is another than what the pod calls the volume. */
function specName({ podVolumeNames, volume }: StatusRow): string {
  return podVolumeNames.length === 0 || podVolumeNames.includes(volume.name) ? '' : volume.name
}

function attachedText({ attach }: StatusRow): string {
  if (attach === undefined) return ''
  const { attached, nodeStatus, attachment, elsewhere, needed } = attach
  const here = attached
    ? 'yes'
    : attachment?.deleting
      ? 'detaching'
      : nodeStatus
        ? 'status only'
        : attachment?.attached
          ? 'object only'
          : needed === 'unknown'
            ? 'unknown'
            : 'no'
  return elsewhere.length === 0 ? here : `${here}, on ${elsewhere.join(',')}`
}

/** What the kubelet would report is not what the Node's status says. */
export function isInUseDoubtful({ inUse }: StatusRow): boolean {
  return inUse !== undefined && inUse.computed !== inUse.reported
}

/** What the kubelet would report beside what the Node's status says. */
function inUseText({ inUse }: StatusRow): string {
  if (inUse === undefined) return ''
  const { computed, reported } = inUse
  if (computed === reported) return computed ? 'yes' : 'no'
  return computed ? 'not reported' : 'only reported'
}

function mountedText({ mounted, mountsNothing, dead }: StatusRow, { paint }: Screen): Cell {
  if (dead !== undefined) return { text: 'dead', paint: paint.bad }
  if (mounted === undefined) return ''
  if (mountsNothing) return '-'
  return mounted === 'VolumeMountUncertain' ? { text: MOUNTED[mounted], paint: paint.warn } : MOUNTED[mounted]
}

/** In the plan's words. */
export const VERDICTS: Readonly<Record<VerdictState, string>> = {
  error: 'error',
  blocked: 'blocked',
  unknown: 'unknown',
  waiting: 'waiting',
  operation: 'ready',
  notAsked: 'not asked',
  warning: 'warning',
  kept: 'left alone',
  good: 'good',
}

function verdictCell({ verdict: { state, code } }: StatusRow, screen: Screen): Cell {
  const text = [signOf(state, screen), VERDICTS[state], code].filter((part) => part !== undefined).join(' ')
  return { text, paint: colourOf(state, screen) }
}

function signOf(state: VerdictState, { symbols }: Screen): string {
  const { good, bad, warn, unknown, waiting, arrow } = symbols
  const signs = {
    error: bad,
    blocked: bad,
    unknown,
    waiting,
    operation: arrow,
    notAsked: warn,
    warning: warn,
    kept: waiting,
    good,
  }
  return signs[state]
}

export function colourOf(state: VerdictState, { paint }: Screen): (text: string) => string {
  if (state === 'good') return paint.good
  return state === 'error' || state === 'blocked' ? paint.bad : paint.warn
}
