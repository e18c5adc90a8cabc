/** ExpandVolume by a driver made of words: is it called, with what, and what does the claim say after it (C96-C102; upstream's tables). */
import { beforeEach, describe, expect, it } from 'vitest'
import type { CsiNode } from '../../../src/core/apply/operation/ports.ts'
import { csiGlobalDir } from '../../../src/core/facts/actual/volume-names.ts'
import type { CsiDriver, Node, PersistentVolumeClaim, SecretReference } from '../../../src/core/kube/api/objects.ts'
import { type GrpcCode, GrpcError } from '../../../src/core/rpc/grpc-status.ts'
import type { VolumeToMount } from '../../../src/core/volumes/desired-state.ts'
import { desiredStateOfPods } from '../../../src/core/volumes/populate.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { DRIVER, node, ROOT, uid } from '../../helpers/node-builder.ts'
import { strategicMerge } from '../../helpers/strategic-merge.ts'
import { UNASKED_CLUSTER, UNASKED_DRIVER } from '../../helpers/unasked.ts'
import { Fixture, operation, planOf } from '../apply-fixture.ts'
import { OUTCOMES } from '../grpc-outcomes.ts'

const TARGET = `${ROOT}/pods/${uid(2)}/volumes/kubernetes.io~csi/pv-1/mount`
const DEVICE = `${ROOT}/plugins/kubernetes.io/csi/volumeDevices/pv-1/dev/${uid(2)}`
const GROWN = { storage: '2Gi' }

interface Given {
  readonly status?: PersistentVolumeClaim['status']
  readonly accessModes?: string[]
  readonly annotations?: Readonly<Record<string, string>>
  readonly capabilities?: readonly string[]
  readonly fails?: GrpcCode
  readonly mode?: 'Filesystem' | 'Block'
  readonly secret?: SecretReference
}

let fixture: Fixture
let calls: Record<string, unknown>[]
let claim: PersistentVolumeClaim
let patches: number
beforeEach(() => {
  fixture = new Fixture()
  calls = []
  patches = 0
})

async function expand(given: Given = {}) {
  const { status = {}, accessModes = ['ReadWriteOnce'], mode = 'Filesystem', secret } = given
  const built = node().persistentVolume('pv-1', { accessModes, mode })
  const [volume] = built.volumes
  const [its] = built.claims
  if (volume === undefined || its === undefined) throw new Error('no volume')
  const reference = secret === undefined ? {} : { nodeExpandSecretRef: secret }
  const csi = { driver: DRIVER, volumeHandle: 'pv-1', ...reference }
  built.volumes.splice(0, 1, { ...volume, spec: { ...volume.spec, capacity: GROWN, csi } })
  claim = {
    metadata: { ...its.metadata, annotations: given.annotations ?? {} },
    spec: its.spec,
    status: { ...its.status, ...status },
  }
  built.claims.splice(0, 1, claim)
  built.pod(uid(2), 'app', [{ name: 'v', persistentVolumeClaim: { claimName: 'claim-pv-1' } }])
  const pod = built.pods.at(-1)
  if (pod === undefined) throw new Error('no pod')
  const container = { name: 'c', volumeDevices: [{ name: 'v', devicePath: '/dev/v' }] }
  const user = mode === 'Block' ? { ...pod, spec: { ...pod.spec, containers: [container] } } : pod
  const { api } = built.build().snapshot
  const [wanted] = desiredStateOfPods([user], api as never).volumes
  if (wanted === undefined) throw new Error('not resolved')
  return apply(given, wanted, built.build().snapshot.api?.node?.status)
}

async function apply(given: Given, wanted: VolumeToMount, status: Node['status']) {
  const { capabilities = ['EXPAND_VOLUME'], fails, mode = 'Filesystem' } = given
  const object: CsiDriver = { metadata: { name: DRIVER, uid: 'd' }, spec: { attachRequired: false } }
  const driver: CsiNode = {
    ...UNASKED_DRIVER,
    nodeGetCapabilities: async () => capabilities,
    nodeExpandVolume: async (request) => {
      calls.push(request as Record<string, unknown>)
      if (fails !== undefined)
        throw new GrpcError(fails, 'said the driver', { method: 'NodeExpandVolume', socketPath: '/s' })
    },
  }
  fixture.volumes = [{ ...wanted, attachability: 'notAttachable' }]
  const metadata = { name: 'app', namespace: 'default', uid: uid(2) }
  fixture.witness = { listed: new Set([uid(2)]), alive: new Set(), apiPods: [{ metadata, spec: {} }] }
  fixture.given = {
    csi: () => driver,
    csiDriver: () => ({ state: 'Found', object }),
    cluster: {
      ...UNASKED_CLUSTER,
      getNode: async () => ({ metadata: { name: 'node-1', uid: 'n' }, ...(status && { status }) }),
      getClaim: async () => claim,
      getSecret: async (namespace, name) =>
        name === 'there' ? { metadata: { name, namespace, uid: 's' }, data: { key: 'dg==' } } : undefined,
      patchClaimStatus: async (_namespace, _name, patch) => {
        patches += 1
        claim = { ...claim, status: strategicMerge(claim.status ?? {}, patch.status as never) }
        return claim
      },
    },
  }
  fixture.host.dir(TARGET.replace('/mount', '')).dir(`${ROOT}/plugins`)
  fixture.host.programs = (program, args) => (program === 'readlink' ? { stdout: `${args.at(-1)}\n` } : {})
  const { specName: name, plugin, uniqueName } = wanted
  const volume = { name, plugin, uniqueName, driver: DRIVER, handle: 'pv-1', mode }
  const target = mode === 'Block' ? DEVICE : TARGET
  const pod = { uid: uid(2) }
  const steps = [{ op: 'NodeExpandVolume' as const, target }]
  const result = await fixture.apply(planOf([operation('a', { kind: 'ExpandVolume', volume, pod, steps })]))
  const { capacity, allocatedResourceStatuses } = claim.status ?? {}
  return {
    state: statesOf(result).a,
    calls: calls.length,
    size: capacity?.storage,
    says: allocatedResourceStatuses?.storage,
  }
}

