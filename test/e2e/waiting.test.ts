import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { WaitingReport } from './scenarios/waiting.ts'

describe.skipIf(noMounts !== undefined)('wait, on a node with real mounts', () => {
  let report: WaitingReport
  beforeAll(async () => {
    report = await runScenario('waiting')
  })

  it('all pods of a whole node are mounted: a line for each', () => {
    const { status, result } = report.mounted
    expect(status).toBe(0)
    expect(result?.targets.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'pod/shop/web-0 reached',
      'pod/shop/db-0 reached',
      'pod/shop/batch-0 reached',
    ])
  })

  it('5 when the time is up, with what is still mounted, and the next command', () => {
    const { status, result, stderr } = report.stillMounted
    expect(status).toBe(5)
    expect(result).toMatchObject({
      outcome: 'timedOut',
      targets: [{ state: 'pending', mounted: expect.arrayContaining(['scratch', 'password', 'pv-common']) }],
    })
    expect(result?.looks.node).toBeGreaterThan(1)
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'NotReached',
      message: expect.stringMatching(/^timed out after \d+ms: pod\/\S+ is not unmounted$/),
      hint: expect.stringMatching(/^Next: volctl /),
    })
  })

  it('a node with work to do is not in sync, and is after it', () => {
    expect(report.notInSync).toMatchObject({ status: 5, result: { targets: [{ state: 'pending' }] } })
    expect(report.inSync).toMatchObject({ status: 0, result: { targets: [{ state: 'reached' }] } })
  })

  it('sees the volumes go while an apply unmounts them', () => {
    const { status, result } = report.unmounted
    expect(status).toBe(0)
    expect(result?.outcome).toBe('reached')
    expect(result?.targets).toHaveLength(2)
    expect(result?.looks.node).toBeGreaterThan(1)
    // Less than a second of looks for each question to the API server.
    expect(result?.looks.api).toBeLessThan(result?.looks.node ?? 0)
  })

  it('a volume that is attached no more is detached', () => {
    expect(report.detached).toMatchObject({ status: 0, result: { outcome: 'reached' } })
    expect(report.table).toEqual({ status: 0, stdout: expect.stringMatching(/^\S pv\/pv-idle: unmounted\n$/) })
  })

  it('130 when interrupted', () => {
    expect(report.interrupted).toMatchObject({ status: 130, result: { outcome: 'interrupted' } })
  })
})
