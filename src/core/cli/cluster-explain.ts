/** `volctl explain --cluster`: one reading of the cluster, then an answer about a thing of it, or about a line of a log. Loaded only for that. */

import { clusterContext } from '../cluster/context/cluster-context.ts'
import { type AskedCluster, clusterExplainer } from '../cluster/explain/explain-cluster.ts'
import { VolctlError } from '../errors/errors.ts'
import { defined } from '../lang/defined.ts'
import { answerInCluster } from '../log-lines/cluster-line.ts'
import { clusterHead, explainLogInCluster } from '../log-lines/cluster-log.ts'
import { lineView } from '../log-lines/explain-line.ts'
import { parseLine } from '../log-lines/parse-line.ts'
import { pastedLines } from '../log-lines/pasted.ts'
import type { ReadLog } from '../log-lines/read-log.ts'
import type { ClusterOptions } from '../plan/cluster-plan.ts'
import { renderExplanation } from '../views/explain-view.ts'
import { namesOfExplanation } from '../views/names.ts'
import { type Answered, drawnLine, drawnLog, openedLog, pasteAnswer, requireKnown } from './line-answers.ts'
import { loadCluster } from './load-cluster.ts'
import type { NodeChoice } from './node-flags.ts'
import { planBesideNodes } from './plan-beside-nodes.ts'
import { refusalOf } from './plan-exit-status.ts'

export interface ClusterQuestion {
  /** Of it only the kubeconfig and its context. */
  readonly choice: NodeChoice
  readonly snapshot?: string | undefined
  /** --nodes: a directory of snapshots of nodes, or "-". */
  readonly nodes?: string | undefined
  readonly options: ClusterOptions
  /** Flags of the command line that a proposed command needs again. */
  readonly words: readonly string[]
  /** What another command needs to read the same cluster. */
  readonly reading: readonly string[]
  readonly log: (line: string) => void
}

/** @throws VolctlError NotFound, AmbiguousName; what the reading throws */
export async function explainInCluster(what: string, question: ClusterQuestion): Promise<Answered> {
  const value = (await askedCluster(question)).explain(what)
  const failure = refusalOf(value)
  return {
    value,
    draw: (screen) => renderExplanation(value, screen, { reading: question.reading }),
    names: namesOfExplanation(value),
    ...defined({ failure }),
  }
}

/**
 * @param text one line, or several as they were pasted
 * @throws VolctlError NotFound for a line that says and names nothing; what the reading throws, where nobody knows the line
 */
export async function explainLineInCluster(text: string, question: ClusterQuestion): Promise<Answered> {
  return await pasteAnswer(text, (log) => answerOf(log, question))
}

/** One line is answered whole, several as a log. */
async function answerOf(log: ReadLog, question: ClusterQuestion): Promise<Answered> {
  const read = await readOrFailure(question)
  const asked = 'asked' in read ? read.asked : undefined
  const failure = 'failure' in read ? read.failure : undefined
  const [line = parseLine(''), ...more] = pastedLines(log.lines)
  if (more.length > 0 || log.total > log.lines.length) return drawnLog(explainLogInCluster(log, asked), failure)
  const head = { apiVersion: 'volctl.io/v1', kind: 'LineExplanation', scope: 'cluster', line: lineView(line) } as const
  const { answer, explanation } = answerInCluster(line, asked)
  if ('failure' in read) {
    if (answer.sentence === undefined) throw read.failure
    return drawnLine({ ...head, ...answer }, failure)
  }
  requireKnown(answer, line)
  return drawnLine(
    { ...head, ...clusterHead(read.asked), ...answer, ...defined({ explanation }) },
    explanation && refusalOf(explanation),
  )
}

/** The log is read first: a name that is none is said at once. @param path of a file, or "-" @throws VolctlError FileUnreadable */
export async function explainLogOfCluster(path: string, question: ClusterQuestion): Promise<Answered> {
  return await answerOf(await openedLog(path), question)
}

/** What a sentence means is worth knowing also where the cluster cannot be read. */
async function readOrFailure(
  question: ClusterQuestion,
): Promise<{ readonly asked: AskedCluster } | { readonly failure: VolctlError }> {
  try {
    return { asked: await askedCluster(question) }
  } catch (error) {
    if (error instanceof VolctlError) return { failure: error }
    throw error
  }
}

async function askedCluster(question: ClusterQuestion): Promise<AskedCluster> {
  const { choice, snapshot, nodes, options, words, log } = question
  const state = await loadCluster(choice, snapshot, log)
  const again = { flags: words, isLive: snapshot === undefined }
  const context = clusterContext(state, options)
  return clusterExplainer(context, await planBesideNodes(context, nodes, log), again)
}
