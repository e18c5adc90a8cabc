/**
 * `volctl status` on a screen: the answer, and below what needs a person a row for each volume, the worst first. What
 * is good is only counted, and as many rows are shown as leave room for the answer, unless all is asked for.
 */

import { alike, count, present, tally } from '../base/text.ts'
import type { StatusAndPlan } from '../explain/status/node-status.ts'
import type { RowVerdict, Status, StatusRow } from '../explain/status/status.ts'
import { CAUSE_KINDS } from '../messages/code-entry.ts'
import type { Cause } from '../plan/cause.ts'
import { podTexts } from '../plan/names.ts'
import type { Plan } from '../plan/plan.ts'
import { isApiContent, liftingFlag } from '../plan/plan-summary.ts'
import { answerOf } from './answer/make-answer.ts'
import { verbsOf } from './answer/ready.ts'
import { renderAnswer } from './answer-view.ts'
import { type Cell, columnsTable, type TableForm } from './columns-table.ts'
import { type Screen, type Symbols, screenLines, volumeText } from './screen.ts'

interface StatusOptions {
  /** Show what is good, and every row. */
  readonly all: boolean
  /** Where its commands are typed, if that is not here. */
  readonly place?: string
}

/** What is good is only counted, unless all is asked for, or the Node's status says otherwise of its use. */
export function shownRows(rows: readonly StatusRow[], all: boolean): readonly StatusRow[] {
  return all ? rows : rows.filter((row) => row.verdict.state !== 'good' || isInUseDoubtful(row))
}

/** However little room there is. */
const LEAST_LINES = 4
/** What a person reads of a pipe at a time. */
const PIPE_LINES = 40

export function renderStatus({ status, plan }: StatusAndPlan, screen: Screen, { all, place }: StatusOptions): string {
  const unfolded = all || screen.wide
  const answer = answerOf(plan)
  // What is ready, each row says.
  const parts = answer.parts.filter(({ name }) => name !== 'Ready')
  const drawn = { ...answer, parts, counts: countsLine(status, answer.needs.length === 0) }
  const withTable = (table: string): string => renderAnswer(drawn, screen, { unfolded, place, more: [table] })
  if (unfolded) return withTable(tableOf(status, plan, screen))
  // The prompt and the blank line above the table.
  const room = (screen.rows ?? PIPE_LINES) - screenLines(withTable(''), screen.width) - 2
  return withTable(tableOf(status, plan, screen, Math.max(LEAST_LINES, room)))
}

/** @param lines that it may take; absent: any number, and nothing is folded */
function tableOf({ rows: all }: Status, plan: Plan, screen: Screen, lines?: number): string {
  const unfolded = shownRows(all, lines === undefined)
  const shown = lines === undefined ? unfolded : foldContent(unfolded)
  if (shown.length === 0) return ''
  const form = nodeTable(all, rowSays(plan), screen)
  const good = all.length - unfolded.length
  const [are, them] = good === 1 ? ['is', 'it'] : ['are', 'them']
  const foot = good === 0 ? '' : `and ${count(good, 'volume')} that ${are} good (-v shows ${them})\n`
  let rows = lines === undefined ? shown : shown.slice(0, lines)
  for (;;) {
    const more = shown.length - rows.length
    const text = `${columnsTable(form, rows, screen)}${more === 0 ? foot : `and ${more + good} more (-v shows them)\n`}`
    const excess = lines === undefined ? 0 : text.split('\n').length - 1 - lines
    if (excess <= 0 || rows.length === 1) return text
    rows = rows.slice(0, Math.max(1, rows.length - excess))
  }
}

/** Config maps and their like of one pod that share one fate are one row, in the place of the first. */
function foldContent(rows: readonly StatusRow[]): readonly StatusRow[] {
  return alike(rows, likeness).map(([row, ...others]) => {
    if (others.length === 0) return row
    const name = `${others.length + 1} config volumes`
    return { ...row, podVolumeNames: [name], volume: { ...row.volume, name, plugin: '' } }
  })
}

function likeness(row: StatusRow): unknown {
  const { pod, volume, desired, mounted, dead, due, verdict, causes } = row
  if (pod === undefined || !isApiContent(volume)) return row
  return JSON.stringify([pod.uid, desired, mounted, dead, due, verdict.state, causes])
}

/** How a state is counted, its sign, and what is said of it where no cause has the words. */
const STATES: Readonly<Record<RowVerdict['state'], readonly [counted: string, sign: keyof Symbols, says?: string]>> = {
  error: ['error', 'bad'],
  blocked: ['blocked', 'bad'],
  unknown: ['unknown', 'unknown', 'could not be judged'],
  waiting: ['waiting', 'waiting'],
  operation: ['ready', 'arrow'],
  notAsked: ['not asked', 'warn'],
  warning: ['warning', 'warn'],
  kept: ['left alone', 'waiting', 'stays'],
  good: ['good', 'good', 'good'],
}

