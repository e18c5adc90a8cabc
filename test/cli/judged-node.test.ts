/** Of a node of which the plan takes nothing away nobody is asked who uses what. */
import { describe, expect, it } from 'vitest'
import { judged } from '../../src/core/cli/live-node.ts'
import { TAKING_AWAY } from '../../src/core/plan/kinds.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { planOptions } from '../helpers/plan-options.ts'

const isTaking = ({ operations }: Plan): boolean =>
  operations.some(({ kind, blocked }) => TAKING_AWAY.has(kind) && blocked === undefined)

/** What a look asks with: nobody may use it. */
function untouchable(): never {
  const asked = (): never => {
    throw new Error('asked for')
  }
  return new Proxy(asked, { get: asked, apply: asked }) as never
}

describe.each(captureFiles())('%s', (path) => {
  it('is asked nothing, unless something is taken away', async () => {
    const state = await recorded(path)
    const options = planOptions()
    const plan = planNode(state, options)
    const hidden = { node: untouchable(), client: untouchable(), kubeletClient: untouchable() }
    const look = judged({ ...state, ...hidden, kubeletUnused: undefined, readMounts: untouchable() }, options)
    if (isTaking(plan)) return await expect(look).rejects.toThrow('asked for')
    const { node, decided } = await look
    expect(node.snapshot.inUse).toEqual([])
    // All but that holders are no open question any more.
    const unjudged = plan.inputs.unjudged.filter(({ message }) => !message.startsWith('holders, '))
    expect(decided.plan).toEqual({ ...plan, inputs: { ...plan.inputs, unjudged } })
  })
})
