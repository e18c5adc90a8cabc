/** S11: while a kubelet runs, a pod that ended just now is the kubelet's to tear down, however old its directories are. */
import { describe, expect, it } from 'vitest'
import type { Pod } from '../../src/core/kube/api/objects.ts'
import { HOUR_AGO, NOW, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { kinds, outcome, plan, RUNNING } from './planned.ts'

const ENDED = uid(3)
const BEFORE = '2026-11-21T10:30:00Z'

/** A pod in the list of which nothing runs, its CSI volume still mounted; all of it on disk an hour old. */
const ended = (metadata: Partial<Pod['metadata']>, status: Pod['status'] = {}): NodeBuilder =>
  node()
    .pod(ENDED, 'job', [], { metadata, status: { ...status } })
    .dir(`pods/${ENDED}`)
    .published(ENDED, 'pv-1', '7:1')
    .with(RUNNING)
const ready = (lastTransitionTime: string) => [{ type: 'Ready', status: 'False', lastTransitionTime }]
const terminated = (finishedAt: string | null) => [{ name: 'c', state: { terminated: { finishedAt } } }]

describe('S11 settle time of a pod that is finished', () => {
  it.each<[name: string, built: NodeBuilder, settled: boolean]>([
    ['deleted an hour ago', ended({ deletionTimestamp: BEFORE }), true],
    ['deleted this second', ended({ deletionTimestamp: NOW }), false],
    ['deleted, its grace period not over', ended({ deletionTimestamp: '2026-11-21T12:05:00Z' }), false],
    [
      'ended an hour ago',
      ended({}, { phase: 'Succeeded', conditions: ready(BEFORE), containerStatuses: terminated(BEFORE) }),
      true,
    ],
    ['not ready any more this second', ended({}, { phase: 'Succeeded', conditions: ready(NOW) }), false],
    [
      'a container ended this second',
      ended({}, { phase: 'Failed', conditions: ready(BEFORE), containerStatuses: terminated(NOW) }),
      false,
    ],
    [
      'when a container ended is not known, the rest is',
      ended({}, { phase: 'Failed', conditions: ready(BEFORE), containerStatuses: terminated(null) }),
      true,
    ],
    ['ended, and nobody says when', ended({}, { phase: 'Succeeded' }), false],
  ])('%s', (_name, built, settled) => {
    expect(outcome(plan(built))).toEqual([settled ? 'UnmountVolume' : 'UnmountVolume waits: Settling'])
  })

  it.each([
    {
      name: "the API's clock is an hour ahead",
      clockSkewMs: 3_600_000,
      deleted: '2026-11-21T12:30:00Z',
      settled: true,
    },
    { name: 'it is an hour behind', clockSkewMs: -3_600_000, deleted: '2026-11-21T10:59:50Z', settled: false },
  ])('is told in this host’s clock (S28): $name', ({ clockSkewMs, deleted, settled }) => {
    const built = ended({ deletionTimestamp: deleted }).withApi({ clockSkewMs })
    expect(kinds(plan(built))).toEqual(settled ? ['UnmountVolume'] : [])
  })

  it.each([
    { name: 'a day ahead of the API, as one that was set forward since', clockSkewMs: -86_400_000, settled: false },
    { name: 'behind it', clockSkewMs: 300_000, settled: true },
  ])('what changed on disk an hour ago, where this host’s clock is $name (S28)', (row) => {
    const built = node().dir(`pods/${ENDED}`, HOUR_AGO).published(ENDED, 'pv-1', '7:1').with(RUNNING)
    built.withApi({ clockSkewMs: row.clockSkewMs })
    expect(kinds(plan(built))).toEqual(row.settled ? ['UnmountVolume'] : [])
  })

  it('is told of more directories than a call takes arguments', () => {
    const built = node().dir(`pods/${ENDED}`, HOUR_AGO).published(ENDED, 'pv-1', '7:1').with(RUNNING)
    for (let n = 0; n < 150_000; n++) built.dir(`pods/${ENDED}/volume-subpaths/pv-1/${n}`, HOUR_AGO)
    expect(kinds(plan(built))).toEqual(['UnmountVolume'])
  })
})
