import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { inContainer, runScenario } from './run-scenario.ts'
import type { TwoAppliesReport } from './scenarios/two-applies.ts'

describe.skipIf(noMounts !== undefined || inContainer)('two applies on one node', () => {
  let report: TwoAppliesReport
  beforeAll(async () => {
    report = await runScenario('two-applies')
  })

  it.each(['stopped', 'killed'] as const)(
    'while the first one is at work (and then %s), a second one says who it is, and changes nothing',
    (what) => {
      const { pid, refused, unchanged } = report[what]
      expect(refused).toMatchObject({ status: 1, stdout: '' })
      expect(JSON.parse(refused.stderr)).toEqual({
        apiVersion: 'volctl.io/v1',
        kind: 'Error',
        code: 'Locked',
        message: expect.stringMatching(`^another apply is running: pid ${pid} of \\S+, since \\d{4}-`),
        hint: expect.stringContaining('Wait for it to end'),
      })
      expect(unchanged).toBe(true)
    },
  )

  it('the first one, stopped for a while, goes on where it was', () =>
    expect(report.goesOn).toEqual({ status: 0, left: 0 }))

  it('of one that was killed the lock is taken over, it is said of whom, and the rest is done', () => {
    const { status, notes, left, applies } = report.takesOver
    expect({ status, left }).toEqual({ status: 0, left: 0 })
    const { pid } = report.killed
    expect(notes).toEqual([
      ['Locked', expect.stringContaining(`took over the lock of an apply that died: pid ${pid} of `)],
    ])
    const [dead, third] = applies.slice(-2)
    expect(dead?.by?.pid).toBe(pid)
    expect(dead?.endedAt).toBeUndefined()
    expect(
      dead?.operations.filter(({ state }) => state !== 'done').map(({ state, volume }) => [state, volume]),
    ).toEqual([['unfinished', 'pv-common']])
    expect(third?.tookOverFrom?.pid).toBe(pid)
  })

  it('S26: one that had looked before another did everything finds it done, and changes nothing', () => {
    const { ends, ...late } = report.late
    expect(late).toEqual({ other: 0, status: 0, unclear: [], unchanged: true, left: 0 })
    expect(ends.length).toBeGreaterThan(5)
    expect(ends.filter((end) => !end.endsWith(': done'))).toEqual([])
  })

  it('the driver was asked as the specification wants', () => expect(report.violations).toEqual([]))
})
