import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../src/core/kube/api/objects.ts'
import {
  type LocalKubelet,
  leaseIsAlive,
  renewedSince,
  withSignsOfLife,
} from '../../../src/core/node/kubelet/signs-of-life.ts'
import type { ApiSnapshot } from '../../../src/core/volumes/snapshot.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString().replace('.000Z', 'Z')

const FORGOTTEN: LocalKubelet = {
  running: false,
  mayReturn: false,
  stopUnknown: true,
  note: 'kubelet.service inactive; enabled',
}
const stopped = (seconds: number): LocalKubelet => ({ running: false, mayReturn: false, stoppedAt: ago(seconds) })

interface Said {
  /** Seconds ago. */
  readonly renewed?: number
  readonly heartbeat?: number
  readonly skewMs?: number
}

const lease = (renewTime: string | null): Lease => ({
  metadata: { name: 'node-1', uid: 'lease' },
  spec: { renewTime, leaseDurationSeconds: 40, holderIdentity: 'node-1' },
})

function api({ renewed, heartbeat, skewMs }: Said): ApiSnapshot {
  const conditions = [
    { type: 'DiskPressure', status: 'False', lastHeartbeatTime: ago(0) },
    ...(heartbeat === undefined ? [] : [{ type: 'Ready', status: 'Unknown', lastHeartbeatTime: ago(heartbeat) }]),
  ]
  return {
    node: { metadata: { name: 'node-1' }, status: { conditions } },
    ...(renewed !== undefined && { lease: lease(ago(renewed)) }),
    ...(skewMs !== undefined && { clockSkewMs: skewMs }),
  } as unknown as ApiSnapshot
}

describe('S11: withSignsOfLife', () => {
  it.each<[name: string, local: LocalKubelet, said: Said, want: object]>([
    // What nothing here tells, the API does.
    ['no unit, lease old', FORGOTTEN, { renewed: 600 }, { stoppedAt: ago(590), stopShownBy: 'lease' }],
    ['no unit, lease young', FORGOTTEN, { renewed: 39 }, { mayReturn: true }],
    ['no unit, lease as old as its duration', FORGOTTEN, { renewed: 40 }, { mayReturn: false }],
    [
      'no unit, heartbeat younger than the lease',
      FORGOTTEN,
      { renewed: 600, heartbeat: 60 },
      { stoppedAt: ago(60), stopShownBy: 'heartbeat' },
    ],
    // Without a lease a status that has not changed says little: it is sent every five minutes.
    ['no unit, heartbeat alone', FORGOTTEN, { heartbeat: 1000 }, { stoppedAt: ago(700), stopShownBy: 'heartbeat' }],
    ['nothing tells', FORGOTTEN, {}, { stoppedAt: ago(0), stopShownBy: 'nothing', mayReturn: false }],
    ['the unit, lease before', stopped(100), { renewed: 105 }, { stoppedAt: ago(100), stopShownBy: 'unit' }],
    ['the unit just now, lease young', stopped(1), { renewed: 5 }, { stoppedAt: ago(1), mayReturn: false }],
    [
      'the unit long ago, lease a minute old',
      stopped(3600),
      { renewed: 60 },
      { stoppedAt: ago(50), stopShownBy: 'lease', mayReturn: false },
    ],
    [
      'the unit long ago, and yet the lease is renewed',
      stopped(3600),
      { renewed: 5 },
      { mayReturn: true, note: expect.stringContaining('renewed 5 s ago') },
    ],
    // S28.
    [
      'a lease of tomorrow',
      FORGOTTEN,
      { renewed: -86_400 },
      { mayReturn: true, stoppedAt: ago(0), note: expect.stringContaining('renewed 0 s ago') },
    ],
    [
      "the server's clock an hour ahead, the lease of its",
      FORGOTTEN,
      { renewed: -3000, skewMs: 3_600_000 },
      { mayReturn: false, stoppedAt: ago(590) },
    ],
    [
      "the server's clock an hour ahead, the lease of this host's",
      FORGOTTEN,
      { renewed: 5, skewMs: 3_600_000 },
      { mayReturn: true },
    ],
  ])('%s', (_name, local, said, want) => {
    const state = withSignsOfLife(local, api(said), NOW)
    expect(state).toMatchObject({ running: false, ...want })
    expect(state).not.toHaveProperty('stopUnknown')
  })

  it('leaves alone what runs, and what is told to have stopped long enough ago', () => {
    const running: LocalKubelet = { running: true, mayReturn: true, pid: 7 }
    expect(withSignsOfLife(running, api({ renewed: 5 }), NOW)).toEqual(running)
    const told: LocalKubelet = { running: false, mayReturn: false }
    expect(withSignsOfLife(told, api({ renewed: 600, heartbeat: 1 }), NOW)).toEqual(told)
    expect(withSignsOfLife(told, undefined, NOW)).toEqual(told)
    // But for somebody who lives.
    expect(withSignsOfLife(told, api({ renewed: 5 }), NOW)).toMatchObject({ mayReturn: true })
  })
})

it('S11: a lease is alive by a renewal since the stop, not by one before', () => {
  const alive = (since: number): boolean => leaseIsAlive(api({ renewed: 5 }), { now: NOW, since: NOW - since * 1000 })
  expect([alive(1), alive(10)]).toEqual([false, true])
})

it.each([
  { name: 'renewed', before: lease(ago(600)), now: lease(ago(1)), lives: true },
  { name: 'made', before: undefined, now: lease(ago(1)), lives: true },
  { name: 'the same', before: lease(ago(600)), now: lease(ago(600)), lives: false },
  { name: 'not readable any more', before: lease(ago(600)), now: undefined, lives: false },
  { name: 'never renewed', before: undefined, now: lease(null), lives: false },
])('S11: renewedSince: $name', ({ before, now, lives }) => {
  expect(renewedSince(before, now) !== undefined).toBe(lives)
})
