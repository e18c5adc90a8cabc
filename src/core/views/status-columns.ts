/** The columns of `volctl status`, and the order in which they give way where the terminal is narrow. */
import { podTexts } from '../plan/pod-texts.ts'
import type { StatusRow, VerdictState } from '../status/status.ts'
import type { Column, TableForm } from './columns-table.ts'
import type { Cell } from './render-table.ts'
import type { Screen } from './screen.ts'
import { volumeText } from './words.ts'

/** @param says what each row comes to, in a few words */
export function nodeTable(
  all: readonly StatusRow[],
  says: (row: StatusRow) => string,
  { wide }: Screen,
): TableForm<StatusRow> {
  const names = podTexts(all.flatMap(({ pod }) => pod ?? []))
  return {
    owner: { head: 'POD', cell: ({ pod }) => (pod === undefined ? 'on the node' : names(pod)) },
    columns: [
      { head: 'VOLUME', cell: ({ podVolumeNames, volume }) => podVolumeNames.join(',') || volumeText(volume) },
      { head: 'SPEC NAME', cell: specName, stays: 1 },
      {
        head: 'PLUGIN',
        cell: ({ volume }) => volume.driver ?? volume.plugin.replace(/^kubernetes\.io\//, ''),
        stays: 4,
      },
      { head: 'WANTED', cell: ({ desired }) => WANTED[desired], stays: 5 },
      { head: 'ATTACHED', cell: attachedText, stays: 6 },
      { head: 'IN USE', cell: inUseText, stays: 3, tells: isInUseDoubtful },
      { head: 'STAGED', cell: ({ staged }) => (staged === undefined ? '' : STAGED[staged]), stays: 7 },
      { head: 'MOUNTED', cell: mountedText, stays: 8 },
      { head: 'DUE', cell: ({ due }) => due.join(','), stays: 2 },
      verdictColumn(says),
      ...(wide ? [NODE_CODES, WHY] : []),
    ],
    inWords: wide,
  }
}

const NODE_CODES: Column<StatusRow> = {
  head: 'CODE',
  cell: ({ verdict: { code = '', also } }) => [code, ...also].join(','),
  stays: 0,
}
/** The first to give way, as it is long. */
const WHY: Column<StatusRow> = { head: 'WHY', cell: ({ verdict }) => verdict.message, stays: -1 }

function verdictColumn(says: (row: StatusRow) => string): Column<StatusRow> {
  return {
    head: 'VERDICT',
    cell: (row, screen) => {
      const { state } = row.verdict
      return { text: `${signOf(state, screen)} ${says(row)}`, paint: colourOf(state, screen) }
    },
  }
}

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

function colourOf(state: VerdictState, { paint }: Screen): (text: string) => string {
  if (state === 'good') return paint.good
  return state === 'error' || state === 'blocked' ? paint.bad : paint.warn
}
