/** `volctl explain 'LINE'` and `--log`: the node is looked at first, since a look may begin volctl again (S6), then the log is read. */

import type { ClusterExplanation } from '../cluster/explain/cluster-explanation.ts'
import { NotFound, VolctlError } from '../errors/errors.ts'
import type { Explained } from '../explain/explain.ts'
import type { Explanation } from '../explain/explanation.ts'
import { splitPrefix } from '../explain/kinds.ts'
import { ownDescriptor } from '../files/own-descriptor.ts'
import { defined } from '../lang/defined.ts'
import { lineView, nodeScope } from '../log-lines/explain-line.ts'
import { explainLog } from '../log-lines/explain-log.ts'
import { namesServer } from '../log-lines/fill.ts'
import type { LineAnswer, LineExplanation, LineScope } from '../log-lines/line-explanation.ts'
import type { LogExplanation } from '../log-lines/log-explanation.ts'
import type { LogLine } from '../log-lines/log-line.ts'
import { askedNode } from '../log-lines/node-names.ts'
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

/** Lines and logs, asked of a node or a cluster. */
export interface Lines<Asked, Explained> {
  /** @throws VolctlError where it cannot be looked at: what a sentence means is worth knowing also then */
  readonly look: () => Promise<Asked>
  /** @param asked undefined: it could not be looked at */
  readonly scopeOf: (asked: Asked | undefined) => LineScope<Explained>
  /** All that is known of a thing. */
  readonly whole: (asked: Asked, explained: Explained) => Promise<Explanation | ClusterExplanation>
}

/** @param given what proposed commands are made of @param whole with those that hold it open, where the node is the live one */
export function onNode(
  look: () => Promise<LoadedNode<Decided>>,
  given: Given,
  whole: Lines<LoadedNode<Decided>, Explained>['whole'],
): Lines<LoadedNode<Decided>, Explained> {
  return { look, whole, scopeOf: (state) => nodeScope(state && askedNode(state, state.decided, given)) }
}

export interface Answered {
  readonly value: object
  readonly draw: (screen: Screen) => string
  /** For `-o name`. */
  readonly names: readonly string[]
  /** What the command ends with once the answer is printed. */
  readonly failure?: VolctlError
  /** Why what a line names was looked for nowhere: the command's end only where a flag said where to look. */
  readonly unseen?: VolctlError
}

/** "/dev/sdb1 contains …" and "/a/b: recovering …" are what fsck(8) and others say of it. */
const NAME_OF_SPACES = /^(?:\/(?!dev\/\S+ |\S+: )|kubernetes\.io\/[a-z-]+\/)/

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
export async function lineAnswer<Asked, E extends object>(text: string, of: Lines<Asked, E>): Promise<Answered> {
  const looked = await lookOrFailure(of.look)
  const lines = text.split('\n')
  const answered = await answerOf({ lines, total: lines.length, unfinished: false }, looked, of)
  const { troubles, harmless }: Partial<LogExplanation> = answered.value
  if (troubles?.length === 0 && harmless?.length === 0) throw nothingKnown()
  return answered
}

/** One line is answered whole, several as a log. */
async function answerOf<Asked, E extends object>(
  log: ReadLog,
  looked: Looked<Asked>,
  of: Lines<Asked, E>,
): Promise<Answered> {
  const asked = 'asked' in looked ? looked.asked : undefined
  const failure = 'failure' in looked ? looked.failure : undefined
  const scope = of.scopeOf(asked)
  const [line = parseLine(''), ...more] = pastedLines(log.lines)
  if (more.length > 0 || log.total > log.lines.length) return drawnLog(explainLog(log, scope), failure)
  const { answer, explained } = scope.answer(line)
  const explanation = asked && explained && (await of.whole(asked, explained))
  const value: LineExplanation = {
    ...{ apiVersion: 'volctl.io/v1', kind: 'LineExplanation', line: lineView(line), ...scope.head, ...answer },
    ...defined({ explanation }),
  }
  if (failure === undefined) requireKnown(value, line)
  else if (value.sentence === undefined) throw failure
  return {
    value,
    draw: (screen) => renderLine(value, screen),
    names: namesOfLines([value]),
    ...defined({ unseen: failure, failure: explanation && refusalOf(explanation) }),
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
export async function logAnswer<Asked, E extends object>(path: string, of: Lines<Asked, E>): Promise<Answered> {
  const looked = await lookOrFailure(of.look)
  return await answerOf(await openedLog(path), looked, of)
}

/** The log is read first: a name of no file fails at once. @param path of a file, or "-" @throws as logAnswer */
export async function logFirst<Asked, E extends object>(path: string, of: Lines<Asked, E>): Promise<Answered> {
  const log = await openedLog(path)
  return await answerOf(log, await lookOrFailure(of.look), of)
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
    ...defined({ unseen: failure }),
  }
}

async function lookOrFailure<Asked>(look: () => Promise<Asked>): Promise<Looked<Asked>> {
  try {
    return { asked: await look() }
  } catch (error) {
    // What is thrown to begin volctl again in another namespace is no failure.
    if (error instanceof VolctlError) return { failure: error }
    throw error
  }
}
