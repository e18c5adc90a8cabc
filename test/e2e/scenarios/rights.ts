/** Plans and applies with exactly the rights that ship, and with the kubelet's own credential: what is asked for, and what is given. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { requestInfo } from '../../helpers/api-server/request-info.ts'
import {
  clusterObjects,
  NAMESPACE,
  NODE,
  node,
  type ScenePod,
  type SceneVolume,
  volumeObjects,
} from '../../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../../helpers/scene/pods.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { endsOf, unclearOf } from './outcomes.ts'
import { withScene, writeReport } from './scenario.ts'

export interface Asked {
  /** `verb resource`, each once, sorted; reviews left out. */
  readonly given: readonly string[]
  readonly forbidden: readonly string[]
}

export interface PlanWith extends Asked {
  readonly status: number | undefined
  readonly problems: readonly string[]
  /** `kind volume: code` of what is blocked. */
  readonly blocked: readonly string[]
  readonly waiting: readonly string[]
}

export interface ApplyWith extends Asked {
  readonly status: number | undefined
  readonly ends: readonly string[]
  readonly unclear: readonly string[]
}

export interface ExplainWith extends Asked {
  readonly status: number | undefined
  /** Kinds of all operations that it shows, sorted. */
  readonly operations: readonly string[]
}

export interface RightsReport {
  readonly plan: PlanWith
  /** All of the root directory explained, with the rights of the plan's role, and with the kubelet's own. */
  readonly explain: { readonly plan: ExplainWith; readonly kubelet: ExplainWith }
  readonly apply: ApplyWith
  /** The kubelet's own credential; first with a claim whose volume it is not told of. */
  readonly kubelet: {
    readonly unresolved: PlanWith
    readonly plan: PlanWith
    readonly apply: ApplyWith
    readonly again: ApplyWith
  }
  /** Everything that was printed and written down: no secret and no token may be in it. */
  readonly said: string
  readonly violations: readonly unknown[]
}

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
    {
      kind: 'PersistentVolumeClaim',
      metadata: metadata('hollow'),
      spec: { volumeName: 'pv-hollow', accessModes: ['ReadWriteOnce'] },
      status: { phase: 'Bound' },
    },
    {
      kind: 'Pod',
      metadata: { ...metadata(APP.name), uid: APP.uid, annotations: { note: 'hello' } },
      spec: {
        nodeName: NODE,
        serviceAccountName: ACCOUNT,
        volumes: [
          { name: 'all', projected: { sources: SOURCES } },
          ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
          { name: 'inline', csi: { driver: 'inline.example.com' } },
        ],
        containers: [
          { name: 'main', volumeMounts: ['all', 'inline', ...claims].map((name) => ({ name, mountPath: `/${name}` })) },
        ],
      },
      status: { phase: 'Pending' },
    },
  ]
}

/** Its driver is given a secret, and many nodes may have it at once. */
function withSecret(object: object): object {
  const { kind, spec } = object as { kind: string; spec: { csi?: object } }
  if (kind === 'VolumeAttachment') return object
  const csi = { ...spec.csi, nodeStageSecretRef: { name: 'key', namespace: NAMESPACE } }
  return {
    ...object,
    spec: { ...spec, accessModes: ['ReadWriteMany'], ...(kind === 'PersistentVolume' ? { csi } : {}) },
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
        { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } },
      ],
    },
  },
]

/** The volume has grown, and its claim waits for this node. */
function grown(objects: readonly object[]): object[] {
  return objects.flatMap((object): object[] => {
    const { kind, spec, status } = object as { kind: string; spec: object; status: object }
    const capacity = { storage: '32Mi' }
    if (kind === 'PersistentVolume') return [{ ...object, spec: { ...spec, capacity } }]
    if (kind !== 'PersistentVolumeClaim') return []
    const progress = { allocatedResources: capacity, allocatedResourceStatuses: { storage: 'NodeResizePending' } }
    return [{ ...object, status: { ...status, ...progress } }]
  })
}

let said = ''

async function askedBy(scene: Scene, work: () => Promise<void>): Promise<Asked> {
  await scene.api.clearRequests()
  await work()
  const requests = (await scene.api.requests()).filter(({ path }) => !path.includes('reviews'))
  const words = (refused: boolean): string[] => {
    const found = requests.filter(({ status }) => (status === 403) === refused)
    return [...new Set(found.map(({ method, path }) => wordsOf(method, path)))].toSorted()
  }
  return { given: words(false), forbidden: words(true) }
}