/** @param isWell nothing needs a person */
function countsLine({ rows, summary }: Status, isWell: boolean): string {
  const { orphanedPods, filtered } = summary
  const isAllGood = isWell && rows.every(({ verdict: { state } }) => state === 'good')
  const states = tally(rows.map(({ verdict: { state } }) => STATES[state][0]))
  const counts = present(
    rows.length === 0
      ? 'No volumes'
      : `${count(rows.length, 'volume')}: ${isAllGood ? 'all are as they should be' : states}`,
    orphanedPods > 0 && count(orphanedPods, 'orphaned pod'),
    filtered > 0 && `${filtered} left out by names`,
  )
  return `${counts.join('; ')}.`
}

// The columns of `volctl status`, and the order in which they give way where the terminal is narrow.

/** @param says what each row comes to, in a few words */
function nodeTable(
  all: readonly StatusRow[],
  says: (row: StatusRow) => string,
  { wide }: Screen,
): TableForm<StatusRow> {
  const names = podTexts(all.flatMap(({ pod }) => pod ?? []))
  return {
    owner: { head: 'POD', cell: ({ pod }) => (pod === undefined ? 'on the node' : names(pod)) },
    columns: [
      { head: 'VOLUME', cell: ({ podVolumeNames, volume }) => podVolumeNames.join(',') || volumeText(volume) },
      {
        // Where it is another than what the pod calls the volume.
        head: 'SPEC NAME',
        cell: ({ podVolumeNames, volume }) =>
          podVolumeNames.length === 0 || podVolumeNames.includes(volume.name) ? '' : volume.name,
        stays: 1,
      },
      {
        head: 'PLUGIN',
        cell: ({ volume }) => volume.driver ?? volume.plugin.replace(/^kubernetes\.io\//, ''),
        stays: 4,
      },
      { head: 'WANTED', cell: ({ desired }) => WANTED[desired], stays: 5 },
      { head: 'ATTACHED', cell: attachedText, stays: 6 },
      { head: 'IN USE', cell: inUseText, stays: 3, tells: isInUseDoubtful },
      { head: 'STAGED', cell: ({ staged }) => (staged === undefined ? '' : MOUNTED[staged]), stays: 7 },
      { head: 'MOUNTED', cell: mountedText, stays: 8 },
      { head: 'DUE', cell: ({ due }) => due.join(','), stays: 2 },
      {
        head: 'VERDICT',
        cell: (row, { symbols, paint: { good, bad, warn } }) => {
          const [, sign] = STATES[row.verdict.state]
          return { text: `${symbols[sign]} ${says(row)}`, paint: { good, bad }[sign as 'good'] ?? warn }
        },
      },
      { head: 'CODE', cell: ({ verdict: { code = '', also } }) => (wide ? [code, ...also].join(',') : ''), stays: 0 },
      // The first to give way, as it is long.
      { head: 'WHY', cell: ({ verdict }) => (wide ? verdict.message : ''), stays: -1 },
    ],
    inWords: wide,
  }
}

const WANTED = {
  wanted: 'yes',
  unresolved: 'unresolved',
  ended: 'ended',
  unknown: 'unknown',
  notWanted: 'no',
} as const

const MOUNTED = {
  DeviceGloballyMounted: 'yes',
  DeviceMountUncertain: 'uncertain',
  DeviceNotMounted: 'no',
  VolumeMounted: 'yes',
  VolumeMountUncertain: 'uncertain',
  VolumeNotMounted: 'no',
} as const

function attachedText({ attach }: StatusRow): string {
  if (attach === undefined) return ''
  const { attached, nodeStatus, attachment, elsewhere, needed } = attach
  const [here] = present(
    attached && 'yes',
    attachment?.deleting && 'detaching',
    nodeStatus && 'status only',
    attachment?.attached && 'not reported',
    needed === 'unknown' && 'unknown',
    'no',
  )
  return present(here, elsewhere.length > 0 && `on ${elsewhere.join(',')}`).join(', ')
}

/** What the kubelet would report is not what the Node's status says. */
function isInUseDoubtful({ inUse }: StatusRow): boolean {
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

// What a table says of one of its rows, in a few words: what is ready, or what the worst of its causes comes to.

/** @param plan that the rows were made with */
function rowSays({ operations, summary: { causes = [] } }: Plan) {
  const byId = new Map(operations.map((each) => [each.id, each]))
  const byKey = new Map(causes.map((each) => [each.key, each]))
  return ({ verdict: { state }, operations: ids, causes: [worst = ''] }: StatusRow) => {
    const own = ids.flatMap((id) => byId.get(id) ?? [])
    const cause = byKey.get(worst)
    if (state === 'operation') return `ready: ${verbsOf(own)}`
    const [flag] = state === 'notAsked' ? own.flatMap((each) => liftingFlag(each) ?? []) : []
    if (flag !== undefined) return `needs ${flag}`
    const [, , words = cause === undefined ? state : wordsOf(cause)] = STATES[state]
    return words
  }
}

/** `waits for loop.pg.test`. */
function wordsOf({ kind, code, subject: { driver } }: Cause): string {
  // Before the words of its kind: who acts next has to be said first.
  if (code === 'ReportedUnused') return "still in the Node's status"
  return kind === 'driver' && driver !== undefined ? `waits for ${driver}` : CAUSE_KINDS[kind].says
}
