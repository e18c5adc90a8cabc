/** What explain and status say of a node, as the commands ask it: with the pass over a look. */

import { expect } from 'vitest'
import { type Explained, explainer as ofDecided } from '../../src/core/explain/explain.ts'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import { statusAndPlan, wholeOf } from '../../src/core/explain/status/node-status.ts'
import type { Status } from '../../src/core/explain/status/status.ts'
import type { AdviceContext } from '../../src/core/plan/next-steps.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import { decideNode } from '../../src/core/reconcile/plan-node.ts'
import { answerOf } from '../../src/core/views/answer/make-answer.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { explanationDefects } from './closed-schema.ts'
import type { NodeBuilder } from './node-builder.ts'
import { planOptions } from './plan-options.ts'

export function explainer(state: NodeState, options: PlanOptions, given?: AdviceContext): (what: string) => Explained {
  return ofDecided(decideNode(state, options), given ?? { applyFlags: [], settleMs: options.settleMs })
}

export function explain(state: NodeState, options: PlanOptions, what: string, given?: AdviceContext): Explained {
  return explainer(state, options, given)(what)
}

/** Of a node made by hand; what is said has the shape of its schema. */
export function told(built: NodeBuilder, what: string, options: Partial<PlanOptions> = {}): Explanation {
  const { explanation } = explain(built.build(), planOptions(options), what)
  expect(explanationDefects(explanation)).toEqual([])
  return explanation
}

/** @param options what they narrow is left out of the answer, and changes no verdict */
export function nodeStatus(state: NodeState, options: PlanOptions, ignoreNotFound = false): Status {
  const { settleMs } = options
  const naming = { 'ignore-not-found': ignoreNotFound }
  return statusAndPlan(decideNode(state, wholeOf(options)), options, naming, { applyFlags: [], settleMs }).status
}

/** What an answer says to do: about what needs a person, what would end a wait sooner, the notes, then what to type. */
export function stepsOf(answer: Explanation): string[] {
  const { needs, next } = answerOf({ ...answer, kind: 'Plan', scope: 'node' })
  const passing = (answer.summary.causes ?? []).find(
    ({ severity, code }) => severity === 'info' && code === answer.verdict.code && answer.verdict.state === 'waiting',
  )
  const steps = next.map(
    ({ first, command, why }) => `${first === undefined ? '' : `${first}, then: `}${command}  # ${why}`,
  )
  const remedies = needs.flatMap(({ remedy }) => remedy.slice(0, 1))
  return [...new Set([...remedies, ...(passing?.remedy ?? []), ...answer.notes, ...steps].map(String))]
}
