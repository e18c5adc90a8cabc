import { describe, expect, it } from 'vitest'
import type { Pod } from '../../src/core/kube/api/objects.ts'
import {
  isControllerTerminated,
  isMirrorPod,
  isTerminalPhase,
  isTerminating,
  onDiskUid,
  protectedUids,
  usedVolumeNames,
} from '../../src/core/volumes/pods.ts'
import { pod } from './builders.ts'

const MIRROR = 'kubernetes.io/config.mirror'
const HASH = 'kubernetes.io/config.hash'

it.each<[name: string, annotations: object, mirror: boolean, uid: string, uids: string[]]>([
  ['R201 an ordinary pod', {}, false, 'own', ['own']],
  ['T132 a mirror pod', { [MIRROR]: 'h', [HASH]: 'h' }, true, 'h', ['own', 'h']],
  ['S10 hash and mirror differ', { [MIRROR]: 'm', [HASH]: 'h' }, true, 'm', ['own', 'h', 'm']],
  ['R202 no hash at all', { [MIRROR]: '' }, true, 'own', ['own']],
])('static pods: %s', (_name, annotations, mirror, uid, uids) => {
  const it = pod([], { uid: 'own', metadata: { annotations: { ...annotations } } })
  expect(isMirrorPod(it)).toBe(mirror)
  expect(onDiskUid(it)).toBe(uid)
  expect(protectedUids(it)).toEqual(uids)
})

const deletionTimestamp = '2026-01-01T00:00:00Z'
const running = { name: 'c', state: { running: {} } }
const stopped = { name: 'c', state: { terminated: {} } }
const waiting = { name: 'c', state: { waiting: {} } }
it.each<[name: string, want: boolean, metadata: object, status?: Pod['status']]>([
  ['Failed', true, {}, { phase: 'Failed' }],
  ['Running', false, {}, { phase: 'Running', containerStatuses: [stopped] }],
  ['deleted, no statuses', true, { deletionTimestamp }],
  [
    'deleted, all stopped',
    true,
    { deletionTimestamp },
    { containerStatuses: [stopped], initContainerStatuses: [waiting] },
  ],
  ['deleted, one runs', false, { deletionTimestamp }, { containerStatuses: [stopped, running] }],
  ['deleted, an init container runs', false, { deletionTimestamp }, { initContainerStatuses: [running] }],
  [
    'deleted, a status without state',
    false,
    { deletionTimestamp },
    { containerStatuses: [{ name: 'c', state: {} }, { name: 'd' }] },
  ],
])('R221: terminated as the attach/detach controller sees it: %s: %s', (_name, want, metadata, status) => {
  const it = pod([], { metadata, status })
  expect(isControllerTerminated(it)).toBe(want)
  expect(isTerminating(it)).toBe('deletionTimestamp' in metadata)
  expect(isTerminalPhase(it)).toBe(['Failed', 'Succeeded'].includes(status?.phase ?? ''))
})

it('T121, R105: names come from mounts and devices of init, main and ephemeral containers', () => {
  const it = pod([], {
    spec: {
      initContainers: [{ name: 'i', volumeMounts: [{ name: 'a' }] }],
      containers: [{ name: 'c', volumeDevices: [{ name: 'b' }], volumeMounts: [{ name: 'both' }] }],
      ephemeralContainers: [{ name: 'e', volumeMounts: [{ name: 'd' }], volumeDevices: [{ name: 'both' }] }],
    },
  })
  const want = {
    a: { mounted: true, mapped: false },
    both: { mounted: true, mapped: true },
    b: { mounted: false, mapped: true },
    d: { mounted: true, mapped: false },
  }
  expect(usedVolumeNames(it)).toEqual(new Map(Object.entries(want)))
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
