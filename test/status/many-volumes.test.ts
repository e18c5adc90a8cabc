/** S34: status, check and explain of a node full of orphaned volumes take hardly longer than its plan, and grow as it does. */
import { expect, it } from 'vitest'
import { examine } from '../../src/core/check/check-node.ts'
import type { NodeState } from '../../src/core/model/node-state.ts'
import { planWithDecisions } from '../../src/core/reconcile/decisions.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { nodeStatus } from '../../src/core/status/node-status.ts'
import { explain } from '../helpers/explaining.ts'
import { NodeBuilder, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

/** Pods that are gone, each with a volume of each kind: of a device, of its own and staged, in memory, and on disk. */
function orphans(count: number): NodeState {
  const built = new NodeBuilder()
  for (let pod = 2; pod < count + 2; pod++) {
    const of = `pods/${uid(pod)}`
    built.staged(`vol-${pod}`, `8:${pod}`).published(uid(pod), `pv-${pod}`, `8:${pod}`, { handle: `vol-${pod}` })
    built.mount(`${of}/volumes/kubernetes.io~secret/secret`, {
      dev: `0:${1000 + pod}`,
      fsType: 'tmpfs',
      source: 'tmpfs',
    })
    built.file(`${of}/volumes/kubernetes.io~empty-dir/data/file`, 'x')
  }
  return built.build()
}

type Answer = (state: NodeState) => unknown

const plan: Answer = (state) => planNode(state, planOptions({ orphans: true }))

const ANSWERS: Readonly<Record<string, Answer>> = {
  plan,
  status: (state) => nodeStatus(state, planOptions()),
  check: (state) => examine(planWithDecisions(state, planOptions({ orphans: true }))),
  explain: (state) => explain(state, planOptions(), 'pv-2'),
}

const FEW = 400
const TIMES = 4
const few = orphans(FEW)
const many = orphans(TIMES * FEW)

/** Milliseconds of this thread, of the quickest of three: whatever else runs. */
function cost(answer: Answer, state: NodeState): number {
  const runs = Array.from({ length: 3 }, () => {
    const start = process.threadCpuUsage()
    answer(state)
    const { user, system } = process.threadCpuUsage(start)
    return (user + system) / 1000
  })
  return Math.min(...runs)
}

const whole = cost(plan, many)

it.each(Object.entries(ANSWERS))('%s', (_, answer) => {
  const all = cost(answer, many)
  expect(all / whole, 'compared with the plan').toBeLessThan(1.5)
  // What is quadratic takes sixteen times as long: the bound is in the middle between both.
  expect(all / cost(answer, few), `for ${TIMES} times as many`).toBeLessThan(2 * TIMES)
})
