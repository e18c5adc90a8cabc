import { describe, expect, it } from 'vitest'
import {
  isControllerTerminated,
  isMirrorPod,
  isTerminalPhase,
  isTerminating,
  onDiskUid,
  protectedUids,
  usedVolumeNames,
} from '../../src/core/desired/pods.ts'
import { pod } from './builders.ts'

const MIRROR = 'kubernetes.io/config.mirror'
const HASH = 'kubernetes.io/config.hash'

describe('static pods', () => {
  it.each([
    { rule: 'R201', name: 'an ordinary pod', annotations: undefined, mirror: false, uid: 'own', uids: ['own'] },
    {
      rule: 'T132',
      name: 'a mirror pod',
      annotations: { [MIRROR]: 'h', [HASH]: 'h' },
      mirror: true,
      uid: 'h',
      uids: ['own', 'h'],
    },
    {
      rule: 'S10',
      name: 'hash and mirror differ',
      annotations: { [MIRROR]: 'm', [HASH]: 'h' },
      mirror: true,
      uid: 'm',
      uids: ['own', 'h', 'm'],
    },
    { rule: 'R202', name: 'no hash at all', annotations: { [MIRROR]: '' }, mirror: true, uid: 'own', uids: ['own'] },
  ])('$rule $name: directory $uid', ({ annotations, mirror, uid, uids }) => {
    const it = pod([], { uid: 'own', metadata: annotations === undefined ? {} : { annotations } })
    expect(isMirrorPod(it)).toBe(mirror)
    expect(onDiskUid(it)).toBe(uid)
    expect(protectedUids(it)).toEqual(uids)
  })
})

describe('R221: terminated as the attach/detach controller sees it', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const running = { name: 'c', state: { running: {} } }
  const stopped = { name: 'c', state: { terminated: {} } }
  const waiting = { name: 'c', state: { waiting: {} } }
  it.each([
    { name: 'Failed', metadata: {}, status: { phase: 'Failed' }, want: true },
    { name: 'Running', metadata: {}, status: { phase: 'Running', containerStatuses: [stopped] }, want: false },
    { name: 'deleted, no statuses', metadata: { deletionTimestamp }, status: undefined, want: true },
    {
      name: 'deleted, all stopped',
      metadata: { deletionTimestamp },
      status: { containerStatuses: [stopped], initContainerStatuses: [waiting] },
      want: true,
    },
    {
      name: 'deleted, one runs',
      metadata: { deletionTimestamp },
      status: { containerStatuses: [stopped, running] },
      want: false,
    },
    {
      name: 'deleted, an init container runs',
      metadata: { deletionTimestamp },
      status: { initContainerStatuses: [running] },
      want: false,
    },
    {
      name: 'deleted, a status without state',
      metadata: { deletionTimestamp },
      status: { containerStatuses: [{ name: 'c', state: {} }, { name: 'd' }] },
      want: false,
    },
  ])('$name: $want', ({ metadata, status, want }) => {
    const it = pod([], { metadata, ...(status === undefined ? {} : { status }) })
    expect(isControllerTerminated(it)).toBe(want)
    expect(isTerminating(it)).toBe('deletionTimestamp' in metadata)
    expect(isTerminalPhase(it)).toBe(['Failed', 'Succeeded'].includes(status?.phase ?? ''))
  })
})

it('T121, R105: names come from mounts and devices of init, main and ephemeral containers', () => {
  const it = pod([], {
    spec: {
      initContainers: [{ name: 'i', volumeMounts: [{ name: 'a' }] }],
      containers: [{ name: 'c', volumeDevices: [{ name: 'b' }], volumeMounts: [{ name: 'both' }] }],
      ephemeralContainers: [{ name: 'e', volumeMounts: [{ name: 'd' }], volumeDevices: [{ name: 'both' }] }],
    },
  })
  expect([...usedVolumeNames(it)]).toEqual([
    ['a', { mounted: true, mapped: false }],
    ['both', { mounted: true, mapped: true }],
    ['b', { mounted: false, mapped: true }],
    ['d', { mounted: true, mapped: false }],
  ])
})

describe('S10: an annotation becomes a path only where it is one plain name', () => {
  const mirror = (value: string) => pod([], { metadata: { uid: 'own', annotations: { [MIRROR]: value } } })

  it.each(['../../outside', '..', '.', 'a/b', 'a\nb', '/etc', 'x'.repeat(256)])('%j is none', (value) => {
    expect(onDiskUid(mirror(value))).toBe('own')
  })

  it.each(['0123456789abcdef0123456789abcdef', 'my-static-pod', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'])(
    '%j is one',
    (value) => expect(onDiskUid(mirror(value))).toBe(value),
  )
})
