/** The main job, whole: a real API server, real mounts, a CSI driver on a socket, and the built volctl. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/apply/events.ts'
import { cannotMount, runScenario } from './run-scenario.ts'
import type { KillRun } from './scenarios/kill.ts'
import type { RepairReport } from './scenarios/repair.ts'

describe.skipIf(cannotMount !== undefined)(`repair${cannotMount === undefined ? '' : `: ${cannotMount}`}`, () => {
  let report: RepairReport
  beforeAll(async () => {
    report = await runScenario('repair')
  })

  it('a healthy node: nothing to do', () => {
    expect(report.healthy.plan.operations).toEqual([])
    expect(report.healthy.status).toBe(0)
  })

  it('what is broken is found: leaked subPath, forgotten staging, attachments, deleted pods', () => {
    const { operations, complete } = report.broken
    expect(operations.filter(({ blocked }) => blocked !== undefined)).toEqual([])
    expect(complete).toBe(true)
    expect(new Set(operations.map(({ reason }) => reason))).toEqual(
      new Set(['PodGone', 'LeakedSubPath', 'LastPodGone', 'StagedWithoutPod', 'NotWanted', 'OrphanPodDir']),
    )
    expect(operations.filter(({ pod }) => pod?.uid === report.livingPod)).toEqual([])
  })

  it('a snapshot of that moment gives the same plan', () => {
    const untimed = ({ createdAt: _, ...plan }: RepairReport['broken']): object => plan
    expect(untimed(report.offline)).toEqual(untimed(report.broken))
    expect(report.snapshotMode).toBe('0600')
  })

  it('apply does it all, and says so operation by operation', () => {
    expect(report.apply).toMatchObject({ status: 0, stderr: '' })
    const events = report.apply.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ApplyEvent)
    const done = events.filter(({ type }) => type === 'done').map(({ id }) => id)
    expect(done.toSorted()).toEqual(report.broken.operations.map(({ id }) => id).toSorted())
    expect(events.at(-1)).toMatchObject({ type: 'result', exit: 0, left: 0 })
  })

  it('every operation came after those that it has to follow', () => {
    const events = report.apply.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ApplyEvent)
    const at = (type: string, id: string): number => events.findIndex((event) => event.type === type && event.id === id)
    for (const { id, after } of report.broken.operations) {
      for (const before of after) expect(at('done', before)).toBeLessThan(at('start', id))
    }
  })

  it('the next plan is empty', () => {
    expect(report.after.plan.operations).toEqual([])
    expect(report.after.status).toBe(0)
  })

  it('the driver was asked as the specification wants', () => {
    expect(report.violations).toEqual([])
    expect(report.driverCalls).toContain('NodeUnpublishVolume')
    expect(report.driverCalls).toContain('NodeUnstageVolume')
  })

  it('no byte of any volume has changed, and what lives is untouched', () => {
    expect(report.end.contents).toEqual(report.contentsBefore)
    expect(report.end.mounts.filter((path) => path.includes(report.livingPod))).toEqual(report.mountsBefore)
    expect(report.mountsBefore.length).toBeGreaterThan(0)
    expect(report.end.files).toContain(`pods/${report.livingPod}/volumes/kubernetes.io~empty-dir/scratch/notes.txt`)
    expect(report.end.files.filter((path) => /^pods\/[^/]+\/$/.test(path))).toEqual([`pods/${report.livingPod}/`])
  })

  it('killed at every operation boundary and run again, the end is the same', { timeout: 600_000 }, async () => {
    const runs = await runScenario<KillRun[]>('kill')
    const killed = runs.filter((run) => run.killed)
    expect(killed.length).toBeGreaterThanOrEqual(2 * report.broken.operations.length - 2)
    for (const run of runs) {
      expect(run, run.event).toMatchObject({ second: 0, after: 0 })
      expect(run.end.contents, run.event).toEqual(run.contentsBefore)
      expect({ ...run.end, contents: {} }, run.event).toEqual({ ...report.end, contents: {} })
    }
  })
})
