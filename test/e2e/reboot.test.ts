/** A booted node without its kubelet: the built volctl mounts everything anew (O25). */
import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { RebootReport } from './scenarios/reboot.ts'

describe.skipIf(noMounts !== undefined)(
  `a boot without a kubelet${noMounts === undefined ? '' : `: ${noMounts}`}`,
  () => {
    let report: RebootReport
    beforeAll(async () => {
      report = await runScenario('reboot')
    }, 120_000)

    it('plans every volume of every pod, and nothing else', () => {
      const { operations, waiting, problems } = report.booted.plan
      const kinds = new Set(operations.map(({ kind, blocked }) => `${kind} ${blocked?.code ?? ''}`))
      expect([...kinds].toSorted()).toEqual(report.withBlockVolumes ? ['MapVolume ', 'MountVolume '] : ['MountVolume '])
      expect([waiting, problems]).toEqual([[], []])
    })

    it('mounts all of it, with the data that was there', () => {
      expect(report.apply.status).toBe(0)
      const [before, booted, after] = report.mountPoints
      // The kubelet makes sub-paths when it starts a container.
      expect(after.toSorted()).toEqual(before.filter((path) => !path.includes('/volume-subpaths/')).toSorted())
      expect(booted).toEqual([])
      const [hashes, again] = report.hashes
      expect({ ...again, 'pod that lives': '' }).toEqual({ ...hashes, 'pod that lives': '' })
    })

    it('leaves nothing to do, and the driver nothing to complain of', () => {
      expect(report.after.status).toBe(0)
      expect(report.after.plan.operations).toEqual([])
      expect(report.violations).toEqual([])
      const count = (rpc: string): number => report.driverCalls.filter((each) => each === rpc).length
      // Two pods share a volume: it is staged once.
      expect(count('NodePublishVolume') - count('NodeStageVolume')).toBe(1)
    })
  },
)
