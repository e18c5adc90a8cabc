/** The main job, whole: a real API server, real mounts, a CSI driver on a socket, and the built volctl. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/plan/events.ts'
import { noMounts } from '../helpers/namespace.ts'
import { timesInTable } from '../helpers/scene/layouts.ts'
import { inContainer, layoutsHere, runScenario } from './run-scenario.ts'
import type { Look, RepairReport } from './scenarios/repair.ts'

describe.skipIf(noMounts !== undefined)(`repair${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  describe.each(layoutsHere)('its root directory: %s', (layout) => {
    let report: RepairReport
    beforeAll(async () => {
      report = await runScenario('repair', layout)
    })

    it('a healthy node: nothing to do', () => {
      expect(report.healthy.live.plan.operations).toEqual([])
      expect(report.healthy.live.plan.problems).toEqual([])
      expect(report.healthy.live.status).toBe(0)
      expect(report.healthy.tables[0]).toContain('\nNothing to do')
    })

    it.skipIf(inContainer)('every mount stands in the table as often as this layout makes it', () => {
      const { mounts } = report.lookedAt[0]
      expect(mounts.length / new Set(mounts).size).toBe(timesInTable(layout))
    })

    it('what is broken is found: leaked subPaths, forgotten staging, attachments, deleted pods', () => {
      const { status, plan } = report.broken.live
      const { operations, complete } = plan
      expect(status).toBe(2)
      expect(complete).toBe(true)
      expect(operations.filter(({ blocked }) => blocked !== undefined)).toEqual([])
      expect(operations.filter(({ pod }) => pod?.uid === report.livingPod)).toEqual([])
      const count = Object.fromEntries(
        Object.entries(Object.groupBy(operations, ({ kind, reason }) => `${kind} ${reason}`)).map(([key, list]) => [
          key,
          list?.length,
        ]),
      )
      const block = report.withBlockVolumes ? 1 : 0
      expect(count).toEqual({
        // Of each pod its configMap, secret and two emptyDirs; of one two CSI volumes.
        'UnmountVolume PodGone': 10,
        // The hostPath of both, and what is left of a CSI volume.
        'UnmountVolume LeakedSubPath': 3,
        'CleanOrphanVolume NotReconstructable': 1,
        'UnmountDevice LastPodGone': 2,
        'UnmountDevice StagedWithoutPod': 1,
        'DetachVolume NotWanted': 4 + block,
        'RemoveOrphanPodDir OrphanPodDir': 2,
        ...(block === 1 && { 'UnmapVolume PodGone': 1, 'UnmapDevice LastPodGone': 1 }),
      })
    })

    it.skipIf(inContainer).each(['healthy', 'broken'] as const)(
      'a snapshot of the %s node gives the same plan, byte by byte',
      (state) => {
        const { live, offline, tables } = report[state]
        expect(placeless(untimed(offline.text))).toBe(untimed(live.text))
        expect(offline.status).toBe(live.status)
        expect(tables[1]?.replace('\nNext: on node worker-1: ', '\nNext: ')).toBe(tables[0])
        expect(report[state].snapshotMode).toBe('600')
      },
    )

    it('looking changes nothing, on the node or in the cluster', () => {
      const looks: Look[] = [report.healthy, report.broken]
      const writes = looks.flatMap(({ requests }) => requests).filter((request) => !isRead(request))
      expect(writes).toEqual([])
      expect(report.lookedAt[1]).toEqual(report.lookedAt[0])
    })

    it('apply does it all, and says so operation by operation', () => {
      expect(report.apply).toMatchObject({ status: 0, stderr: '' })
      const done = eventsOf(report).filter(({ type }) => type === 'done')
      const planned = report.broken.live.plan.operations
      expect(done.map(({ id }) => id).toSorted()).toEqual(planned.map(({ id }) => id).toSorted())
      expect(eventsOf(report).at(-1)).toMatchObject({ type: 'result', exit: 0, left: 0 })
    })

    it('every operation came after those that it has to follow', () => {
      const events = eventsOf(report)
      const at = (type: string, id: string): number =>
        events.findIndex((event) => event.type === type && event.id === id)
      for (const { id, after } of report.broken.live.plan.operations) {
        for (const before of after) expect(at('done', before)).toBeLessThan(at('start', id))
      }
    })

    it('the next plan is empty, and there is nothing to apply', () => {
      expect(report.after.plan.operations).toEqual([])
      expect(report.after.status).toBe(0)
      expect(report.again).toMatchObject({ status: 0 })
      expect(report.again.stdout).toContain('Nothing is left to do.')
    })

    it('the driver was asked as the specification wants', () => {
      expect(report.violations).toEqual([])
      // The shared volume stays staged for the pod that lives.
      const unstaged = report.driverCalls.filter((call) => call === 'NodeUnstageVolume')
      expect(unstaged).toHaveLength(report.withBlockVolumes ? 4 : 3)
    })

    it('no byte of any volume has changed, and what lives is untouched', () => {
      const [before] = report.lookedAt
      const ofLiving = (path: string): boolean => path.includes(report.livingPod)
      expect(report.end.contents).toEqual(before.contents)
      expect(report.end.mounts.filter(ofLiving)).toEqual(before.mounts.filter(ofLiving))
      expect(report.end.files.filter(ofLiving)).toEqual(before.files.filter(ofLiving))
    })

    it('of deleted pods nothing is left', () => {
      const pods = report.end.files.filter((path) => /^pods\/[^/]+\/$/.test(path))
      expect(pods).toEqual([`pods/${report.livingPod}/`])
      const [before] = report.lookedAt
      expect(before.files).toEqual(expect.arrayContaining([...report.goneDirectories]))
    })
  })
})

const untimed = (text: string): string => text.replace(/"createdAt": *"[^"]*"/, '"createdAt": ""')

/** What acts is typed on the node, and only a plan of a snapshot says on which one. */
const placeless = (text: string): string => text.replaceAll(/,\n *"node": "worker-1"(?=\n *\})/g, '')

/** A question about oneself is a POST that stores nothing. */
function isRead(request: string): boolean {
  return (
    request.startsWith('GET ') || /^POST \/apis\/auth(entication|orization)\.k8s\.io\/v1\/selfsubject/.test(request)
  )
}

function eventsOf({ apply }: RepairReport): ApplyEvent[] {
  const lines = apply.stdout.trim().split('\n')
  return lines.map((line) => JSON.parse(line) as ApplyEvent)
}
