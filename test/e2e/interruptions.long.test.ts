import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { inContainer, runScenario } from './run-scenario.ts'
import type { InterruptionsReport } from './scenarios/interruptions.ts'

describe.skipIf(noMounts !== undefined)('an apply that does not go its way', () => {
  let report: InterruptionsReport
  beforeAll(async () => {
    report = await runScenario('interruptions')
  })

  const states = (text: string): (string | undefined)[] =>
    text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type?: string }).type)

  it.skipIf(inContainer)(
    'one interruption: what runs is waited for, nothing new is started, and the status says so',
    () => {
      const { status, stdout, stderr, left, milliseconds } = report.once
      expect(status).toBe(130)
      expect(stderr).toContain('Interrupted: no further operation is started')
      const after = states(stdout)
      expect(after).toContain('done')
      expect(after).toContain('interrupted')
      expect(milliseconds).toBeGreaterThan(1500)
      expect(left).toBeGreaterThan(0)
    },
  )

  it.skipIf(inContainer)('a second one leaves at once, and names what is unfinished', () => {
    const { status, stdout, milliseconds, left } = report.twice
    expect(status).toBe(130)
    expect(milliseconds).toBeLessThan(60_000)
    expect(stdout).toContain('abandoned before it ended')
    expect(left).toBeGreaterThan(0)
  })

  it('a hang-up does not stop it', () => expect(report.hangUp).toMatchObject({ status: 0, left: 0 }))

  it('a kubelet that comes stops it (S11)', () => {
    const { status, stdout, left } = report.kubelet
    expect(status).toBe(3)
    expect(stdout).toContain('kubelet')
    expect(left).toBeGreaterThan(0)
  })

  it('so does a lease that is renewed meanwhile, though no kubelet is seen here (S11)', () => {
    const { status, stdout, left } = report.lease
    expect(status).toBe(3)
    expect(stdout).toMatch(/the node's lease was renewed at .*"code":"KubeletRunning"/)
    expect(left).toBeGreaterThan(0)
  })

  it('a second apply is told who holds the lock', () => {
    expect(report.second.status).toBe(1)
    expect(report.second.stderr).toMatch(/volctl: .*pid \d+/)
  })

  it('on a terminal it shows the plan and asks; Ctrl-C there changes nothing', () => {
    const { status, stdout, left } = report.unanswered
    expect(stdout).toContain('HANDLE FROM')
    expect(stdout).toContain('interrupted: nothing was changed')
    expect(status).toBe(130)
    expect(left).toBe(report.answeredNo.left)
  })

  it('only yes is a yes', () => {
    const { status, stdout, left } = report.answeredNo
    expect(stdout).toContain('not confirmed: nothing was changed')
    expect(status).toBe(1)
    expect(left).toBeGreaterThan(10)
  })

  it('yes does it, with a line for each running operation, in colour', () => {
    const { status, stdout, left } = report.answeredYes
    expect({ status, left }).toEqual({ status: 0, left: 0 })
    expect(stdout).toMatch(/\d+ of \d+ operations ended/)
    expect(stdout).toContain('\u001b[32mdone')
    expect(stdout).toContain('Nothing is left to do.')
  })
})
