import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiObject, livingPod, NODE_NAME } from '../api-objects.ts'
import { type LayoutBuilder, podUid } from '../layout.ts'
import { inRounds, ratios, type Timed, timed } from '../measure.ts'
import { plannedOperations } from '../planned.ts'
import { debianKubectl, floor, type Programs } from '../programs.ts'
import type { Measured, Result, Row } from '../row.ts'
import { type SceneContent, startScene } from '../scene.ts'

export const PODS = 250
const GONE = 30
const CONFIG_MAPS = 10
const ROUNDS = 11

const SETTINGS = { 'app.yaml': 'listen: 8080\nlevel: info\n' }
const PASSWORD = { password: 'correct horse battery staple' }
const CA = { 'ca.crt': '-----BEGIN CERTIFICATE-----\n' }

/** A plan of a full node, healthy and with pods that were deleted, against a client that asks the same server only for its pods. */
export async function planPodsRows(programs: Programs): Promise<Result[]> {
  const kubectl = debianKubectl(programs.directory('kubectl'))
  const rows: [Row, number][] = [
    [
      {
        name: `\`plan\` of ${PODS} pods and ${PODS * VOLUMES_OF_A_POD.length} volumes, over TLS`,
        peer: '`kubectl get pods` with the same selector',
        scene: `${PODS} living, healthy pods of 10 kB in the API, each with a projected token, a configMap, a secret, a downwardAPI and two emptyDirs; a client certificate for both`,
        demand: { atMost: 1.2 },
      },
      0,
    ],
    [
      {
        name: `the same where ${GONE} of the pods were deleted`,
        peer: '`kubectl get pods` with the same selector',
        scene: `the same node, and the API and the runtime lack ${GONE} of the pods: who holds their volumes is judged`,
        demand: { atMost: 1.5 },
      },
      GONE,
    ],
  ]
  const results: Result[] = []
  for (const [row, gone] of rows) {
    if ('missing' in kubectl) results.push({ ...row, notRun: kubectl.missing })
    else results.push({ ...row, measured: await againstKubectl(programs, kubectl.path, gone) })
  }
  return results
}

async function againstKubectl(programs: Programs, kubectl: string, gone: number): Promise<Measured> {
  const name = `pods-${gone}-gone`
  await using scene = await startScene(programs, name, 'admin', (layout) => fullNode(layout, gone))
  const json = join(programs.directory(name), 'plan.json')
  await scene.api.clearRequests()
  await timed({ ...scene.volctl(['plan', '-o', 'json']).executable, stdout: json })
  const requests = join(programs.directory(name), 'requests.json')
  writeFileSync(requests, JSON.stringify(await scene.api.requests()))
  if (plannedOperations(json) > 0 !== gone > 0) throw new Error(`another plan was expected: see ${json}`)
  const getPods: Timed = {
    ...scene.inside([kubectl, 'get', 'pods', '-A', '--field-selector', `spec.nodeName=${NODE_NAME}`]),
    env: { HOME: programs.directory('kubectl'), KUBECONFIG: scene.api.kubeconfig('admin') },
  }
  const bare = scene.inside(floor('pods', scene.rootDir, scene.api.kubeconfig('admin'), requests, scene.runtime))
  const runs = await inRounds({ ...scene.volctl(['plan']), getPods, floor: bare }, ROUNDS)
  return {
    executable: ratios(runs.executable, runs.getPods),
    bundle: ratios(runs.bundle, runs.getPods),
    floor: ratios(runs.floor, runs.getPods),
  }
}

export function healthyNode(layout: LayoutBuilder): SceneContent {
  return fullNode(layout, 0)
}

/** @param gone how many of the pods only the disk has */
function fullNode(layout: LayoutBuilder, gone: number): SceneContent {
  const pods: ApiObject[] = []
  for (let index = 0; index < PODS; index++) {
    const isGone = index < gone
    const uid = podUid(isGone ? 'gone' : 'living', index)
    const volumes = VOLUMES_OF_A_POD.map((add) => add(layout, uid, index % CONFIG_MAPS))
    if (!isGone) pods.push(livingPod(index, { full: true, volumes }))
  }
  return { pods, objects: configuration(), layout }
}

/** Makes the volume on disk as the kubelet does; returns its entry in the pod's spec. */
type AddVolume = (layout: LayoutBuilder, uid: string, number: number) => object

const addToken: AddVolume = (layout, uid) => {
  layout.tmpfs(uid, 'volumes/kubernetes.io~projected/kube-api-access')
  const files = { ...CA, token: 'x.y.z', namespace: 'default' }
  layout.payload(uid, 'volumes/kubernetes.io~projected/kube-api-access', files)
  return {
    name: 'kube-api-access',
    projected: {
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  }
}

const addConfig: AddVolume = (layout, uid, number) => {
  layout.directory(uid, 'volumes/kubernetes.io~configmap/config')
  layout.payload(uid, 'volumes/kubernetes.io~configmap/config', SETTINGS)
  layout.readyMarker(uid, 'wrapped_config')
  return { name: 'config', configMap: { name: `config-${number}` } }
}

const addPassword: AddVolume = (layout, uid, number) => {
  layout.tmpfs(uid, 'volumes/kubernetes.io~secret/password')
  layout.payload(uid, 'volumes/kubernetes.io~secret/password', PASSWORD)
  return { name: 'password', secret: { secretName: `password-${number}` } }
}

const addCache: AddVolume = (layout, uid) => addEmptyDir(layout, uid, 'cache')

const addLogs: AddVolume = (layout, uid) => addEmptyDir(layout, uid, 'logs')

function addEmptyDir(layout: LayoutBuilder, uid: string, name: string): object {
  layout.directory(uid, `volumes/kubernetes.io~empty-dir/${name}`)
  layout.readyMarker(uid, name)
  return { name, emptyDir: {} }
}

const addPodInfo: AddVolume = (layout, uid) => {
  layout.tmpfs(uid, 'volumes/kubernetes.io~downward-api/podinfo')
  layout.payload(uid, 'volumes/kubernetes.io~downward-api/podinfo', { namespace: 'default' })
  const items = [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }]
  return { name: 'podinfo', downwardAPI: { items } }
}

const VOLUMES_OF_A_POD: readonly AddVolume[] = [addToken, addConfig, addPassword, addPodInfo, addCache, addLogs]

function configuration(): ApiObject[] {
  const object = (kind: string, name: string, data: object): ApiObject =>
    ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'default' }, data }) as ApiObject
  const base64 = Object.fromEntries(Object.entries(PASSWORD).map(([key, text]) => [key, btoa(text)]))
  return [
    object('ConfigMap', 'kube-root-ca.crt', CA),
    ...Array.from({ length: CONFIG_MAPS }, (_, index) => object('ConfigMap', `config-${index}`, SETTINGS)),
    ...Array.from({ length: CONFIG_MAPS }, (_, index) => object('Secret', `password-${index}`, base64)),
  ]
}
