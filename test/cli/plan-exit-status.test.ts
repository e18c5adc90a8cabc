import { expect, it } from 'vitest'
import { planExitStatus, requireUnrefused } from '../../src/core/cli/carry-out.ts'
import type { Plan, Problem, Refusal, Waiting } from '../../src/core/plan/plan.ts'
import { anOperation, aPlan } from './plan-builder.ts'

const error: Problem = { severity: 'error', code: 'DeadMount', message: 'x', about: {} }
const blocked = anOperation({ blocked: { code: 'DeletesData', message: 'x' } })
const waiting: Waiting = { kind: 'DetachVolume', code: 'KubeletRunning', message: 'x', rule: 'S21' }
const refused: Refusal = { rule: 'S1', code: 'WrongMachine', message: 'another machine', hint: 'Name the node.' }

const operations = [anOperation()]
it.each<[name: string, plain: number, detailed: number, plan: Plan]>([
  ['nothing to do', 0, 0, aPlan()],
  ['operations', 0, 2, aPlan({ operations })],
  ['blocked operations only', 0, 2, aPlan({ operations: [blocked] })],
  ['a problem of severity error', 0, 1, aPlan({ problems: [error] })],
  ['a warning', 0, 0, aPlan({ problems: [{ ...error, severity: 'warning' }] })],
  ['error and operation', 0, 2, aPlan({ operations, problems: [error] })],
  ['something waits', 0, 5, aPlan({ waiting: [waiting] })],
  ['something waits, and an operation', 0, 2, aPlan({ waiting: [waiting], operations })],
  ['something waits, and an error', 0, 1, aPlan({ waiting: [waiting], problems: [error] })],
  ['not complete', 0, 1, aPlan({ complete: false })],
  ['refused', 4, 4, aPlan({ refused, operations: [blocked] })],
])('%s: %s, with --detailed-exitcode %s', (_name, plain, detailed, plan) => {
  expect(planExitStatus(plan, false)).toBe(plain)
  expect(planExitStatus(plan, true)).toBe(detailed)
})

it('a refusal names its rule', () => {
  expect(() => requireUnrefused(aPlan({ refused }))).toThrow(expect.objectContaining({ ...refused, exit: 4 }))
  expect(() => requireUnrefused(aPlan())).not.toThrow()
})
