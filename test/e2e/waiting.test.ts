import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { WaitingReport } from './scenarios/waiting.ts'

describe.skipIf(noMounts !== undefined)('wait, on a node with real mounts', () => {
  let report: WaitingReport
  beforeAll(async () => {
    report = await runScenario('waiting')
  })

  it('all volumes of a whole node are mounted', () => {
    const { status, result } = report.mounted
    expect(status).toBe(0)
    expect(new Set(result?.rows.map(({ pod }) => pod?.name))).toEqual(new Set(['web-0', 'db-0', 'batch-0', undefined]))
  })

  it('5 when the time is up, with what is still mounted, and the next command', () => {
    const { status, result, stderr } = report.stillMounted
    expect(status).toBe(5)
    expect(result?.rows.map(({ volume }) => volume.name)).toEqual(
      expect.arrayContaining(['scratch', 'password', 'pv-common']),
    )
    expect(result?.next).toMatchObject([{ command: expect.stringMatching(/^volctl apply .*--pod/) }])
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'NotReached',
      message: expect.stringMatching(
        /^timed out after \d+ms: pod\/\S+ is not unmounted \(mounted or set up: .*scratch/,
      ),
    })
  })

  it('a node with work to do is not in sync, and is after it', () => {
    expect(report.notInSync.status).toBe(5)
    expect(report.inSync.status).toBe(0)
  })

  it('sees the volumes go while an apply unmounts them', () => {
    const { status, result } = report.unmounted
    expect(status).toBe(0)
    expect(result?.rows.filter(({ pod }) => pod !== undefined)).toEqual([])
  })

  it('a volume that is attached no more is detached', () => {
    expect(report.detached.status).toBe(0)
    expect(report.table).toEqual({ status: 0, stdout: expect.stringMatching(/^\S volume\/pv-idle: unmounted\n$/) })
  })

  it('130 when interrupted', () => expect(report.interrupted.status).toBe(130))
})
