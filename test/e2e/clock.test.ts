import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { ClockReport } from './scenarios/clock.ts'

describe.skipIf(noMounts !== undefined)('clocks that disagree', () => {
  let report: ClockReport
  beforeAll(async () => {
    report = await runScenario('clock')
  })

  it("S28: what is done is the same, whether the cluster's clock is right, an hour behind or an hour ahead", () => {
    expect(report.right.length).toBeGreaterThan(10)
    expect(report.behind).toEqual(report.right)
    expect(report.ahead).toEqual(report.right)
  })

  it('S29: a cluster whose clock is right, and whose times are an hour old, is one from a backup', () => {
    expect(report.restored.status).toBe(4)
    expect(report.restored.stderr).toMatch(/^volctl: refused: directory pods\/\S+ is newer than anything/)
  })

  it("S28: while a kubelet runs, nothing looks settled because this host's clock was set forward", () => {
    expect(report.settled.operations).toBeGreaterThan(5)
    expect(report.settled.waiting).not.toContain('Settling')
    expect(report.setForward.operations).toBe(0)
    expect(report.setForward.waiting).toContain('Settling')
    expect(report.setBack).toEqual(report.settled)
  })

  it('S28: one that jumps while apply is at work changes nothing of it', () => {
    const { status, ends, left } = report.jump
    expect({ status, left }).toEqual({ status: 0, left: 0 })
    expect(ends.filter((end) => !end.endsWith(': done'))).toEqual([])
  })
})
