/** `volctl status --cluster` on a screen: a row for each volume on each node, the worst first; what is good is only counted. */

import { count } from '../lang/count.ts'
import type {
  ClusterStatus,
  ClusterStatusRow,
  ClusterVerdictState,
  OnNode,
  StatusFleet,
} from '../plan/cluster-status.ts'
import { podName } from '../plan/pod-name.ts'
import { fleetWords } from './fleet-words.ts'
import { type Cell, cellText, renderTable, tableWidth } from './render-table.ts'
import type { Screen } from './screen.ts'
import { seconds } from './words.ts'
import { wrapped } from './wrap.ts'

/** Rows that are shown, unless all is asked for: at least so many, and as many as leave room for the rest on the screen. */
const LEAST_ROWS = 7
const OTHER_LINES = 17
const MOST_CODES = 3

const WORDS: Readonly<Record<ClusterVerdictState, string>> = {
  error: 'error',
  blocked: 'blocked',
  unknown: 'unknown',
  waiting: 'waiting',
  operation: 'ready',
  warning: 'warning',
  good: 'good',
}

const CONTROLLER = { lives: 'lives', mayLive: 'may live', dead: 'does not run' } as const

/** What is good is only counted, unless all is asked for. */
export function shownClusterRows(rows: readonly ClusterStatusRow[], all: boolean): readonly ClusterStatusRow[] {
  return all ? rows : rows.filter(({ verdict }) => verdict.state !== 'good')
}

/** @param all show what is good, and every row */
export function renderClusterStatus(status: ClusterStatus, screen: Screen, all: boolean, suffix: string): string {
  const { cluster, controller, createdAt, rows, refused, fleet } = status
  const { width, rows: height = 0, paint } = screen
  const unfolded = all || screen.wide
  const worth = shownClusterRows(rows, unfolded)
  const shown = unfolded ? worth : worth.slice(0, Math.max(LEAST_ROWS, height - OTHER_LINES))
  const good = rows.length - worth.length
  const more = worth.length - shown.length
  return [
    wrapped('', `Cluster ${cluster.server}, as of ${seconds(createdAt)}`, width, paint.bold),
    wrapped('', `The attach/detach controller ${CONTROLLER[controller.state]}: ${controller.note}`, width),
    fleet === undefined ? '' : wrapped('Snapshots: ', fleetWords(fleet), width),
    refused === undefined ? '' : wrapped('Refused: ', refused.message, width, paint.bad),
    shown.length === 0 ? '' : `\n${rowsText(shown, screen)}`,
    more > 0 ? `and ${more} more (-v shows them)\n` : '',
    good > 0 && shown.length > 0 ? `and ${count(good, 'volume')} that ${good === 1 ? 'is' : 'are'} good\n` : '',
    screen.wide ? '' : whyText(worth, screen),
    '\n',
    ...lastLines(status, suffix).map((line) => wrapped('', line, width, paint.bold)),
  ].join('')
}

interface Column {
  readonly head: string
  readonly cell: (row: ClusterStatusRow, screen: Screen) => Cell
}

const NODE: Column = { head: 'NODE', cell: ({ node }) => node }
const VOLUME: Column = { head: 'VOLUME', cell: ({ volume }) => volume.claim ?? volume.name }
const PODS: Column = { head: 'WANTED BY', cell: ({ desired, pods }) => podsText(desired, pods.map(podName)) }
const ATTACHED: Column = { head: 'ATTACHED', cell: attachedText }
const IN_USE: Column = { head: 'IN USE', cell: ({ inUse }) => (inUse ? 'yes' : 'no') }
/** What its snapshot shows. */
const ON_NODE: Column = { head: 'ON NODE', cell: ({ onNode }) => (onNode === undefined ? '-' : onNodeText(onNode)) }
const ATTACHMENT: Column = {
  head: 'ATTACHMENT',
  cell: ({ attachments }) => attachments.map(({ name }) => name).join(','),
}
const WHY: Column = { head: 'WHY', cell: ({ verdict }) => verdict.message }
const VERDICT: Column = {
  head: 'VERDICT',
  cell: ({ verdict: { state, code } }, { paint }) => verdictCell(state, code, paint),
}

