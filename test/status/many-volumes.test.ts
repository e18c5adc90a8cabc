/** S34: status, check and explain of a node full of orphaned volumes take work that grows as the node does. */
import { describe, expect, it } from 'vitest'
import { examine } from '../../src/core/explain/check/check-node.ts'
import { decideNode, planNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { explain, nodeStatus } from '../helpers/explaining.ts'
import { NodeBuilder, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

/** Pods that are gone, each with a volume of each kind: of a device, of its own and staged, in memory, and on disk. */
function orphans(count: number): NodeState {
  const built = new NodeBuilder()
  for (let pod = 2; pod < count + 2; pod++) {
    built.staged(`pv-${pod}`, `8:${pod}`).published(uid(pod), `pv-${pod}`, `8:${pod}`).secret(uid(pod), 'secret', {})
    built.file(`pods/${uid(pod)}/volumes/kubernetes.io~empty-dir/data/file`, 'x')
  }
  return built.build()
}

/** Pods that live, each with a volume that is attached, staged and published. */
function living(count: number): NodeState {
  const built = new NodeBuilder()
  for (let pod = 2; pod < count + 2; pod++) built.served(uid(pod), `pod-${pod}`, `pv-${pod}`, `8:${pod}`)
  return built.build()
}

type Answer = (state: NodeState) => unknown

const plan: Answer = (state) => planNode(state, planOptions({ orphans: true }))

const ANSWERS: Readonly<Record<string, Answer>> = {
  plan,
  status: (state) => nodeStatus(state, planOptions()),
  check: (state) => examine(decideNode(state, planOptions({ orphans: true }))),
  explain: (state) => explain(state, planOptions(), 'pv-2'),
}

const TIMES = 4

const LOOKING = ['every', 'filter', 'find', 'findLast', 'flatMap', 'includes', 'map', 'some'] as const

/** How many members the lists have that are looked through: of so few pods no clock would tell. */
function lookedThrough(answer: Answer, state: NodeState): number {
  let members = 0
  const original = LOOKING.map((name) => [name, Array.prototype[name]] as const)
  for (const [name, look] of original) {
    const counting = function (this: unknown[], ...args: unknown[]): unknown {
      members += this.length
      return Reflect.apply(look, this, args)
    }
    Object.defineProperty(Array.prototype, name, { value: counting, configurable: true, writable: true })
  }
  try {
    answer(state)
  } finally {
    for (const [name, value] of original)
      Object.defineProperty(Array.prototype, name, { value, configurable: true, writable: true })
  }
  return members
}

describe.each([
  // What is quadratic takes sixteen times as long.
  { node: 'orphans', made: orphans, most: 2 },
  { node: 'pods that live', made: living, most: 1.5 },
])('of $node', ({ made, most }) => {
  it.each(Object.entries(ANSWERS))('%s: no list is looked through for each of them', (_, answer) => {
    const ratio = lookedThrough(answer, made(TIMES * 60)) / lookedThrough(answer, made(60))
    expect(ratio).toBeLessThan(most * TIMES)
  })
})
