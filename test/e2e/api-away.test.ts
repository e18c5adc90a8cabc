import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { ApiAwayReport, AwayRun } from './scenarios/api-away.ts'

/** Of the first six operations of the pods that are gone, and of those that come after. */
const UNDONE = [
  'CleanOrphanVolume pv-archive',
  ...['logs', 'password', 'pv-batch', 'pv-common', 'scratch', 'settings'].map((volume) => `UnmountVolume ${volume}`),
]

describe.skipIf(noMounts !== undefined)('the API server goes away while apply is at work', () => {
  let report: ApiAwayReport
  beforeAll(async () => {
    report = await runScenario('api-away')
  })

  const runOf = (name: string): AwayRun => {
    const run = report.runs[name]
    if (run === undefined) throw new Error(`no run ${name}`)
    return run
  }

  it.each([
    { name: 'silent', why: 'TimedOut' },
    { name: 'dropped', why: 'ApiUnreachable' },
    { name: 'forbidden', why: 'Forbidden' },
    { name: 'throttled', why: 'ApiFailed' },
  ])('S3: $name right after the plan: nothing is done on what it said before', ({ name, why }) => {
    const { status, ends, unchanged } = runOf(name)
    expect({ status, unchanged }).toEqual({ status: 3, unchanged: true })
    expect(ends).toEqual(
      [
        ...[...UNDONE, 'UnmountDevice vol-old'].map((operation) => `${operation}: refused AlivenessUnknown`),
        ...['UnmountDevice pv-batch', 'DetachVolume pv-batch', 'DetachVolume vol-old'].map(skipped),
        ...['RemoveOrphanPodDir -', 'RemoveOrphanPodDir -'].map(skipped),
        // A detach asks for itself.
        `DetachVolume pv-idle: failed ${why}`,
      ].toSorted(),
    )
  })

  it('one that answers nothing at all keeps no operation longer than --timeout', () =>
    expect(runOf('silent').seconds).toBeLessThan(25))

  it('between two operations: what is done is done, and what comes next is not begun', () => {
    const { status, ends } = runOf('between')
    expect(status).toBe(3)
    expect(ends).toContain('UnmountVolume pv-common: done')
    expect(ends).toContain('UnmountVolume scratch: refused AlivenessUnknown')
    expect(ends).toContain('UnmountDevice vol-old: refused AlivenessUnknown')
    expect(ends).toContain('DetachVolume pv-idle: failed ApiFailed')
  })

  it('while it is asked to detach: each failure by itself, the rest is done', () => {
    const { status, ends } = runOf('detaching')
    expect(status).toBe(3)
    expect(ends.filter((end) => !end.endsWith(': done'))).toEqual([
      'DetachVolume pv-idle: failed Forbidden',
      'DetachVolume vol-batch: failed ApiUnreachable',
      'DetachVolume vol-old: failed ApiFailed',
    ])
  })

  it('before its answer to a detach: what became of it is read; and that it is away at the end changes no outcome', () => {
    const { status, ends, notes } = runOf('lost')
    expect({ status, ends }).toEqual({
      status: 0,
      ends: ['pv-batch', 'pv-idle', 'pv-old'].map((volume) => `DetachVolume ${volume}: done`),
    })
    expect(notes).toEqual(['ReadFailed'])
  })

  it('while volumes are brought up: what is half-made is taken back', () => {
    const { status, ends } = runOf('mounting')
    expect(status).toBe(3)
    expect(ends).toEqual([
      'MountVolume password: failed ContentUnknown',
      'MountVolume password: failed ContentUnknown',
      'MountVolume pv-archive: done',
      'MountVolume pv-batch: failed ApiFailed',
      'MountVolume pv-common: failed ApiUnreachable',
      'MountVolume pv-common: skipped ApiUnreachable',
    ])
    expect(report.mounts.halfMade.map((path) => path.split('/').at(-1))).toEqual(['pv-archive'])
  })

  it('for a moment: what needs it waits, and all is done', () => {
    const { status, ends } = runOf('waiting')
    expect(status).toBe(0)
    expect(ends.filter((end) => !end.endsWith(': done'))).toEqual([])
  })

  it('every failure is one clear line with a code of the catalogue and a next step', () => {
    for (const [name, { unclear, stderr }] of Object.entries(report.runs)) {
      expect(unclear, name).toEqual([])
      expect(stderr, name).not.toMatch(/^ +at /m)
    }
  })

  it('when it answers again, the next apply comes to the same end', () => {
    expect(report.left).toEqual([0, 0])
    expect(report.contentsUnchanged).toBe(true)
    expect(report.mounts.broughtUp).toEqual(report.mounts.before)
    expect(report.violations).toEqual([])
  })
})

const skipped = (operation: string): string => `${operation}: skipped AlivenessUnknown`
