/** The distinct troubles of a log: lines are gathered by their sentence and what they name, and each group is explained once. */
import { defined } from '../lang/defined.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import { frequencyOf } from './event-line.ts'
import { lineView } from './explain-line.ts'
import type { LineScope } from './line-explanation.ts'
import type { LineName, NameKind } from './line-name.ts'
import type { LogExplanation, LogTrouble } from './log-explanation.ts'
import type { LogLine } from './log-line.ts'
import { pastedLines } from './pasted.ts'
import type { ReadLog } from './read-log.ts'
import { isFrame, type SentenceName, sentenceOf, sentencesIn } from './sentences/sentences.ts'
import { namesIn } from './take-names.ts'

/** Gathered, so that a log in which every line is another one stays small. */
const MOST_GROUPS = 5000
/** Explained: each asks the node about its names. */
const MOST_TROUBLES = 200

interface Group {
  readonly sentence: SentenceName | undefined
  /** Of pods and volumes, by which two groups are of one trouble. */
  readonly pods: ReadonlySet<string>
  readonly volumes: ReadonlySet<string>
  count: number
  first: string | undefined
  last: LogLine
  /** When its last line was written, against those of the others. */
  moment: number
  isOver: boolean
}

interface Gathered {
  readonly groups: readonly Group[]
  /** Lines of further groups. */
  readonly left: number
  readonly harmless: ReadonlyMap<SentenceName, number>
}

export function explainLog({ lines, total, unfinished }: ReadLog, scope: LineScope<object>): LogExplanation {
  const { groups, left, harmless } = gather(pastedLines(lines))
  const sorted = groups.toSorted((a, b) => Number(a.isOver) - Number(b.isOver) || b.count - a.count)
  const shown = sorted.slice(0, MOST_TROUBLES)
  const news = [...harmless].toSorted(([, a], [, b]) => b - a)
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'LogExplanation',
    ...scope.head,
    lines: { total, read: lines.length, explained: sum(groups.map(({ count }) => count)) + left },
    unfinished,
    troubles: shown.map((group) => troubleOf(group, scope)),
    harmless: news.map(([name, count]) => ({ name, count, means: sentenceOf(name).means })),
    more: left + sum(sorted.slice(MOST_TROUBLES).map(({ count }) => count)),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0)
}

/** So few lines were chosen by somebody: each that names something counts. */
const MOST_CHOSEN = 50

function gather(lines: readonly LogLine[]): Gathered {
  const groups = new Map<string, Group>()
  const harmless = new Map<SentenceName, number>()
  /** When something last succeeded, by the volume. */
  const successes = new Map<string, number>()
  const read = reader()
  let left = 0
  lines.forEach((line, index) => {
    const { sentence, names } = read(line)
    if (sentence === 'Informational') return
    const { count, moment } = timesOf(line, index)
    if (sentence !== undefined && sentenceOf(sentence).harmless === true) {
      harmless.set(sentence, (harmless.get(sentence) ?? 0) + count)
      if (sentence !== 'VolumeDone') return
      for (const volume of namesOf(names, VOLUMES))
        successes.set(volume, Math.max(moment, successes.get(volume) ?? -Infinity))
      return
    }
    if (sentence === undefined && !mayMatter(line, names, lines.length <= MOST_CHOSEN)) return
    const key = keyOf(line, sentence, names)
    const group = groups.get(key)
    if (group !== undefined) {
      group.count += count
      group.last = line
      group.moment = Math.max(group.moment, moment)
    } else if (groups.size < MOST_GROUPS) {
      const pods = namesOf(names, PODS)
      const volumes = namesOf(names, VOLUMES)
      groups.set(key, { sentence, pods, volumes, count, first: line.time, last: line, moment, isOver: false })
    } else left += count
  })
  const all = [...groups.values()]
  for (const group of all)
    group.isOver = [...group.volumes].some((volume) => (successes.get(volume) ?? -Infinity) > group.moment)
  return { groups: folded(all), left, harmless }
}