/** The widest that fits; else each row in words. */
const LAYOUTS: readonly (readonly Column[])[] = [
  [NODE, VOLUME, PODS, ATTACHED, IN_USE, VERDICT],
  [NODE, VOLUME, ATTACHED, IN_USE, VERDICT],
  [NODE, VOLUME, ATTACHED, VERDICT],
]
const WIDE: readonly Column[] = [NODE, VOLUME, PODS, ATTACHED, IN_USE, ATTACHMENT, VERDICT, WHY]

/** With snapshots of nodes, the same and what they show. */
const FLEET_LAYOUTS: readonly (readonly Column[])[] = [
  [NODE, VOLUME, PODS, ATTACHED, IN_USE, ON_NODE, VERDICT],
  [NODE, VOLUME, ATTACHED, IN_USE, ON_NODE, VERDICT],
  [NODE, VOLUME, ATTACHED, ON_NODE, VERDICT],
  [NODE, VOLUME, ON_NODE, VERDICT],
]
const FLEET_WIDE: readonly Column[] = [NODE, VOLUME, PODS, ATTACHED, IN_USE, ON_NODE, ATTACHMENT, VERDICT, WHY]

function layoutsFor(rows: readonly ClusterStatusRow[], wide: boolean): readonly (readonly Column[])[] {
  if (!rows.some(({ onNode }) => onNode !== undefined)) return wide ? [WIDE] : LAYOUTS
  return wide ? [FLEET_WIDE] : FLEET_LAYOUTS
}

function rowsText(rows: readonly ClusterStatusRow[], screen: Screen): string {
  const { width, wide } = screen
  const layouts = layoutsFor(rows, wide)
  for (const columns of layouts) {
    const heads = columns.map(({ head }) => head)
    const cells = rows.map((row) => columns.map(({ cell }) => cell(row, screen)))
    if (width === undefined || tableWidth(heads, cells) <= width) return renderTable(heads, cells)
  }
  const [told = []] = layouts
  return (wide ? undefined : byNode(rows, screen)) ?? rows.map((row) => inWords(row, told, screen)).join('')
}

/** Rows below their node. @returns undefined where even that is too wide */
function byNode(rows: readonly ClusterStatusRow[], screen: Screen): string | undefined {
  const { width = Number.POSITIVE_INFINITY, paint } = screen
  const groups = [...Map.groupBy(rows, ({ node }) => node)]
  const columns = [
    { ...VOLUME, cell: (row: ClusterStatusRow) => `  ${cellText(VOLUME.cell(row, screen))}` },
    ATTACHED,
    ...(rows.some(({ onNode }) => onNode !== undefined) ? [ON_NODE] : []),
    VERDICT,
  ]
  const heads = columns.map(({ head }, index) => (index === 0 ? `  ${head}` : head))
  const cells = groups.flatMap(([, own]) => own.map((row) => columns.map(({ cell }) => cell(row, screen))))
  if (tableWidth(heads, cells) > width) return undefined
  const [head = '', ...lines] = renderTable(heads, cells).trimEnd().split('\n')
  let next = 0
  const texts = groups.map(([node, own]) => {
    const text = lines.slice(next, next + own.length).join('\n')
    next += own.length
    return `${wrapped('', node, width, paint.bold)}${text}\n`
  })
  return `${head}\n${texts.join('')}`
}

function inWords(row: ClusterStatusRow, [, ...told]: readonly Column[], screen: Screen): string {
  const words = told.flatMap(({ head, cell }) => {
    const text = cellText(cell(row, screen))
    return text === '' ? [] : [`${head.toLowerCase()} ${text}`]
  })
  return wrapped('  ', `node ${row.node}: ${words.join('; ')}`, screen.width)
}

