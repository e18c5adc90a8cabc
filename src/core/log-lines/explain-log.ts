/** The distinct troubles of a log: lines are gathered by their sentence and what they name, and each group is explained once. */
import { defined } from '../lang/defined.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import { answerLine, lineView } from './explain-line.ts'
import type { LineAnswer } from './line-explanation.ts'
import type { LineName } from './line-name.ts'
import type { LogExplanation, LogTrouble } from './log-explanation.ts'
import type { LogLine } from './log-line.ts'
import type { AskedNode } from './name-answers.ts'
import { parseLine } from './parse-line.ts'
import type { ReadLog } from './read-log.ts'
import type { Sentence } from './sentences/sentence.ts'
import { SENTENCES, type SentenceName, sentencesIn } from './sentences/sentences.ts'
import { namesIn } from './take-names.ts'

/** Gathered, so that a log in which every line is another one stays small. */
const MOST_GROUPS = 5000
/** Explained: each asks the node about its names. */
const MOST_TROUBLES = 200

interface Group {
  readonly sentence: SentenceName | undefined
  count: number
  first: string | undefined
  last: LogLine
}

/** Where a log is from, and how one of its lines is answered there. */
export interface LogScope {
  readonly head: Pick<LogExplanation, 'scope' | 'node' | 'cluster' | 'createdAt'>
  /** @returns the answer; and whether it explains a thing that can be asked for by itself */
  readonly answer: (line: LogLine) => { readonly answer: LineAnswer; readonly isExplained: boolean }
  /** What asks for one thing there. */
  readonly command: string
}

/** @param node absent: it could not be looked at */
export function explainLog(log: ReadLog, node: AskedNode | undefined): LogExplanation {
  return explainLogIn(log, {
    head: defined({ node: node?.state.snapshot.nodeName, createdAt: node?.state.snapshot.capturedAt }),
    answer: (line) => {
      const { answer, main } = answerLine(line, node)
      return { answer, isExplained: main !== undefined }
    },
    command: 'volctl explain',
  })
}

export function explainLogIn({ lines, total, unfinished }: ReadLog, scope: LogScope): LogExplanation {
  const { groups, left } = gather(lines)
  const sorted = [...groups.values()].toSorted((a, b) => weight(b) - weight(a) || b.count - a.count)
  const shown = sorted.slice(0, MOST_TROUBLES)
  const explained = sorted.reduce((sum, { count }) => sum + count, 0)
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'LogExplanation',
    ...scope.head,
    lines: { total, read: lines.length, explained: explained + left },
    unfinished,
    troubles: shown.map((group) => troubleOf(group, scope)),
    more: left + sorted.slice(MOST_TROUBLES).reduce((sum, { count }) => sum + count, 0),
  }
}

/** What the kubelet only mentions comes after what is wrong, however often it does. */
function weight({ sentence }: Group): number {
  return sentence !== undefined && (SENTENCES[sentence] as Sentence).harmless === true ? 0 : 1
}

function gather(lines: readonly string[]): { readonly groups: ReadonlyMap<string, Group>; readonly left: number } {
  const groups = new Map<string, Group>()
  let left = 0
  for (const text of lines) {
    const line = parseLine(text)
    const [sentence] = sentencesIn(line)
    if (sentence === undefined && !mayMatter(line)) continue
    const key = keyOf(line, sentence)
    const group = groups.get(key)
    if (group !== undefined) {
      group.count++
      group.last = line
    } else if (groups.size < MOST_GROUPS) groups.set(key, { sentence, count: 1, first: line.time, last: line })
    else left++
  }
  return { groups, left }
}

/** A line that nobody knows: an error or a warning that names a volume. */
function mayMatter(line: LogLine): boolean {
  if (line.severity !== 'error' && line.severity !== 'warning') return false
  return namesIn(line).some(({ kind }) => ['volume', 'podVolume', 'attachment', 'persistentVolume'].includes(kind))
}

/** The same sentence of one host about the same pods and volumes; a line that nobody knows by where it was logged, too. */
function keyOf(line: LogLine, sentence: SentenceName | undefined): string {
  const names = namesIn(line)
  const pods = names.filter(({ kind }: LineName) => kind === 'podUid' || kind === 'pod')
  const about =
    sentence !== undefined && (SENTENCES[sentence] as Sentence).about === 'pod' && pods.length > 0 ? pods : names
  const own = about.filter(({ kind }) => kind !== 'node' && kind !== 'driver' && kind !== 'path')
  const texts = (own.length > 0 ? own : about).map(({ kind, name }) => `${kind} ${name}`)
  return [line.host ?? '', sentence ?? line.source ?? line.message.slice(0, 80), ...texts.toSorted()].join('\n')
}

function troubleOf({ count, first, last }: Group, scope: LogScope): LogTrouble {
  const { answer, isExplained } = scope.answer(last)
  const ask = isExplained ? answer.main?.ask : undefined
  const command = ask !== undefined && isPlainWord(ask) ? `${scope.command} ${ask}` : undefined
  return { ...answer, count, ...defined({ firstTime: first, lastTime: last.time, command }), line: lineView(last) }
}