const allocated = (says?: string, storage = '2Gi') => ({
  allocatedResources: { storage },
  ...(says === undefined ? {} : { allocatedResourceStatuses: { storage: says } }),
})
const grown = { capacity: GROWN }
const MANY = ['ReadWriteMany']
const NOT_REQUIRED = { 'volume.kubernetes.io/node-expansion-not-required': 'true' }

describe('is the driver called, and what does the claim say then', () => {
  it.each<{ name: string; given: Given; want: object }>([
    {
      name: 'pending: called, and finished',
      given: { status: allocated('NodeResizePending') },
      want: { state: 'done', calls: 1, size: '2Gi', says: undefined },
    },
    {
      name: 'infeasible on record: not called',
      given: { status: allocated('NodeResizeInfeasible') },
      want: { state: 'done', calls: 0, size: '1Gi', says: 'NodeResizeInfeasible' },
    },
    {
      name: 'an old controller, which says nothing in the claim: called, and finished',
      given: {},
      want: { state: 'done', calls: 1, size: '2Gi', says: undefined },
    },
    {
      name: 'an old controller, and the driver has no part in it: finished',
      given: { capabilities: [] },
      want: { state: 'done', calls: 0, size: '2Gi', says: undefined },
    },
    {
      name: 'pending, and the driver has no part in it: failed',
      given: { status: allocated('NodeResizePending'), capabilities: [] },
      want: { state: 'failed DriverRefused', calls: 0, size: '1Gi', says: 'NodeResizePending' },
    },
    {
      name: 'equal sizes, one writer: not called',
      given: { status: { ...grown, ...allocated() } },
      want: { state: 'done', calls: 0, size: '2Gi', says: undefined },
    },
    {
      // Only a kubelet that has run all the time remembers that its own node is behind (C96).
      name: 'equal sizes, many writers: not called',
      given: { status: { ...grown, ...allocated() }, accessModes: MANY },
      want: { state: 'done', calls: 0, size: '2Gi', says: undefined },
    },
    {
      name: 'all that was allocated is there, one writer: not called',
      given: { status: allocated(undefined, '1Gi') },
      want: { state: 'done', calls: 0, size: '1Gi', says: undefined },
    },
    {
      name: 'all that was allocated is there, many writers: called, since every node has its part',
      given: { status: allocated(undefined, '1Gi'), accessModes: MANY },
      want: { state: 'done', calls: 1, size: '1Gi', says: undefined },
    },
    {
      name: 'all that was allocated is there, many writers, the driver has no part in it: done',
      given: { status: allocated(undefined, '1Gi'), accessModes: MANY, capabilities: [] },
      want: { state: 'done', calls: 0, size: '1Gi', says: undefined },
    },
    {
      name: 'all that was allocated is there, many writers, the claim says that no node has a part: not called',
      given: { status: allocated(undefined, '1Gi'), accessModes: MANY, annotations: NOT_REQUIRED },
      want: { state: 'done', calls: 0, size: '1Gi', says: undefined },
    },
    {
      name: 'equal sizes, infeasible on record: not called',
      given: { status: { ...grown, ...allocated('NodeResizeInfeasible') } },
      want: { state: 'done', calls: 0, size: '2Gi', says: 'NodeResizeInfeasible' },
    },
  ])('$name', async ({ given, want }) => {
    const found = await expand(given)
    expect(found).toEqual(want)
    // A claim that shows all already is told nothing.
    if (given.status?.capacity !== undefined || given.status?.allocatedResources?.storage === '1Gi')
      expect(patches).toBe(0)
  })
})

it.each(OUTCOMES)('$code: the claim says whether another try makes sense (C101, C102)', async ({ code, state }) => {
  const infeasible = ['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND'].includes(code)
  const says = infeasible ? 'NodeResizeInfeasible' : 'NodeResizeInProgress'
  const found = await expand({ status: allocated('NodeResizePending'), fails: code })
  expect(found).toEqual({ state, calls: 1, size: '1Gi', says })
  expect(claim.status?.conditions).toMatchObject([{ type: 'NodeResizeError', status: 'True' }])
})

describe('what the call carries (C100)', () => {
  it.each([
    {
      name: 'Filesystem volume',
      mode: 'Filesystem' as const,
      access: 'mount',
      path: TARGET,
      staging: `${csiGlobalDir(DRIVER, 'pv-1')}/globalmount`,
    },
    {
      name: 'Block volume',
      mode: 'Block' as const,
      access: 'block',
      path: DEVICE,
      staging: 'plugins/kubernetes.io/csi/volumeDevices/staging/pv-1',
    },
  ])('$name', async ({ mode, access, path, staging }) => {
    expect((await expand({ mode, status: allocated('NodeResizePending') })).state).toBe('done')
    expect(calls).toMatchObject([
      {
        volumeId: 'pv-1',
        volumePath: path,
        stagingTargetPath: `${ROOT}/${staging}`,
        capacityRange: { requiredBytes: 2n << 30n },
        volumeCapability: { accessType: { case: access } },
      },
    ])
  })

  it('the secret of the expansion, where there is one', async () => {
    await expand({ secret: { namespace: 'x', name: 'there' } })
    expect(calls).toMatchObject([{ secrets: { key: 'v' } }])
  })
})
