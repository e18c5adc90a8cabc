import { expect, it } from 'vitest'
import { planToReview } from '../../src/core/apply/find-again.ts'
import { differencesOf, differencesText } from '../../src/core/plan/differences.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import { operation, planOf, step } from '../apply/apply-fixture.ts'

const layer = { id: 5, dev: '8:1', root: '/', fsType: 'ext4', source: '/dev/sda1' }
const file = { path: '/m/vol_data.json', dev: 1, ino: 2, size: 3, mtime: 1_700_000_000 }
const volume = { name: 'v', plugin: 'kubernetes.io/csi', driver: 'd', handle: 'h', mode: 'Filesystem' } as const
const PLANNED = operation('a', {
  steps: [step('umount', '/m'), step('rmdir', '/m')],
  expects: [{ path: '/m', layers: [layer] }],
  basis: {
    pod: { listed: true, uid: 'u1', resourceVersion: '7' },
    files: [file],
  },
  volume,
  deletes: { files: 2, bytes: 10 },
  after: ['b', 'done-by-now'],
})
const FOUND = { ...PLANNED, after: ['b'] }

it.each<[name: string, now: Partial<Operation>, want: string[]]>([
  ['what came first is done by now', {}, []],
  ['words', { message: 'other words', reason: 'PodFinished', rule: 'R220' }, []],
  [
    'another mount',
    { expects: [{ path: '/m', layers: [{ ...layer, id: 9, dev: '8:2' }] }] },
    ['the mount on /m was mount 5 of /dev/sda1 (ext4, 8:1 /), now mount 9 of /dev/sda1 (ext4, 8:2 /)'],
  ],
  [
    'a second layer',
    { expects: [{ path: '/m', layers: [layer, { ...layer, id: 6 }] }] },
    [
      'the mount on /m was mount 5 of /dev/sda1 (ext4, 8:1 /), ' +
        'now mount 5 of /dev/sda1 (ext4, 8:1 /) under mount 6 of /dev/sda1 (ext4, 8:1 /)',
    ],
  ],
  ['unmounted', { expects: [] }, ['the mount on /m was mount 5 of /dev/sda1 (ext4, 8:1 /), now nothing']],
  [
    'the pod changed',
    { basis: { ...PLANNED.basis, pod: { listed: true, uid: 'u1', resourceVersion: '8' } } },
    ['the pod in the API was u1 at resource version 7, now u1 at resource version 8'],
  ],
  [
    'the pod is gone',
    { basis: { ...PLANNED.basis, pod: { listed: false } } },
    ['the pod in the API was u1 at resource version 7, now absent'],
  ],
  [
    'another file',
    { basis: { ...PLANNED.basis, files: [{ ...file, ino: 3, mtime: 1_700_000_060 }] } },
    [
      '/m/vol_data.json was inode 2 of device 1, 3 bytes, changed at 2023-11-14T22:13:20Z, ' +
        'now inode 3 of device 1, 3 bytes, changed at 2023-11-14T22:14:20Z',
    ],
  ],
  ['another handle', { volume: { ...volume, handle: 'h2' } }, ["the volume's handle was h, now h2"]],
  [
    'another step',
    { steps: [step('umount', '/m', 'lazy'), step('rmdir', '/m')] },
    ['step 1 was umount /m, now umount /m {"detail":"lazy"}'],
  ],
  ['a path more', { paths: ['/m', '/m', '/n'] }, ['among its paths, /n was nothing, now there']],
  [
    'more to delete',
    { deletes: { files: 3, bytes: 11 } },
    ['what is deleted was 2 files of 10 bytes, now 3 files of 11 bytes'],
  ],
  ['something more comes first', { after: ['b', 'c'] }, ['what comes first was ["b"], now ["b","c"]']],
  ['something less comes first', { after: [] }, ['what comes first was ["b"], now nothing']],
])('%s', (_name, now, want) => {
  const found = differencesOf(PLANNED, { ...FOUND, ...now }, (id) => id !== 'done-by-now')
  expect(found.map((difference) => differencesText([difference]))).toEqual(want)
})

it('a line shows three, and counts the rest', () => {
  const many = Array.from({ length: 5 }, (_, n) => ({ what: `w${n}`, was: 'a', now: 'b' }))
  expect(differencesText(many)).toBe('w0 was a, now b; w1 was a, now b; w2 was a, now b; and 2 more')
})

it('for review, what no longer holds stands there blocked, and is counted so', () => {
  const held = operation('b', { steps: [step('umount', '/n')] })
  const fresh = planOf([{ ...FOUND, deletes: { files: 9, bytes: 9 } }, held, operation('not in the file')])
  const review = planToReview(
    planOf([PLANNED, held, operation('gone by now'), operation('done')]),
    fresh,
    ({ id }) => id === 'done',
  )
  expect(review.operations.map(({ id, blocked }) => [id, blocked?.code])).toEqual([
    ['a', 'Changed'],
    ['b', undefined],
    ['gone by now', 'Changed'],
    ['done', 'AlreadyDone'],
  ])
  expect(review.summary).toMatchObject({ operations: { UnmountVolume: 4 }, blocked: 3 })
})

it('for review, what is blocked by now keeps its cause and its users', () => {
  const users = [{ pid: 7, process: 'vim' }]
  const blocked = { code: 'HeldBy', message: 'held by vim (pid 7)', hint: 'End it.', users, cause: 'c1' } as const
  const review = planToReview(planOf([PLANNED]), planOf([{ ...FOUND, blocked }]), () => false)
  expect(review.operations[0]?.blocked).toEqual({
    ...blocked,
    message: 'blocked now: held by vim (pid 7)',
    args: { why: 'held by vim (pid 7)' },
  })
})