interface Read {
  readonly sentence: SentenceName | undefined
  readonly names: readonly LineName[]
}

/** A log says the same over and over: what a text says and names is found out once, for as many as are kept. */
function reader(): (line: LogLine) => Read {
  const known = new Map<string, Read>()
  return (line) => {
    const key = `${line.severity} ${line.reason} ${line.said}`
    const found = known.get(key) ?? { sentence: sentencesIn(line)[0], names: namesIn(line) }
    if (known.size < MOST_GROUPS) known.set(key, found)
    return found
  }
}

/** How often an event came, and when; events are no diary: the last one may stand first. */
function timesOf(line: LogLine, index: number): { readonly count: number; readonly moment: number } {
  if (line.format !== 'event') return { count: 1, moment: index }
  const { count, secondsAgo } = frequencyOf(line.time ?? '')
  return { count, moment: secondsAgo === undefined ? index : -secondsAgo }
}

const PODS: readonly NameKind[] = ['podUid', 'pod']
const VOLUMES: readonly NameKind[] = ['podVolume', 'volume', 'persistentVolume', 'attachment']

function namesOf(names: readonly LineName[], kinds: readonly NameKind[]): ReadonlySet<string> {
  return new Set(names.flatMap(({ kind, name }) => (kinds.includes(kind) ? [name] : [])))
}

/** A pod waits for its volumes, or something failed: the cause of the same pod or volume says it too, where there is one. */
function folded(groups: readonly Group[]): Group[] {
  const causes = groups.filter(({ sentence }) => sentence !== undefined && !saysLittle(sentence))
  return groups.filter((group) => {
    if (group.sentence === undefined || !saysLittle(group.sentence)) return true
    const cause = causes.find(
      (each) => each.isOver === group.isOver && (shares(each.pods, group.pods) || shares(each.volumes, group.volumes)),
    )
    if (cause !== undefined) cause.count += group.count
    return cause === undefined
  })
}

function saysLittle(name: SentenceName): boolean {
  return isFrame(name) || sentenceOf(name).envelope === true
}

function shares(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size > 0 && !a.isDisjointFrom(b)
}

/** A line that nobody knows: an error or a warning that names a volume; of lines that somebody has chosen any that names something. */
function mayMatter({ severity }: LogLine, names: readonly LineName[], isChosen: boolean): boolean {
  if (isChosen && severity !== 'info') return names.some(({ kind }) => kind !== 'node')
  if (severity !== 'error' && severity !== 'warning') return false
  return names.some(({ kind }) => VOLUMES.includes(kind))
}

/** The same sentence of one host about the same pods and volumes; a line that nobody knows by where it was logged, too. */
function keyOf(line: LogLine, sentence: SentenceName | undefined, names: readonly LineName[]): string {
  const pods = names.filter(({ kind }) => PODS.includes(kind))
  const about = sentence !== undefined && sentenceOf(sentence).about === 'pod' && pods.length > 0 ? pods : names
  const own = about.filter(({ kind }) => kind !== 'node' && kind !== 'driver' && kind !== 'path')
  const texts = (own.length > 0 ? own : about).map(({ kind, name }) => `${kind} ${name}`)
  return [line.host ?? '', sentence ?? line.source ?? line.message.slice(0, 80), ...texts.toSorted()].join('\n')
}

function troubleOf({ count, first, last, isOver }: Group, scope: LineScope<object>): LogTrouble {
  const { answer, explained } = scope.answer(last)
  const ask = explained === undefined ? undefined : answer.main?.ask
  const command = ask !== undefined && isPlainWord(ask) ? `${scope.command} ${ask}` : undefined
  return {
    ...answer,
    count,
    ...(isOver && { over: true as const }),
    ...defined({ firstTime: first, lastTime: last.time, command }),
    line: lineView(last),
  }
}
