import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { InsecureApiReport } from './scenarios/insecure-api.ts'

const HEADER =
  /^(?:API: .* \(| +! API server \S+: )its certificate is not verified: anyone on the network path could answer\)?$/m

describe.skipIf(noMounts !== undefined)('S34: an API server that the kubeconfig does not verify', () => {
  let report: InsecureApiReport
  beforeAll(async () => {
    report = await runScenario('insecure-api')
  })

  it('a plan says so, in its header and to scripts, and goes on', () => {
    const { plan, json } = report
    expect(plan.status).toBe(0)
    expect(plan.stdout).toMatch(HEADER)
    expect(plan.stdout).toContain('--accept-insecure-api')
    expect(json.plan.inputs.api.insecure).toBe('TlsNotVerified')
    expect(json.plan.operations.length).toBeGreaterThan(0)
    expect(json.plan.refused).toBeUndefined()
  })

  it.each(['refused', 'savedRefused'] as const)('an apply without its flag changes nothing: %s', (which) => {
    const { status, stderr } = report[which]
    expect({ status, unchanged: report.unchanged }).toEqual({ status: 4, unchanged: true })
    expect(stderr).toMatch(HEADER)
    expect(stderr).toMatch(/^volctl: refused: .*https:.* verif.*\n {8}.*--accept-insecure-api\n$/m)
  })

  it('with it, kept in a saved plan, an apply does its work, and question and journal say on what', () => {
    const { accepted, journal, after } = report
    expect(accepted.status).toBe(0)
    expect(accepted.stderr).toMatch(HEADER)
    expect(JSON.parse(journal.stdout).applies).toMatchObject([
      { insecureApi: 'TlsNotVerified', guards: { acceptInsecureApi: true } },
    ])
    expect(after.plan.operations).toEqual([])
  })
})
