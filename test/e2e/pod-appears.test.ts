import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/plan/events.ts'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { Appeared, PodAppearsReport } from './scenarios/pod-appears.ts'

const noTerminal = spawnSync('script', ['--version']).status === 0 ? undefined : 'there is no script(1) here'
const cannot = noMounts ?? noTerminal

describe.skipIf(cannot !== undefined)(`a container appears after the plan${cannot ? `: ${cannot}` : ''}`, () => {
  let report: PodAppearsReport
  beforeAll(async () => {
    report = await runScenario('pod-appears')
  })

  const ofPod = ({ pod }: Appeared, paths: readonly string[]): string[] => paths.filter((path) => path.includes(pod))

  describe('while the person is asked', () => {
    it('S26: nothing of that pod is touched, the rest is done', () => {
      const { before, end, apply } = report.atThePrompt
      expect(ofPod(report.atThePrompt, end.files)).toEqual(ofPod(report.atThePrompt, before.files))
      expect(ofPod(report.atThePrompt, end.mounts)).toEqual(ofPod(report.atThePrompt, before.mounts))
      expect(end.contents).toEqual(before.contents)
      // Detached are the forgotten and the idle volume, not that of the pod.
      expect(end.detached).toHaveLength(2)
      expect(apply.status).toBe(3)
      expect(apply.stdout).toContain('Changed')
    })

    it('the next plan leaves it alone as well, and says why', () => {
      const { plan, status } = report.atThePrompt.after
      expect(plan.operations).toEqual([])
      const others = plan.problems.map(({ code }) => code).filter((code) => code !== 'ReportedUnused')
      expect(others).toEqual(['PodGoneButRunning'])
      expect(status).toBe(1)
    })
  })

  it('S26: while apply is at work, what has not begun yet is refused', () => {
    const { apply, end, pod } = report.meanwhile
    const events = apply.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ApplyEvent)
    const called = events.findIndex(({ step }) => step?.op === 'NodeUnpublishVolume')
    const later = events.slice(called).filter((event) => event.pod?.uid === pod && event.type !== 'start')
    expect(later.map(({ type, kind, volume }) => ({ type, kind, volume }))).toEqual([
      { type: 'refused', kind: 'UnmountVolume', volume: 'settings' },
      { type: 'skipped', kind: 'RemoveOrphanPodDir', volume: undefined },
    ])
    expect(end.files).toContain(`pods/${pod}/volumes/kubernetes.io~configmap/settings/app.conf`)
    expect(apply.status).toBe(3)
  })

  it('S21: a pod that came with a claim and a volume of its own keeps its disk attached', () => {
    const events = report.claimed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ApplyEvent)
    const ends = events.filter(({ kind, type }) => kind === 'DetachVolume' && type !== 'start' && type !== 'step')
    const ended = Object.fromEntries(ends.map(({ volume, type, code }) => [volume, [type, code]]))
    expect(ended['pv-idle']).toEqual(['refused', 'WantedAgain'])
    expect(ended['vol-old']).toEqual(['done', undefined])
  })
})