function podsText(desired: ClusterStatusRow['desired'], [first, ...others]: readonly string[]): string {
  if (first === undefined) return '-'
  const names = others.length === 0 ? first : `${first} +${others.length}`
  return desired === 'ended' ? `${names} (ended)` : names
}

function attachedText({ attachments, confirmed }: ClusterStatusRow): string {
  if (attachments.some(({ deleting }) => deleting)) return 'detaching'
  if (attachments.some(({ attached }) => attached)) return confirmed ? 'yes' : 'object only'
  if (confirmed) return 'status only'
  return attachments.length > 0 ? 'attaching' : 'no'
}

function onNodeText({ says, found }: OnNode): string {
  if (says === 'there')
    return [...new Set((found ?? []).filter((each) => each.certain).map(({ how }) => how))].join(', ')
  return ON_NODE_WORDS[says]
}

const ON_NODE_WORDS = { mayBeThere: 'may be', free: 'free', unknown: 'not shown' } as const

function verdictCell(state: ClusterVerdictState, code: string | undefined, paint: Screen['paint']): Cell {
  const colour = state === 'good' ? paint.good : state === 'error' || state === 'blocked' ? paint.bad : paint.warn
  return { text: code === undefined ? WORDS[state] : `${WORDS[state]} ${code}`, paint: colour }
}

/** What the codes of the table mean here: the first message of each. */
function whyText(rows: readonly ClusterStatusRow[], { width }: Screen): string {
  const groups = [...Map.groupBy(rows, ({ verdict }) => verdict.code ?? WORDS[verdict.state])]
  const bad = groups.filter(([, [first]]) => first?.verdict.state !== 'good')
  if (bad.length === 0) return ''
  const lines = bad.slice(0, MOST_CODES).map(([code, alike]) => {
    const others = new Set(alike.map(({ verdict }) => verdict.message)).size - 1
    const more = others === 0 ? '' : ` (and ${others} more like it)`
    return wrapped('  ', `${code}: ${alike[0]?.verdict.message ?? ''}${more}`, width)
  })
  const rest = bad.length - MOST_CODES
  return `\nWhy:\n${lines.join('')}${rest > 0 ? `  and ${count(rest, 'more code')}: -o wide\n` : ''}`
}

function lastLines({ rows, summary, complete, fleet }: ClusterStatus, suffix: string): string[] {
  const { verdicts, filtered, problems } = summary
  const bad = Object.entries(WORDS).flatMap(([state, word]) => {
    const n = verdicts[state as ClusterVerdictState] ?? 0
    return n === 0 || state === 'good' ? [] : [`${n} ${word}`]
  })
  const good = verdicts.good ?? 0
  const fine = good === 0 ? [] : [bad.length === 0 ? 'all are as they should be' : `${good} good`]
  const counted = rows.length === 0 ? 'No volumes' : `${count(rows.length, 'volume')}: ${[...bad, ...fine].join(', ')}`
  const out = filtered > 0 ? `; ${filtered} left out by names` : ''
  return [
    ...(complete ? [] : ['Not complete: something that may matter could not be read.']),
    `${counted}${out}.`,
    ...(fleet === undefined ? [] : [onNodesText(fleet)]),
    ...(bad.length > 0 || problems > 0 ? [`Next: volctl plan --cluster${suffix}`] : []),
  ]
}

function onNodesText({ says, disagreements }: StatusFleet): string {
  const { there = 0, mayBeThere = 0, free = 0, unknown = 0 } = says
  const maybe = mayBeThere === 0 ? '' : `, ${mayBeThere} that may be there`
  const hidden = unknown === 0 ? '' : `, ${unknown} not shown`
  const differ = disagreements === 0 ? 'everybody agrees' : `${disagreements} where not everybody agrees`
  return `On the nodes: ${there} there${maybe}, ${free} proven free${hidden}; ${differ}.`
}
