import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { KillReport, KillRun } from './scenarios/kill.ts'

describe.skipIf(noMounts !== undefined)('apply is killed with SIGKILL, and run again', () => {
  let report: KillReport
  let uninterrupted: KillRun | undefined
  beforeAll(async () => {
    // On one node: two of them have volumes of the same names, each in use elsewhere to the other (S8).
    report = await runScenario<KillReport>('kill', '1', '1')
    uninterrupted = report.runs.at(-1)
  })

  it('at the start and the end of every operation, and at every step', () => {
    const events = report.runs.flatMap(({ event }) => event ?? [])
    const count = (type: string): number => events.filter((event) => event.startsWith(`${type} `)).length
    expect(count('start')).toBe(count('done'))
    for (const kind of ['CleanOrphanVolume', 'UnmountVolume', 'UnmountDevice', 'DetachVolume', 'RemoveOrphanPodDir']) {
      expect(events).toContain(`start ${kind}`)
    }
    // An apply may have ended by itself before the last of them reached it.
    const survived = report.runs.filter(({ event, killed }) => event !== undefined && !killed)
    expect(survived.length).toBeLessThan(3)
  })

  it('the second apply does the rest, and the next plan is empty', () => {
    const unfinished = report.runs.filter(({ second, after }) => second !== 0 || after !== 0)
    expect(unfinished).toEqual([])
  })

  it('no byte of any volume has changed', () => {
    for (const { event, contentsBefore, end } of report.runs) expect(end.contents, event).toEqual(contentsBefore)
  })

  it('the end is the same as without the kill', () => {
    for (const { event, end } of report.runs) {
      expect({ ...end, files: end.files.filter(isNoEmptyStaging(end.files)) }, event).toEqual(uninterrupted?.end)
    }
  })

  it('the driver was asked as the specification wants', () => expect(report.violations).toEqual([]))
})

/**
 * Between the removal of its state file and its own, a staging directory is empty: nothing tells any more whose it was,
 * drivers that stage nothing have such directories too, and the next staging takes it.
 */
function isNoEmptyStaging(files: readonly string[]): (path: string) => boolean {
  return (path) =>
    !/^plugins\/kubernetes\.io\/csi\/[^/]+\/[0-9a-f]{64}\/$/.test(path) ||
    files.some((other) => other !== path && other.startsWith(path))
}
