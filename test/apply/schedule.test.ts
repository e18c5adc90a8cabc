import { describe, expect, it } from 'vitest'
import { keysOf, Schedule } from '../../src/core/apply/schedule.ts'
import type { Outcome } from '../../src/core/plan/events.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import { csiVolume } from '../helpers/apply-plan.ts'
import { operation } from './apply-fixture.ts'

const ids = (operations: Iterable<Operation>) => [...operations].map(({ id }) => id)

describe('the schedule', () => {
  it('knows what must not be worked on twice at a time', () => {
    const volume = csiVolume('h')
    expect(keysOf(operation('a', { volume }))).toEqual([expect.stringMatching(/^pod /), 'volume disk.test^h'])
    expect(keysOf(operation('b', { kind: 'UnmountDevice', volume }))).toEqual(['volume disk.test^h'])
    const plain = {
      name: 'x',
      plugin: 'kubernetes.io/nfs',
      uniqueName: 'kubernetes.io/nfs/x',
      mode: 'Filesystem' as const,
    }
    expect(keysOf(operation('c', { pod: { uid: 'u' }, volume: plain }))).toEqual([
      'pod u',
      'volume kubernetes.io/nfs/x',
    ])
  })

  it('holds back what shares a volume or a pod with a running operation', () => {
    const operations = [
      operation('a', { pod: { uid: '1' }, volume: csiVolume('x') }),
      operation('same-volume', { pod: { uid: '2' }, volume: csiVolume('x') }),
      operation('same-pod', { pod: { uid: '1' }, volume: csiVolume('y') }),
      operation('free', { pod: { uid: '3' }, volume: csiVolume('z') }),
    ]
    const outcomes = new Map<string, Pick<Outcome, 'state'>>()
    const schedule = new Schedule(operations, outcomes)
    const [first] = schedule.ready()
    if (first !== undefined) schedule.start(first)
    expect(ids(schedule.ready())).toEqual(['free'])
    outcomes.set('a', { state: 'done' })
    if (first !== undefined) schedule.settle(first)
    expect(ids(schedule.ready())).toEqual(['same-volume', 'same-pod', 'free'])
  })

  it('starts an operation only after all that comes before it', () => {
    const [a, b, c] = [
      operation('a'),
      operation('b', { pod: { uid: '2' } }),
      operation('c', { after: ['a', 'b'] }),
    ] as const
    const outcomes = new Map<string, Pick<Outcome, 'state'>>()
    const schedule = new Schedule([a, b, c], outcomes)
    schedule.start(a)
    outcomes.set('a', { state: 'done' })
    schedule.settle(a)
    expect(ids(schedule.ready())).toEqual(['b'])
    outcomes.set('b', { state: 'done' })
    schedule.settle(b)
    expect(ids(schedule.ready())).toEqual(['c'])
  })

  it('gives those that may share a batch, those that run alone, or both', () => {
    const schedule = new Schedule(
      [operation('a'), operation('b', { pod: { uid: 'other' } })],
      new Map(),
      ({ id }) => id === 'a',
    )
    const ids = (batchable?: boolean): string[] => [...schedule.ready(batchable)].map(({ id }) => id)
    expect([ids(true), ids(false), ids()]).toEqual([['a'], ['b'], ['a', 'b']])
  })
})
