/** volctl with exactly the rights of the ClusterRoles that ship, and with the kubelet's own credential: what is asked for, and what is given. */
import { expect } from 'vitest'
import type { Plan } from '../../src/core/plan/plan.ts'
import { APPLY_ROLE, PLAN_ROLE, rightsFor, rightsOf } from '../helpers/api-server/users.ts'
import { boundVolume, podObject } from '../helpers/objects.ts'
import {
  clusterObjects,
  NAMESPACE,
  NODE,
  node,
  type ScenePod,
  type SceneVolume,
  volumeObjects,
} from '../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../helpers/scene/pods.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { answerOf, runVolctl } from '../helpers/scene/volctl.ts'
import { endsOf, unclearOf } from './scenarios/outcomes.ts'
import { it } from './story.ts'

const COMMON: SceneVolume = { name: 'common', kind: 'filesystem' }
const VAULT: SceneVolume = { name: 'vault', kind: 'filesystem' }
const AUDIENCE = 'vault'
const ACCOUNT = 'app'
const KEY = 'key to the vault'
const APP = { name: 'app-0', uid: '11111111-2222-4333-8444-000000000009' }
const SIGNER = 'example.com/signer'

/** Everything that a volume can be filled from, and volumes of which the lists show nothing. */
function moreObjects(): object[] {
  const metadata = (name: string) => ({ name, namespace: NAMESPACE })
  const claims = ['vault', 'never-was', 'hollow', 'lun']
  return [
    ...clusterObjects().map((object) => {
      const { kind, spec } = object as { kind: string; spec: object }
      return kind === 'CSIDriver' ? { ...object, spec: { ...spec, tokenRequests: [{ audience: AUDIENCE }] } } : object
    }),
    ...volumeObjects(VAULT, '').map(withSecret),
    // Which other node has it stands in the Nodes' status alone.
    ...volumeObjects({ name: 'lun', kind: 'local' }, '/').map(asLun),
    { kind: 'Secret', metadata: metadata('key'), data: { key: Buffer.from(KEY).toString('base64') } },
    { kind: 'ServiceAccount', metadata: metadata(ACCOUNT) },
    ...['named', 'of-signer'].map((name) => ({
      kind: 'ClusterTrustBundle',
      metadata: { name },
      spec: { trustBundle: BUNDLE, ...(name === 'named' ? {} : { signerName: SIGNER }) },
    })),
    boundVolume('pv-hollow', {}, metadata('hollow')).claim,
    podObject(
      { ...APP, namespace: NAMESPACE, annotations: { note: 'hello' } },
      [
        { name: 'all', projected: { sources: SOURCES } },
        ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
        { name: 'inline', csi: { driver: 'inline.example.com' } },
      ],
      { spec: { nodeName: NODE, serviceAccountName: ACCOUNT }, status: { phase: 'Pending' } },
    ),
  ]
}

/** Its driver is given a secret, and many nodes may have it at once. */
function withSecret(object: object): object {
  const { kind, spec } = object as { kind: string; spec: { csi?: object } }
  if (kind === 'VolumeAttachment') return object
  const csi = { ...spec.csi, nodeStageSecretRef: { name: 'key', namespace: NAMESPACE } }
  return {
    ...object,
    spec: { ...spec, accessModes: ['ReadWriteMany'], ...(kind === 'PersistentVolume' && { csi }) },
  }
}

function asLun(object: object): object {
  const { kind, spec } = object as { kind: string; spec: object }
  const iscsi = { targetPortal: '192.0.2.1', iqn: 'iqn.2026-01.com.example:disk', lun: 1 }
  return kind === 'PersistentVolume'
    ? { ...object, spec: { ...spec, local: undefined, nodeAffinity: undefined, iscsi } }
    : object
}

const BUNDLE = '-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n'
const SOURCES = [
  { configMap: { name: 'settings' } },
  { secret: { name: 'password' } },
  { serviceAccountToken: { path: 'token', audience: AUDIENCE } },
  { clusterTrustBundle: { path: 'named.pem', name: 'named' } },
  { clusterTrustBundle: { path: 'signer.pem', signerName: SIGNER, labelSelector: {} } },
  {
    downwardAPI: {
      items: [
        { path: 'note', fieldRef: { fieldPath: "metadata.annotations['note']" } },
        { path: 'cpu', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } },
      ],
    },
  },
]

/** The volume has grown, and its claim waits for this node. */
function grown(objects: readonly object[]): object[] {
  return objects.flatMap((object): object[] => {
    const { kind, spec, status } = object as { kind: string; spec: object; status: object }
    const capacity = { storage: '2Gi' }
    if (kind === 'PersistentVolume') return [{ ...object, spec: { ...spec, capacity } }]
    if (kind !== 'PersistentVolumeClaim') return []
    const progress = { allocatedResources: capacity, allocatedResourceStatuses: { storage: 'NodeResizePending' } }
    return [{ ...object, status: { ...status, ...progress } }]
  })
}

/** A run of volctl as that user, with what it was given and what not, each right once, sorted; reviews left out. */
async function runAs(scene: Scene, user: string, args: readonly string[]) {
  scene.api.clearRequests()
  const run = await runVolctl(scene, [...args, '--kubeconfig', scene.api.kubeconfig(user)])
  const { given = [], forbidden = [] } = Object.groupBy(scene.api.requests(), ({ status }) =>
    status === 403 ? 'forbidden' : 'given',
  )
  return { run, given: rightsFor(given), forbidden: rightsFor(forbidden) }
}

