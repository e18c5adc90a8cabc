/** A dead mount over, or a foreign one below, an emptyDir of a deleted pod: what is said before anyone acts, and what then happens. */
import { beforeAll, describe, expect, it } from 'vitest'
import { noRoot } from '../helpers/namespace.ts'
import { runMachine } from './run-scenario.ts'
import type { OverEmptyDirsReport } from './scenarios/over-empty-dirs.ts'

describe.skipIf(noRoot !== undefined)('emptyDirs of deleted pods with a mount of somebody else', () => {
  let report: OverEmptyDirsReport
  beforeAll(async () => {
    report = await runMachine('over-empty-dirs')
  })

  it('O41: a dead FUSE mount is blocked, and --lazy is named as the way out', () => {
    const { plain, orphans } = report.dead
    expect(plain.operations).toEqual(['UnmountVolume DeadMount'])
    expect(plain.hint).toMatch(/volctl plan --lazy 'ROOT\/pods\/.*\/kubernetes\.io~empty-dir\/cache'$/)
    expect(orphans.operations).toEqual(['UnmountVolume DeadMount'])
    expect(orphans.hint).toMatch(/volctl plan --orphans --lazy 'ROOT/)
  })

  it("S18, S20: without --lazy nothing of it is touched; with it the pod's directory goes", () => {
    const { unasked, lazy, asked, after } = report.dead
    expect(unasked).toEqual({ ends: ['UnmountVolume cache: blocked DeadMount'], stays: true })
    expect(lazy.operations).toEqual(['UnmountVolume', 'RemoveOrphanPodDir'])
    expect(asked).toEqual({ ends: ['RemoveOrphanPodDir -: done', 'UnmountVolume cache: done'], stays: false })
    expect(after.operations).toEqual([])
  })

  it('S13: of a foreign mount plan, explain and the end of apply say that a kubelet would delete its content', () => {
    const { plan, planned, explained, applied } = report.foreign
    expect(plan.operations).toEqual(['UnmountVolume ForeignMount'])
    expect(applied).toMatchObject({ ends: ['UnmountVolume work: blocked ForeignMount'], stays: true })
    for (const said of [planned, explained, applied.text]) {
      expect(said).toContain('a kubelet that starts deletes everything in it')
      expect(said).toContain('Do not start the kubelet before it is unmounted.')
    }
    expect(report.foreign.content).toBe('of somebody\n')
  })
})
