import { describe, expect, it } from 'vitest'
import type { PersistentVolume, PersistentVolumeClaim } from '../../src/core/kube/api/objects.ts'
import { nodeExpansionWanted } from '../../src/core/volumes/expansion.ts'
import { desiredStateOfPods } from '../../src/core/volumes/populate.ts'
import { api, claim, claimVolume, pod, volume } from './builders.ts'

interface Case {
  readonly pv?: PersistentVolume['spec']
  readonly status?: PersistentVolumeClaim['status']
  readonly accessModes?: readonly string[]
  readonly annotations?: Readonly<Record<string, string>>
  readonly readOnly?: boolean
  readonly block?: boolean
}

function expansion({ pv, status, accessModes = ['ReadWriteOnce'], annotations = {}, readOnly, block = false }: Case) {
  const the = claim('claim', {
    metadata: { annotations },
    spec: { volumeName: 'pv-claim', accessModes },
    status: { capacity: { storage: '10Gi' }, ...status },
  })
  const volumeMode = block ? 'Block' : 'Filesystem'
  const spec = { capacity: { storage: '15Gi' }, volumeMode, ...pv }
  const user = pod([claimVolume('data', 'claim', readOnly)], block ? { mounts: [], devices: ['data'] } : {})
  const { volumes } = desiredStateOfPods(
    [user],
    api({ persistentVolumeClaims: [the], persistentVolumes: [volume('claim', spec)] }),
  )
  const [first] = volumes
  if (first === undefined) throw new Error('the volume did not resolve')
  return nodeExpansionWanted(first)
}

describe('T13, R125, R319: has the PersistentVolume outgrown what the claim shows?', () => {
  it.each<Case & { name: string; want: boolean }>([
    { name: 'grew, file system', want: true },
    { name: 'grew, block', block: true, want: true },
    { name: 'did not grow', pv: { capacity: { storage: '10240Mi' } }, want: false },
    { name: 'shrank', pv: { capacity: { storage: '5Gi' } }, want: false },
    { name: 'read-only', readOnly: true, want: false },
    { name: 'no size on the claim', status: { capacity: {} }, want: false },
    { name: 'zero size on the claim', status: { capacity: { storage: '0' } }, want: false },
    { name: 'no size on the volume', pv: { capacity: {} }, want: false },
    { name: 'nonsense on the volume', pv: { capacity: { storage: 'much' } }, want: false },
    { name: 'local', pv: { local: { path: '/d' } }, want: true },
    { name: 'local block (R462)', pv: { local: { path: '/d' } }, block: true, want: false },
    { name: 'nfs', pv: { nfs: { server: 's', path: '/' } }, want: false },
  ])('$name: $want', ({ want, ...rest }) => {
    expect(expansion(rest)).toEqual(want ? { from: '10Gi', to: '15Gi', procedure: 'legacy' } : undefined)
  })

  it('R125: an inline in-tree volume never expands', () => {
    const [first] = desiredStateOfPods([pod([{ name: 'v', cinder: { volumeID: 'x' } }])], api()).volumes
    expect(first?.persistentVolume).toBeDefined()
    expect(first && nodeExpansionWanted(first)).toBeUndefined()
  })
})

const NOT_REQUIRED = 'volume.kubernetes.io/node-expansion-not-required'
const resize = (word: string, target = '15Gi') => ({
  allocatedResources: { storage: target },
  ...(word === '' ? {} : { allocatedResourceStatuses: { storage: word } }),
})
const upToDate = resize('', '10Gi')
const shared = { status: upToDate, accessModes: ['ReadWriteMany'] }
it.each<[name: string, given: Case, to?: string, procedure?: string]>([
  ['legacy', {}, '15Gi', 'legacy'],
  ['node resize pending', { status: resize('NodeResizePending') }, '15Gi', 'recovery'],
  ['node resize in progress', { status: resize('NodeResizeInProgress') }, '15Gi', 'recovery'],
  ['the target is what was allocated', { status: resize('NodeResizePending', '12Gi') }, '12Gi', 'recovery'],
  ['controller still at work', { status: resize('ControllerResizeInProgress') }],
  ['infeasible', { status: resize('NodeResizeInfeasible') }],
  ['not updated, no word', { status: resize('') }],
  ['a word without a target', { status: { allocatedResourceStatuses: { storage: 'NodeResizePending' } } }],
  ['up to date, ReadWriteOnce', { status: upToDate }],
  ['up to date, ReadWriteMany', shared, '10Gi', 'updated'],
  ['up to date, ReadWriteMany, not required', { ...shared, annotations: { [NOT_REQUIRED]: 'true' } }],
])('T122, R457, R458, C97, C98: does the claim allow it?: %s', (_name, given, to, procedure) => {
  const found = expansion(given)
  expect([found?.to, found?.procedure]).toEqual([to, procedure])
})