async function planAs(scene: Scene, user: string) {
  const { run, ...asked } = await runAs(scene, user, ['plan', '--orphans', '-o', 'json'])
  expect(run.status, run.stderr).toBe(0)
  const { operations, waiting } = answerOf<Plan>(run)
  return {
    ...asked,
    blocked: operations
      .flatMap(({ kind, volume, blocked }) => (blocked ? [`${kind} ${volume?.name ?? '-'}: ${blocked.code}`] : []))
      .toSorted(),
    waiting: waiting.map(({ code, volume }) => `${volume?.name ?? '-'}: ${code}`).toSorted(),
  }
}

async function applyAs(scene: Scene, user: string) {
  const flags = ['--orphans', '--expand', '--yes', '-o', 'ndjson', '--verbose']
  const { run, ...asked } = await runAs(scene, user, ['apply', ...flags])
  // What is blocked or fails has a code of the catalogue and a next step.
  expect(unclearOf(run)).toEqual([])
  return { ...asked, status: run.status, ends: endsOf(run) }
}

/** Explain needs what plan needs, and no more. */
async function expectExplained(
  scene: Scene,
  user: string,
  plan: { given: string[]; forbidden: string[] },
): Promise<void> {
  const args = ['explain', scene.rootDir, '-o', 'json', '--orphans', '--verbose']
  const { run, given, forbidden } = await runAs(scene, user, args)
  expect(answerOf<Plan>(run).operations.length).toBeGreaterThan(5)
  expect([run.status, given, forbidden]).toEqual([0, plan.given, plan.forbidden])
}

async function give(scene: Scene, objects: readonly object[]): Promise<void> {
  // Growing an ext4 needs more than some machines give.
  scene.driver.setFaults('lie NodeExpandVolume')
  await scene.breakIt()
  const volumes = Object.values(scene.pods).flatMap((pod: ScenePod) => pod.volumes)
  scene.api.put(node([...volumes, FORGOTTEN, IDLE, VAULT]), ...moreObjects(), ...grown(objects))
}

it('plan uses every right of its ClusterRole, and misses none but the contents of volumes; explain needs no more', async ({
  scene,
}) => {
  await give(scene, volumeObjects(COMMON, ''))
  const plan = await planAs(scene, 'plan')
  expect(plan.given).toEqual(rightsOf(PLAN_ROLE))
  expect(plan.forbidden).toEqual(['get configmaps', 'get secrets'])
  expect(plan.blocked).toEqual([
    'DetachVolume pv-batch: Forbidden',
    'DetachVolume pv-idle: Forbidden',
    'DetachVolume vol-old: Forbidden',
    'ExpandVolume pv-common: NotAsked',
    'MountVolume all: ContentUnknown',
  ])
  await expectExplained(scene, 'plan', plan)
})

it('apply uses every right of both, misses none, and does everything', async ({ scene }) => {
  const { status, given, forbidden, ends } = await applyAs(scene, 'apply')
  expect(status).toBe(0)
  expect(given).toEqual(rightsOf(PLAN_ROLE, APPLY_ROLE))
  expect(forbidden).toEqual([])
  expect(ends.filter((end) => !end.endsWith(': done'))).toEqual([])
  for (const kind of ['DetachVolume', 'ExpandVolume', 'MountVolume', 'UnmountDevice', 'RemoveOrphanPodDir'])
    expect(ends.some((end) => end.startsWith(kind))).toBe(true)
})

it("S3: what the kubelet's own credential is not told of may be anything, and is not taken for absent", async ({
  scene,
}) => {
  await scene.setUp()
  await give(scene, volumeObjects(VAULT, '').map(withSecret))
  await scene.reboot()
  const plan = await planAs(scene, 'kubelet')
  // Of a volume that no object relates to its node it is told nothing, be it there or not.
  expect(plan.forbidden).toContain('get persistentvolumes')
  expect(plan.waiting).toContain('pv-hollow: VolumeUnresolved')
  expect(plan.blocked.length).toBeGreaterThan(3)
  expect(plan.blocked.filter((each) => !each.endsWith(': MayBeInUse'))).toEqual([])
  await expectExplained(scene, 'kubelet', plan)
})

it('S30: with it apply undoes and brings up what it can be sure of; the rest is named', async ({ scene }) => {
  scene.api.remove('PersistentVolumeClaim', 'hollow', NAMESPACE)
  const unlisted = [
    'list nodes',
    'list persistentvolumeclaims',
    'list persistentvolumes',
    'list volumeattachments.storage.k8s.io',
  ]
  const plan = await planAs(scene, 'kubelet')
  // Whether other nodes have it attached cannot be told.
  expect([plan.forbidden, plan.waiting]).toEqual([unlisted, expect.arrayContaining(['pv-common: AccessMode'])])
  const { status, given, forbidden, ends } = await applyAs(scene, 'kubelet')
  expect([status, forbidden]).toEqual([3, unlisted])
  const detaches = ['pv-idle', 'vol-batch', 'vol-old'].map((volume) => `DetachVolume ${volume}: blocked Forbidden`)
  expect(ends.filter((end) => !end.endsWith(': done'))).toEqual(detaches)
  expect(ends).toEqual(expect.arrayContaining(['all', 'password', 'pv-vault'].map((v) => `MountVolume ${v}: done`)))
  for (const right of ['get pods', 'get secrets', 'get configmaps', 'create serviceaccounts/token'])
    expect(given).toContain(right)
})

it('with it a claim is told that its volume has grown', async ({ scene }) => {
  const { ends, given, forbidden } = await applyAs(scene, 'kubelet')
  expect(ends).toContain('ExpandVolume pv-vault: done')
  expect(given).toContain('patch persistentvolumeclaims/status')
  expect(forbidden).not.toContain('patch persistentvolumeclaims/status')
  expect(scene.driver.violations()).toEqual([])
})
