import { expect, it } from 'vitest'
import { planExitStatus, refusalOf } from '../../src/core/cli/carry-out.ts'
import type { Problem, Refusal, Waiting } from '../../src/core/plan/plan.ts'
import { anOperation, aPlan } from './plan-builder.ts'

const error: Problem = { severity: 'error', code: 'DeadMount', message: 'x', about: {} }
const blocked = anOperation({ blocked: { code: 'DeletesData', message: 'x' } })
const waiting: Waiting = { kind: 'DetachVolume', code: 'KubeletRunning', message: 'x', rule: 'S21' }
const refused: Refusal = { rule: 'S1', code: 'WrongMachine', message: 'another machine', hint: 'Name the node.' }

it.each([
  { name: 'nothing to do', plan: aPlan(), plain: 0, detailed: 0 },
  { name: 'operations', plan: aPlan({ operations: [anOperation()] }), plain: 0, detailed: 2 },
  { name: 'blocked operations only', plan: aPlan({ operations: [blocked] }), plain: 0, detailed: 2 },
  { name: 'a problem of severity error', plan: aPlan({ problems: [error] }), plain: 0, detailed: 1 },
  { name: 'a warning', plan: aPlan({ problems: [{ ...error, severity: 'warning' }] }), plain: 0, detailed: 0 },
  {
    name: 'error and operation',
    plan: aPlan({ operations: [anOperation()], problems: [error] }),
    plain: 0,
    detailed: 2,
  },
  { name: 'something waits', plan: aPlan({ waiting: [waiting] }), plain: 0, detailed: 5 },
  {
    name: 'something waits, and an operation',
    plan: aPlan({ waiting: [waiting], operations: [anOperation()] }),
    plain: 0,
    detailed: 2,
  },
  {
    name: 'something waits, and an error',
    plan: aPlan({ waiting: [waiting], problems: [error] }),
    plain: 0,
    detailed: 1,
  },
  { name: 'not complete', plan: aPlan({ complete: false }), plain: 0, detailed: 1 },
  { name: 'refused', plan: aPlan({ refused, operations: [blocked] }), plain: 4, detailed: 4 },
])('$name: $plain, with --detailed-exitcode $detailed', ({ plan, plain, detailed }) => {
  expect(planExitStatus(plan, false)).toBe(plain)
  expect(planExitStatus(plan, true)).toBe(detailed)
})

it('a refusal names its rule', () => {
  expect(refusalOf(aPlan({ refused }))).toMatchObject({
    rule: 'S1',
    message: 'another machine',
    code: 'WrongMachine',
    hint: 'Name the node.',
    exit: 4,
  })
  expect(refusalOf(aPlan())).toBeUndefined()
})
