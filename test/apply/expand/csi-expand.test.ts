/** ExpandVolume by a driver made of words: is it called, with what, and what does the claim say after it (C96-C102; upstream's tables). */
import { beforeEach, expect, it } from 'vitest'
import type { CsiNode } from '../../../src/core/apply/operation/step.ts'
import type { CsiDriver, PersistentVolumeClaim, SecretReference } from '../../../src/core/kube/api/objects.ts'
import { type GrpcCode, GrpcError } from '../../../src/core/rpc/grpc-status.ts'
import { desiredStateOfPods } from '../../../src/core/volumes/populate.ts'
import { claimOf, DRIVER, node, ROOT, uid } from '../../helpers/node-builder.ts'
import { strategicMerge } from '../../helpers/strategic-merge.ts'
import { UNASKED_CLUSTER, UNASKED_DRIVER } from '../../helpers/unasked.ts'
import { Fixture } from '../apply-fixture.ts'
import { OUTCOMES } from '../grpc-outcomes.ts'

const TARGET = `${ROOT}/pods/${uid(2)}/volumes/kubernetes.io~csi/pv-1/mount`
const GROWN = { storage: '2Gi' }

interface Given {
  readonly status?: PersistentVolumeClaim['status']
  readonly accessModes?: string[]
  readonly annotations?: Readonly<Record<string, string>>
  readonly capabilities?: readonly string[]
  readonly fails?: GrpcCode
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
  const { status = {}, accessModes = ['ReadWriteOnce'], secret } = given
  const { capabilities = ['EXPAND_VOLUME'], fails } = given
  const reference = secret === undefined ? {} : { nodeExpandSecretRef: secret }
  const csi = { driver: DRIVER, volumeHandle: 'pv-1', ...reference }
  const built = node().persistentVolume('pv-1', { accessModes, source: { capacity: GROWN, csi } })
  const [its] = built.claims
  if (its === undefined) throw new Error('no claim')
  claim = {
    metadata: { ...its.metadata, annotations: given.annotations ?? {} },
    spec: its.spec,
    status: { ...its.status, ...status },
  }
  built.claims.splice(0, 1, claim)
  built.pod(uid(2), 'app', [claimOf()])
  const user = built.pods.at(-1)
  if (user === undefined) throw new Error('no pod')
  const { api } = built.build().snapshot
  const [wanted] = desiredStateOfPods([user], api as never).volumes
  if (wanted === undefined) throw new Error('not resolved')
  const object: CsiDriver = { metadata: { name: DRIVER, uid: 'd' }, spec: { attachRequired: false } }
  const driver: CsiNode = {
    ...UNASKED_DRIVER,
    nodeGetCapabilities: async () => capabilities,
    nodeExpandVolume: async (request) => {
      calls.push(request as Record<string, unknown>)
      if (fails !== undefined) throw new GrpcError(fails, 'said the driver', 'NodeExpandVolume')
    },
  }
  fixture.volumes = [{ ...wanted, attachability: 'notAttachable' }]
  fixture.witness = { listed: new Set([uid(2)]), alive: new Set(), apiPods: [user] }
  fixture.given = {
    csi: () => driver,
    csiDriver: () => ({ state: 'Found', object }),
    cluster: {
      ...UNASKED_CLUSTER,
      getNode: async () => api?.node ?? undefined,
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
  const volume = { name, plugin, uniqueName, driver: DRIVER, handle: 'pv-1', mode: 'Filesystem' as const }
  const steps = [{ op: 'NodeExpandVolume' as const, target: TARGET }]
  const { end: state } = await fixture.applyOne({ kind: 'ExpandVolume', volume, pod: { uid: uid(2) }, steps })
  const { capacity, allocatedResourceStatuses } = claim.status ?? {}
  return {
    state,
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
const NO_PART = { capabilities: [] }
const INFEASIBLE = 'NodeResizeInfeasible'
const NOT_REQUIRED = { 'volume.kubernetes.io/node-expansion-not-required': 'true' }

const one = allocated(undefined, '1Gi')
const all = { ...grown, ...allocated() }
it.each<[string, Given, calls: number, size: string, says?: string, state?: string]>([
  ['pending: called, and finished', { status: allocated('NodeResizePending') }, 1, '2Gi'],
  ['infeasible on record: not called', { status: allocated(INFEASIBLE) }, 0, '1Gi', INFEASIBLE],
  ['an old controller, which says nothing in the claim: called, and finished', {}, 1, '2Gi'],
  ['an old controller, and the driver has no part in it: finished', NO_PART, 0, '2Gi'],
  [
    'pending, and the driver has no part in it: failed',
    { status: allocated('NodeResizePending'), ...NO_PART },
    0,
    '1Gi',
    'NodeResizePending',
    'failed DriverRefused',
  ],
  ['equal sizes, one writer: not called', { status: all }, 0, '2Gi'],
  // Only a kubelet that has run all the time remembers that its own node is behind (C96).
  ['equal sizes, many writers: not called', { status: all, accessModes: MANY }, 0, '2Gi'],
  ['all that was allocated is there, one writer: not called', { status: one }, 0, '1Gi'],
  ['the same, many writers: called, since every node has its part', { status: one, accessModes: MANY }, 1, '1Gi'],
  ['the same, the driver has no part in it: done', { status: one, accessModes: MANY, ...NO_PART }, 0, '1Gi'],
  ['the same, no node has a part', { status: one, accessModes: MANY, annotations: NOT_REQUIRED }, 0, '1Gi'],
  ['equal sizes, infeasible on record', { status: { ...grown, ...allocated(INFEASIBLE) } }, 0, '2Gi', INFEASIBLE],
])(
  'is the driver called, and what does the claim say then: %s',
  async (_, given, calls, size, says, state = 'done') => {
    expect(await expand(given)).toEqual({ state, calls, size, says })
    // A claim that shows all already is told nothing.
    if (given.status?.capacity !== undefined || given.status?.allocatedResources?.storage === '1Gi')
      expect(patches).toBe(0)
  },
)

it.each(OUTCOMES)('$code: the claim says whether another try makes sense (C101, C102)', async ({ code, state }) => {
  const infeasible = ['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND'].includes(code)
  const says = infeasible ? INFEASIBLE : 'NodeResizeInProgress'
  const found = await expand({ status: allocated('NodeResizePending'), fails: code })
  expect(found).toEqual({ state, calls: 1, size: '1Gi', says })
  expect(claim.status?.conditions).toMatchObject([{ type: 'NodeResizeError', status: 'True' }])
})

it('the call carries the secret of the expansion, where there is one (C100)', async () => {
  await expand({ secret: { namespace: 'x', name: 'there' } })
  expect(calls).toMatchObject([{ secrets: { key: 'v' } }])
})
