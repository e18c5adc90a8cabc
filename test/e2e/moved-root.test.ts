/** S8: volumes below the place that a root directory had before it was moved, with a real API server and real mounts. */
import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { MovedRootReport } from './scenarios/moved-root.ts'

describe.skipIf(noMounts !== undefined)(
  `a root directory that was moved${noMounts === undefined ? '' : `: ${noMounts}`}`,
  () => {
    let report: MovedRootReport
    beforeAll(async () => {
      report = await runScenario('moved-root')
    })

    it('S8: a root directory that is a link, with a link in it, is what it leads to', () => {
      expect(report.byLink).toEqual({ alone: ['0 true'], both: ['0 true'] })
    })

    it('S8: what pods have mounted below the old place is not set up a second time below the new one', () => {
      const { blocked, ready, message } = report.emptied
      expect({ blocked, ready }).toEqual({ blocked: ['MountVolume HeldBy'], ready: 0 })
      expect(message).toMatch(
        /^the pod has volumes outside the root directory \S+\/kubelet\.new: \S+\/kubelet\/pods\/\S+ is mounted$/,
      )
    })

    it('a control: with nothing set up elsewhere all of it is planned', () => {
      expect(report.planned.nothing).toEqual(READY)
    })

    it.each(['staged', "published in a pod's directory", 'raw block, published'])(
      'S8: %s below the old place: the detach is not planned',
      (way) => {
        expect(report.planned[way]).toEqual(READY.with(0, 'DetachVolume pv-idle: HeldBy'))
      },
    )

    it('S8: what is staged in both places is not unstaged here', () => {
      expect(report.planned['staged, of one that is staged here as well']).toEqual([
        'DetachVolume pv-idle: ready',
        'DetachVolume vol-old: HeldBy',
        'UnmountDevice vol-old: HeldBy',
      ])
    })

    it('S8, S21: in a mount namespace of somebody else alone: the detach is not planned, and the apply does not begin it', () => {
      expect(report.elsewhere.planned).toEqual(['DetachVolume pv-idle: HeldBy'])
      expect(report.elsewhere.ends).toEqual(['DetachVolume pv-idle: blocked HeldBy'])
      expect(report.elsewhere.said).toMatch(
        /^volume pv-idle is also set up elsewhere on this node: tmpfs mount \d+ of disk on \S+\/kubelet\.old\/\S+\/globalmount, in the mount namespace of sleep/,
      )
      expect(report.attachments.held).toEqual(['pv-idle'])
    })

    it('a control: with that process its mount is gone, and the same apply detaches', () => {
      expect(report.control).toEqual(['DetachVolume pv-idle: done'])
      expect(report.attachments.after).toEqual([])
    })
  },
)

const READY = ['DetachVolume pv-idle: ready', 'DetachVolume vol-old: ready', 'UnmountDevice vol-old: ready']