function wordsOf(method: string, path: string): string {
  const { verb, resource } = requestInfo(method, new URL(path, 'https://test'))
  return `${verb} ${resource}`
}

async function planWith(scene: Scene, user: string): Promise<PlanWith> {
  let run: Awaited<ReturnType<typeof runVolctl>> | undefined
  const asked = await askedBy(scene, async () => {
    run = await runVolctl(scene, ['plan', '--orphans', '-o', 'json', '--kubeconfig', scene.api.kubeconfig(user)])
  })
  if (!run?.stdout) throw new Error(run?.stderr)
  said += run.stdout + run.stderr
  const { operations, waiting, problems } = JSON.parse(run.stdout) as Plan
  return {
    ...asked,
    status: run.status,
    problems: [...new Set(problems.map(({ code }) => code))].toSorted(),
    blocked: operations
      .flatMap(({ kind, volume, blocked }) => (blocked ? [`${kind} ${volume?.name ?? '-'}: ${blocked.code}`] : []))
      .toSorted(),
    waiting: waiting.map(({ code, volume }) => `${volume?.name ?? '-'}: ${code}`).toSorted(),
  }
}

async function explainWith(scene: Scene, user: string): Promise<ExplainWith> {
  let operations: readonly string[] = []
  let status: number | undefined
  const asked = await askedBy(scene, async () => {
    const flags = ['--orphans', '--kubeconfig', scene.api.kubeconfig(user), '--verbose']
    const json = await runVolctl(scene, ['explain', scene.rootDir, '-o', 'json', ...flags])
    if (json.stdout === '') throw new Error(json.stderr)
    status = json.status
    operations = (JSON.parse(json.stdout) as Plan).operations.map(({ kind }) => kind).toSorted()
    for (const { uid } of Object.values(scene.pods) as ScenePod[]) {
      const wide = await runVolctl(scene, ['explain', uid, '-o', 'wide', ...flags])
      said += json.stdout + json.stderr + wide.stdout + wide.stderr
    }
  })
  return { ...asked, status, operations }
}

async function applyWith(scene: Scene, user: string): Promise<ApplyWith> {
  let run: Awaited<ReturnType<typeof runVolctl>> | undefined
  const flags = ['--orphans', '--expand', '--yes', '-o', 'ndjson', '--verbose']
  const asked = await askedBy(scene, async () => {
    run = await runVolctl(scene, ['apply', ...flags, '--kubeconfig', scene.api.kubeconfig(user)])
  })
  if (run === undefined) throw new Error('not run')
  said += run.stdout + run.stderr
  return { ...asked, status: run.status, ends: endsOf(run), unclear: unclearOf(run) }
}

async function give(scene: Scene, objects: readonly object[]): Promise<void> {
  // Growing an ext4 needs more than some machines give.
  scene.driver.setFaults('lie NodeExpandVolume')
  await scene.breakIt()
  const volumes = Object.values(scene.pods).flatMap((pod: ScenePod) => pod.volumes)
  await scene.api.put(node([...volumes, FORGOTTEN, IDLE, VAULT]), ...moreObjects(), ...grown(objects))
}

async function useRights(scene: Scene): Promise<RightsReport> {
  await give(scene, volumeObjects(COMMON, ''))
  const plan = await planWith(scene, 'plan')
  const explained = await explainWith(scene, 'plan')
  const apply = await applyWith(scene, 'apply')

  await scene.setUp()
  await give(scene, volumeObjects(VAULT, '').map(withSecret))
  await scene.reboot()
  const unresolved = await planWith(scene, 'kubelet')
  const explain = { plan: explained, kubelet: await explainWith(scene, 'kubelet') }
  await scene.api.remove('PersistentVolumeClaim', 'hollow', NAMESPACE)
  const kubelet = {
    unresolved,
    plan: await planWith(scene, 'kubelet'),
    apply: await applyWith(scene, 'kubelet'),
    // What is mounted now is to grow.
    again: await applyWith(scene, 'kubelet'),
  }
  const journal = readFileSync(join(scene.directory, 'journal', 'journal.jsonl'), 'utf8')
  return { plan, explain, apply, kubelet, said: said + journal, violations: scene.driver.violations() }
}

writeReport(await withScene(useRights, { small: true }))
