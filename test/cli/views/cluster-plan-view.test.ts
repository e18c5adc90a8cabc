import { describe, expect, it } from 'vitest'
import { renderClusterPlan } from '../../../src/core/views/cluster-plan-view.ts'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'
import { textWidth } from '../../../src/core/views/text-width.ts'
import { planOf } from '../../helpers/cluster-plan.ts'
import { SCENES } from './cluster-scenes.ts'

const LOOK = { unfolded: false, applyCommand: 'volctl apply --cluster' }

describe.each(Object.entries(SCENES))('the plan of a cluster: %s', (name, state) => {
  const plan = planOf(state)

  it('is drawn as before', async () => {
    const screens = [80, 120, undefined].map((width) => renderClusterPlan(plan, { ...PLAIN_SCREEN, width }, LOOK))
    await expect(screens.join('\n==== \n')).toMatchFileSnapshot(`./cluster-screens/${name.replaceAll(/\W+/g, '-')}.txt`)
  })

  it('has no line that is too wide, but for a command', () => {
    const lines = renderClusterPlan(plan, { ...PLAIN_SCREEN, width: 80 }, LOOK).split('\n')
    expect(lines.filter((line) => textWidth(line) > 80 && !/kubectl|volctl|csi-[0-9a-f]{64}/.test(line))).toEqual([])
  })

  it('says verdict and counts last', () => {
    const lines = renderClusterPlan(plan, { ...PLAIN_SCREEN, width: 80 }, LOOK)
      .trimEnd()
      .split('\n')
    expect(lines.slice(-8).join(' ')).toMatch(/Nothing to do|Nothing is ready|operations?: |Refused/)
  })
})

it('the next step begins with what a person does, not with why', () => {
  const plan = planOf(SCENES['a node that is gone'] ?? expect.unreachable())
  const causes = (plan.summary.causes ?? []).map((cause) => ({
    ...cause,
    remedy: [
      'Nobody detaches the volume: make sure that the machine is off; then: volctl plan --cluster --node-gone gone',
    ],
  }))
  const look = { ...plan, operations: [], summary: { ...plan.summary, causes } }
  const text = renderClusterPlan(look, PLAIN_SCREEN, LOOK)
  expect(text).toContain(
    '\nNext: make sure that the machine is off, then: volctl plan --cluster --node-gone gone  # shows what that allows\n',
  )
})
