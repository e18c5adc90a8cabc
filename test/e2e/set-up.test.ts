/** The other half of the main job: what pods want and do not have is brought up, by the built volctl. */
import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { timesInTable } from '../helpers/scene/layouts.ts'
import { inContainer, layoutsHere, runScenario } from './run-scenario.ts'
import type { SetUpReport } from './scenarios/set-up.ts'

describe.skipIf(noMounts !== undefined)(`set-up${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  describe.each(layoutsHere)('its root directory: %s', (layout) => {
    let report: SetUpReport
    beforeAll(async () => {
      report = await runScenario('set-up', layout)
    })

    it.skipIf(inContainer)('every mount stands in the table as often as this layout makes it', () => {
      const { mounts } = report.end
      expect(mounts.length / new Set(mounts).size).toBe(timesInTable(layout))
    })

    it('after a reboot everything is planned, and nothing is blocked (O25)', () => {
      const { operations, waiting } = report.rebooted.plan
      expect(operations.filter(({ blocked }) => blocked !== undefined)).toEqual([])
      expect(waiting).toEqual([])
      expect(new Set(operations.map(({ kind }) => kind)).has('MountVolume')).toBe(true)
    })

    it('apply brings it up, and the next plan is empty', () => {
      expect(report.apply).toMatchObject({ status: 0, stderr: '' })
      expect(report.after.plan.operations).toEqual([])
      expect(report.after.plan.problems).toEqual([])
      expect(report.after.status).toBe(0)
    })

    it('what is mounted is what was mounted before, but for sub-paths, which containers get', () => {
      const own = (paths: readonly string[]): string[] =>
        paths.filter((path) => !path.includes('volume-subpaths')).toSorted()
      expect(own(report.end.mounts)).toEqual(own(report.before.mounts))
    })

    it('no byte of any volume has changed', () => {
      const { 'pod that lives': _, ...before } = report.before.contents
      expect(report.end.contents).toMatchObject(before)
      expect(report.violations).toEqual([])
      const count = (rpc: string): number => report.driverCalls.filter((each) => each === rpc).length
      // Two pods share a volume: it is staged once.
      expect(count('NodePublishVolume') - count('NodeStageVolume')).toBe(1)
    })

    it('a configMap that changed waits to be asked for, and is written anew then (S23)', () => {
      const { plan, apply, text, after } = report.changed
      expect(plan.plan.operations.map(({ kind, blocked }) => [kind, blocked?.code])).toEqual(
        Array(3).fill(['RemountVolume', 'NotAsked']),
      )
      expect(apply).toMatchObject({ status: 0, stderr: '' })
      expect(text).toBe('greeting = good morning\n')
      expect(after.plan.operations).toEqual([])
    })

    it('a secret is where it belongs, and nowhere else', () => {
      expect(report.password).toEqual({ text: 'open sesame', mode: '644' })
      expect(report.said).not.toContain('open sesame')
      expect(report.said).not.toContain(Buffer.from('open sesame').toString('base64'))
    })
  })
})
