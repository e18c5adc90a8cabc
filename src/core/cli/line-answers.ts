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

/** A node or a cluster, of which lines and logs are asked. */
export interface LineScope<Asked> {
  /** @throws VolctlError where it cannot be looked at: what a sentence means is worth knowing also then */
  readonly look: () => Promise<Asked>
  /** @param asked undefined: it could not be looked at */
  readonly log: (log: ReadLog, asked: Asked | undefined) => LogExplanation
  readonly line: (line: LogLine, asked: Asked | undefined) => Promise<LineExplanation | ClusterLineExplanation>
}

/** What the command knows how to do. */
export interface Asking {
  readonly look: () => Promise<LoadedNode<Decided>>
  /** What proposed commands are made of. */
  readonly given: Given
  /** With those that hold it open, where the node is the live one. */
  readonly whole: (state: LoadedNode<Decided>, explained: Explained) => Promise<Explanation>
}

/** Lines and logs, asked of a node. */
export function onNode({ look, given, whole }: Asking): LineScope<LoadedNode<Decided>> {
  const askedOf = (state?: LoadedNode<Decided>) => state && askedNode(state, state.decided, given)
  return {
    look,
    log: (log, state) => explainLog(log, askedOf(state)),
    line: async (line, state) => {
      const { answer, main } = answerLine(line, askedOf(state))
      const head = { apiVersion: 'volctl.io/v1', kind: 'LineExplanation', line: lineView(line) } as const
      if (state === undefined) return { ...head, ...answer }
      const { nodeName: node, capturedAt: createdAt } = state.snapshot
      const explanation = main?.explained === undefined ? undefined : await whole(state, main.explained)
      return { ...head, node, createdAt, ...answer, ...defined({ explanation }) }
    },
  }
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
 * @throws VolctlError NotFound for a line, or rows, that say and name nothing: of a whole log that is an answer; what the look throws,
 *   where nobody knows the line
 */
export async function lineAnswer<Asked>(text: string, scope: LineScope<Asked>): Promise<Answered> {
  const looked = await lookOrFailure(scope.look)
  const lines = text.split('\n')
  const answered = await answerOf({ lines, total: lines.length, unfinished: false }, looked, scope)
  const { troubles, harmless }: Partial<LogExplanation> = answered.value
  if (troubles?.length === 0 && harmless?.length === 0) throw nothingKnown()
  return answered
}

/** One line is answered whole, several as a log. */
async function answerOf<Asked>(log: ReadLog, looked: Looked<Asked>, scope: LineScope<Asked>): Promise<Answered> {
  const asked = 'asked' in looked ? looked.asked : undefined
  const failure = 'failure' in looked ? looked.failure : undefined
  const [line = parseLine(''), ...more] = pastedLines(log.lines)
  if (more.length > 0 || log.total > log.lines.length) return drawnLog(scope.log(log, asked), failure)
  const value = await scope.line(line, asked)
  if (failure === undefined) requireKnown(value, line)
  else if (value.sentence === undefined) throw failure
  const { explanation } = value
  return {
    value,
    draw: (screen) => renderLine(value, screen),
    names: namesOfLines([value]),
    ...defined({ failure: failure ?? (explanation && refusalOf(explanation)) }),
  }
}

/** @throws VolctlError NotFound for a line that says and names nothing */
function requireKnown({ sentence, names }: LineAnswer, line: LogLine): void {
  if (sentence === undefined && names.length === 0 && !namesServer(line)) throw nothingKnown()
}

/** Nothing of the line is known to volctl. */
function nothingKnown(): VolctlError {
  return new NotFound('volctl does not know this sentence, and it names no pod, volume, path or driver', {
    hint: 'Paste the whole line, with quotes around it; or give a pod, volume, path or device: see volctl explain --help',
  })
}

/**
 * The look is first: it may begin volctl again in another namespace, where standard input is read then.
 *
 * @param path of a file, or "-"
 * @throws VolctlError FileUnreadable; what lineAnswer throws
 */
export async function logAnswer<Asked>(path: string, scope: LineScope<Asked>): Promise<Answered> {
  const looked = await lookOrFailure(scope.look)
  return await answerOf(await openedLog(path), looked, scope)
}

/** The log is read first: a name that is none is said at once. @param path of a file, or "-" @throws as logAnswer */
export async function logFirst<Asked>(path: string, scope: LineScope<Asked>): Promise<Answered> {
  const log = await openedLog(path)
  return await answerOf(log, await lookOrFailure(scope.look), scope)
}

type Looked<Asked> = { readonly asked: Asked } | { readonly failure: VolctlError }

function openedLog(path: string): Promise<ReadLog> {
  return readLog(ownDescriptor(path, 0) === undefined ? callerPath(path) : path)
}

/** @param failure why nobody could be asked @throws it, where no line is known either */
function drawnLog(value: LogExplanation, failure: VolctlError | undefined): Answered {
  if (failure !== undefined && value.troubles.length + value.harmless.length === 0) throw failure
  return {
    value,
    draw: (screen) => renderLog(value, screen),
    names: namesOfLines(value.troubles),
    ...defined({ failure }),
  }
}

async function lookOrFailure<Asked>(look: () => Promise<Asked>): Promise<Looked<Asked>> {
  try {
    return { asked: await look() }
  } catch (error) {
    // What is thrown to begin volctl again in another namespace is none.
    if (error instanceof VolctlError) return { failure: error }
    throw error
  }
}
