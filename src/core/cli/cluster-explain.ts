/** `volctl explain --cluster`: one reading of the cluster, then an answer about a thing of it. Loaded only for that. */

import { clusterContext } from '../cluster/context/cluster-context.ts'
import { type AskedCluster, clusterExplainer } from '../cluster/explain/explain-cluster.ts'
import { planOver } from '../cluster/pass/plan-cluster.ts'
import { defined } from '../lang/defined.ts'
import type { ClusterOptions } from '../plan/cluster-plan.ts'
import { renderExplanation } from '../views/explain-view.ts'
import { namesOfExplanation } from '../views/names.ts'
import type { Answered } from './line-answers.ts'
import { loadCluster } from './load-cluster.ts'
import type { NodeChoice } from './node-flags.ts'
import { refusalOf } from './plan-exit-status.ts'

export interface ClusterQuestion {
  /** Of it only the kubeconfig and its context. */
  readonly choice: NodeChoice
  readonly snapshot?: string | undefined
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

async function askedCluster(question: ClusterQuestion): Promise<AskedCluster> {
  const { choice, snapshot, options, words, log } = question
  const state = await loadCluster(choice, snapshot, log)
  const again = { flags: words, isLive: snapshot === undefined }
  const context = clusterContext(state, options)
  return clusterExplainer(context, planOver(context), again)
}
