/** `volctl explain 'LINE'` and `--log`: the node is looked at first, since a look may begin volctl again (S6), then the log is read. */
import { NotFound, VolctlError } from '../errors/errors.ts'
import type { Explained } from '../explain/explain.ts'
import type { Explanation } from '../explain/explanation.ts'
import { splitPrefix } from '../explain/kinds.ts'
import { ownDescriptor } from '../files/own-descriptor.ts'
import { defined } from '../lang/defined.ts'
import type { ClusterLineExplanation } from '../log-lines/cluster-line.ts'
import { answerLine, lineView } from '../log-lines/explain-line.ts'
import { explainLog } from '../log-lines/explain-log.ts'
import { namesServer } from '../log-lines/fill.ts'
import type { LineAnswer, LineExplanation } from '../log-lines/line-explanation.ts'
import type { LogExplanation } from '../log-lines/log-explanation.ts'
import type { LogLine } from '../log-lines/log-line.ts'
import { askedNode } from '../log-lines/name-answers.ts'
import { parseLine } from '../log-lines/parse-line.ts'
import { pastedLines } from '../log-lines/pasted.ts'
import { type ReadLog, readLog } from '../log-lines/read-log.ts'
import { sentencesIn } from '../log-lines/sentences/sentences.ts'
import type { Given } from '../plan/next-steps.ts'
import type { Decided } from '../reconcile/decisions.ts'
import { callerPath } from '../trust/caller.ts'
import { renderLine } from '../views/line-view.ts'
import { renderLog } from '../views/log-view.ts'
import { namesOfLines } from '../views/names.ts'
import type { Screen } from '../views/screen.ts'
import type { LoadedNode } from './load-node.ts'
import { refusalOf } from './plan-exit-status.ts'

/** What the command knows how to do. */
export interface Asking {
  readonly look: () => Promise<LoadedNode<Decided>>
  /** What proposed commands are made of. */
  readonly given: Given
  /** With those that hold it open, where the node is the live one. */
  readonly whole: (state: LoadedNode<Decided>, explained: Explained) => Promise<Explanation>
}

export interface Answered {
  readonly value: object
  readonly draw: (screen: Screen) => string
  /** For `-o name`. */
  readonly names: readonly string[]
  /** What the command ends with once the answer is printed. */
  readonly failure?: VolctlError
}

const NAME_OF_SPACES = /^(?:\/|kubernetes\.io\/[a-z-]+\/)/

/** Is it a line of a log, and no name of something: names have no blanks, but for paths and a few plugins' volumes. */
export function isLine(text: string): boolean {
  const trimmed = text.trim()
  if (!/\s/.test(trimmed)) return trimmed.startsWith('{') && trimmed.endsWith('}')
  if (!NAME_OF_SPACES.test(trimmed) && splitPrefix(trimmed).kind === undefined) return true
  return sentencesIn(parseLine(trimmed)).length > 0
}

/**
 * @param text one line, or several as they were pasted
 * @throws VolctlError NotFound for a line that says and names nothing; what the look throws, where nobody knows the line
 */
export async function lineAnswer(text: string, asking: Asking): Promise<Answered> {
  const looked = await lookOrFailure(asking.look)
  return await pasteAnswer(text, (log) => answerOf(log, looked, asking))
}

/**
 * @param text one line, or several as they were pasted
 * @throws VolctlError NotFound for rows that say and name nothing: of a whole log that is an answer
 */
export async function pasteAnswer(text: string, answerTo: (log: ReadLog) => Promise<Answered>): Promise<Answered> {
  const lines = text.split('\n')
  const answered = await answerTo({ lines, total: lines.length, unfinished: false })
  const { troubles, harmless }: Partial<LogExplanation> = answered.value
  if (troubles?.length === 0 && harmless?.length === 0) throw nothingKnown()
  return answered
}

/** One line is answered whole, several as a log. */
async function answerOf(log: ReadLog, looked: Looked, { given, whole }: Asking): Promise<Answered> {
  const asked = 'state' in looked ? askedNode(looked.state, looked.state.decided, given) : undefined
  const failure = 'failure' in looked ? looked.failure : undefined
  const [line = parseLine(''), ...more] = pastedLines(log.lines)
  if (more.length > 0 || log.total > log.lines.length) return drawnLog(explainLog(log, asked), failure)
  const { answer, main } = answerLine(line, asked)
  const head = { apiVersion: 'volctl.io/v1', kind: 'LineExplanation', line: lineView(line) } as const
  if ('failure' in looked) {
    if (answer.sentence === undefined) throw looked.failure
    return drawnLine({ ...head, ...answer }, failure)
  }
  requireKnown(answer, line)
  const { nodeName: node, capturedAt: createdAt } = looked.state.snapshot
  const explanation = main?.explained === undefined ? undefined : await whole(looked.state, main.explained)
  const value = { ...head, node, createdAt, ...answer, ...defined({ explanation }) }
  return drawnLine(value, explanation && refusalOf(explanation))
}

/** @throws VolctlError NotFound for a line that says and names nothing */
export function requireKnown({ sentence, names }: LineAnswer, line: LogLine): void {
  if (sentence === undefined && names.length === 0 && !namesServer(line)) throw nothingKnown()
}

export function drawnLine(value: LineExplanation | ClusterLineExplanation, failure: VolctlError | undefined): Answered {
  return { value, draw: (screen) => renderLine(value, screen), names: namesOfLines([value]), ...defined({ failure }) }
}

/** Nothing of the line is known to volctl. */
function nothingKnown(): VolctlError {
  return new NotFound('volctl does not know this sentence, and it names no pod, volume, path or driver', {
    hint: 'Paste the whole line, with quotes around it; or give a pod, volume, path or device: see volctl explain --help',
  })
}

/** @param path of a file, or "-" @throws VolctlError FileUnreadable; what lineAnswer throws */
export async function logAnswer(path: string, asking: Asking): Promise<Answered> {
  const looked = await lookOrFailure(asking.look)
  return await answerOf(await openedLog(path), looked, asking)
}

type Looked = { readonly state: LoadedNode<Decided> } | { readonly failure: VolctlError }

/** @param path of a file, or "-" @throws VolctlError FileUnreadable */
export function openedLog(path: string): Promise<ReadLog> {
  return readLog(ownDescriptor(path, 0) === undefined ? callerPath(path) : path)
}

/** @param failure why nobody could be asked @throws it, where no line is known either */
export function drawnLog(value: LogExplanation, failure: VolctlError | undefined): Answered {
  if (failure !== undefined && value.troubles.length + value.harmless.length === 0) throw failure
  return {
    value,
    draw: (screen) => renderLog(value, screen),
    names: namesOfLines(value.troubles),
    ...defined({ failure }),
  }
}

/** What a sentence means is worth knowing also where the node cannot be looked at. */
async function lookOrFailure(look: () => Promise<LoadedNode<Decided>>): Promise<Looked> {
  try {
    return { state: await look() }
  } catch (error) {
    // What is thrown to begin volctl again in another namespace is none.
    if (error instanceof VolctlError) return { failure: error }
    throw error
  }
}
