/** What doctor makes of a look: what is wrong, what to do, and whether plan and apply can work. */
import { expect, it } from 'vitest'
import { CHECKS, type CheckId, type Doctor } from '../../src/core/explain/doctor/diagnose.ts'
import type { CsiSocket } from '../../src/core/rpc/endpoints.ts'
import { DRIVER, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { csiNodeObject } from '../helpers/objects.ts'
import { blocked, GONE, kinds, plan } from '../reconcile/planned.ts'
import { type Broken, doctorOf, healthy } from './look-builder.ts'

const open = ({ checks }: Doctor): string[] =>
  checks.filter(({ state }) => state !== 'ok').map(({ id, state }) => `${id} ${state}`)

/** A pod that wants a volume of the driver, which is attached, staged and mounted. */
function withDriver(sockets: readonly CsiSocket[], listed = true): NodeBuilder {
  return healthy(node().served(uid(7), 'web-0'))
    .withApi({ csiNode: csiNodeObject('node-1', listed ? [DRIVER] : []) })
    .with({ csiSockets: sockets })
}

const answering: CsiSocket = {
  path: `plugins_registry/${DRIVER}-reg.sock`,
  driver: DRIVER,
  endpoint: `plugins/${DRIVER}/csi.sock`,
  registered: true,
}

it('control: of a node where everything is as it should be nothing is said', () => {
  const doctor = doctorOf()
  expect(open(doctor)).toEqual([])
  expect(doctor.works).toEqual({ plan: true, apply: true })
})

interface Case {
  readonly name: string
  readonly given: Broken
  /** Every check that is not as it should be. */
  readonly is: readonly string[]
  readonly says: string
  readonly next?: string
  /** Absent: both. */
  readonly works?: { readonly plan: boolean; readonly apply: boolean }
}

const NEITHER = { plan: false, apply: false }
const PLAN_ONLY = { plan: true, apply: false }
const BOTH = { plan: true, apply: true }
const withoutApi = healthy().with({ api: undefined })

const CASES: readonly Case[] = [
  {
    name: 'nothing that says what to do about the API',
    given: { state: withoutApi, failures: { api: { message: 'pods is forbidden' } } },
    is: ['ApiServer failed'],
    says: 'pods is forbidden',
    next: 'Give a kubeconfig',
    works: NEITHER,
  },
  {
    name: 'S34: a server that nobody verifies',
    given: { state: healthy().withApi({ insecure: 'TlsNotVerified' }) },
    is: ['ApiVerified warning'],
    says: 'its certificate is not verified',
    works: PLAN_ONLY,
  },
  {
    name: 'rights that are missing',
    given: {
      state: healthy().withApi({
        mayDeleteVolumeAttachments: false,
        errors: ['secrets', 'secrets', 'csidrivers'].map((resource) => ({
          resource,
          status: 403,
          // The status counts: what a proxy answers has another reason, or none.
          reason: 'AccessDenied',
          message: 'forbidden',
        })),
      }),
    },
    is: ['PlanRights warning', 'ApplyRights warning'],
    says: 'may not read secrets, csidrivers: the plan says what is not known\nmay not delete volumeattachments: DetachVolume is blocked',
    next: 'Bind the ClusterRole in deploy/clusterrole-apply.yaml to kubernetes-admin',
  },
  {
    name: 'nobody says what the credential may do',
    given: { state: healthy().withApi({ mayDeleteVolumeAttachments: undefined, clockSkewMs: undefined }) },
    is: ['ApplyRights unknown', 'Clock unknown'],
    says: 'did not say whether this credential may delete',
  },
  {
    name: 'a list of pods that was refused',
    given: { state: healthy().unlisted('pods') },
    is: ['ApiServer failed', 'PlanRights warning'],
    says: 'pods is forbidden',
    next: 'may list pods',
    works: NEITHER,
  },
  {
    name: 'S1: another machine of the same name',
    given: { state: healthy().with({ machineID: 'other', systemUUID: 'other' }) },
    is: ['PlanRefused failed'],
    says: 'nothing proves that node node-1',
    next: '--context',
    works: NEITHER,
  },
  {
    name: 'no node at all',
    given: { state: 'none', failures: { node: { message: 'root directory /x does not exist', hint: 'Name it.' } } },
    is: ['NodeFound failed', 'ApiServer unknown'],
    says: 'root directory /x does not exist',
    next: 'Name it.',
    works: NEITHER,
  },
  {
    name: 'not root',
    given: {
      state: healthy().with({ tree: undefined }),
      failures: { tree: { message: 'the pods directory cannot be read: EACCES', hint: 'Run volctl as root.' } },
      host: { uid: 1000, standing: [{ message: 'the mount namespace cannot be read', hint: 'As root.' }] },
    },
    is: ['Root failed', 'Namespaces failed', 'NodeRead failed'],
    says: 'volctl runs as user 1000',
    works: NEITHER,
  },
  {
    name: 'root without a capability',
    given: { host: { missingCapabilities: [{ name: 'CAP_SYS_PTRACE', bit: 19, use: 'see other processes' }] } },
    is: ['Root failed'],
    says: 'root without CAP_SYS_PTRACE, needed to see other processes',
    works: PLAN_ONLY,
  },
  {
    name: 'a kubelet that may come back',
    given: { state: healthy().with({ kubelet: { running: false, mayReturn: true, unit: 'k3s.service' } }) },
    is: ['KubeletState warning'],
    says: 'k3s.service, v1.36.2, down, but may come back',
    next: 'systemctl stop k3s.service',
  },
  {
    name: 'S9: a runtime that does not answer',
    given: {
      state: healthy().with({ runtime: { source: 'none', endpoint: 'unix:///r', error: 'ENOENT', pods: [] } }),
    },
    is: ['Runtime failed'],
    says: 'did not answer (ENOENT)',
    next: '--runtime-endpoint',
  },
  {
    name: 'S9: the wrong runtime',
    given: { state: healthy().with({ runtime: { source: 'cri', endpoint: 'unix:///r', pods: [] } }) },
    is: ['Runtime failed'],
    says: 'lists none of the pods that are known to run on this node (1)',
  },
  {
    name: 'a driver that is dead, and needed',
    given: { state: withDriver([{ ...answering, registered: false, error: 'nobody answers' }]) },
    is: ['CsiDriver failed'],
    says: 'plugins/disk.test/csi.sock: nobody answers; volumes of disk.test can be neither',
  },
  {
    name: 'a driver that is needed, and somebody else who does not answer',
    given: { state: withDriver([{ path: 'plugins/old/csi.sock', registered: false, error: 'ECONNREFUSED' }]) },
    is: ['CsiDriver failed', 'CsiSocket warning'],
    says: 'no socket of this driver; nobody answers on plugins/old/csi.sock, which may be its own; volumes of disk.test',
  },
  {
    name: 'a driver that is needed and nowhere',
    given: { state: withDriver([], false) },
    is: ['CsiDriver failed'],
    says: 'no socket of this driver; volumes of disk.test',
  },
  {
    name: 'a driver that the kubelet does not know',
    given: { state: withDriver([answering], false) },
    is: ['CsiDriver warning'],
    says: 'CSINode node-1: does not list the driver',
    next: 'node-driver-registrar',
  },
  {
    name: 'a plugin of another kind, which is no CSI driver',
    given: {
      state: withDriver([answering, { path: 'plugins/dra/a.sock', registered: false, error: 'UNIMPLEMENTED' }]),
    },
    is: [],
    says: 'answers; its capabilities are not known',
  },
  {
    name: 'a socket with nobody behind it',
    given: {
      state: withDriver([answering, { path: 'plugins/old/csi.sock', registered: false, error: 'ECONNREFUSED' }]),
    },
    is: ['CsiSocket warning'],
    says: 'ECONNREFUSED',
  },
  {
    name: 'S33: a file that somebody else could have written, and the kubelet obeys',
    given: {
      state: healthy().with({
        notBelieved: [{ what: '/m/a.yaml', why: '/m is mode 0777', hint: 'Change the mode.', unknown: true }],
      }),
    },
    is: ['Ignored warning'],
    says: '/m is mode 0777',
    works: PLAN_ONLY,
  },
  {
    name: 'S28: clocks that disagree',
    given: { state: healthy().withApi({ clockSkewMs: -3_600_000 }) },
    is: ['Clock warning'],
    says: "1h ahead of the API server's clock",
  },
]

it.each(CASES)(
  'what is wrong, with a next step where a person can do something: $name',
  ({ given, is, says, next, works = BOTH }) => {
    const doctor = doctorOf(given)
    expect(open(doctor)).toEqual(is)
    expect(doctor.checks.map(({ message }) => message).join('\n')).toContain(says)
    if (next !== undefined) expect(doctor.checks.map((each) => each.next ?? '').join('\n')).toContain(next)
    expect(doctor.works).toEqual(works)
    for (const { id, state, next: step } of doctor.checks)
      if (state === 'failed' || state === 'warning')
        expect(`${step}`, id).toMatch(/^[A-Z].+(?:\.|: (?:sudo |)(?:volctl|kubectl) .+)$/)
  },
)

it('every check of the catalogue is made in some case', () => {
  const made = new Set(CASES.flatMap(({ given }) => doctorOf(given).checks.map(({ id }) => id)))
  expect((Object.keys(CHECKS) as CheckId[]).filter((id) => !made.has(id))).toEqual([])
})

it('nothing is ready below a root directory that is mounted read-only, for one cause, and doctor says so', () => {
  const built = node().published(GONE, 'pv-1', '7:1').persistentVolume('pv-1')
  expect(kinds(plan(built, { orphans: true })).length).toBeGreaterThan(0)
  built.mounts[0] = built.mounts[0]?.replace('rw,', 'ro,') ?? ''
  const made = plan(built, { orphans: true })
  expect([kinds(made), blocked(made)]).toEqual([[], ['UnmountVolume ReadOnlyFileSystem', 'DetachVolume Predecessor']])
  expect(made.summary.causes?.filter(({ key }) => key.includes('ReadOnlyFileSystem'))).toHaveLength(1)
  const doctor = doctorOf({ state: built })
  expect([doctor.works.apply, open(doctor)[0]]).toEqual([false, 'NodeFound failed'])
})
