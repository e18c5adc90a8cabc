/** Rows of a full node: 250 pods with six volumes each. */
import { TOKEN } from '../../test/helpers/big-cluster/objects.ts'
import { thisArch } from '../package/debian-libraries.ts'
import { kubectl } from '../package/fetched.ts'
import { type ApiObject, livingPod, NODE_NAME } from './api-objects.ts'
import { type LayoutBuilder, podUid } from './layout.ts'
import { compared, type Ratio, type Row } from './measure.ts'
import { type SceneContent, startScene } from './scene.ts'

const PODS = 250
const GONE = 30
const CONFIG_MAPS = 10
const ROUNDS = 11

/** A plan of the node, healthy and with pods that were deleted, against a client that asks the same server only for its pods. */
export async function planPodsRows(directory: string, volctl: string): Promise<Row[]> {
  const peer = '`kubectl get pods` with the same selector'
  const healthy = `\`plan\` of ${PODS} pods and ${PODS * VOLUMES.length} volumes, over TLS`
  const broken = `the same where ${GONE} of the pods were deleted: who holds their volumes is judged`
  return [
    { name: healthy, peer, atMost: 1.2, measured: await againstKubectl(`${directory}/healthy`, volctl, 0) },
    { name: broken, peer, atMost: 1.5, measured: await againstKubectl(`${directory}/broken`, volctl, GONE) },
  ]
}

async function againstKubectl(directory: string, volctl: string, gone: number): Promise<Ratio> {
  await using scene = await startScene(directory, volctl, 'admin', (layout) => fullNode(layout, gone))
  if (scene.planned() > 0 !== gone > 0) throw new Error(`another plan was expected where ${gone} pods are gone`)
  const client = await kubectl(thisArch())
  const getPods = {
    ...scene.inside([client, 'get', 'pods', '-A', '--field-selector', `spec.nodeName=${NODE_NAME}`]),
    env: { HOME: directory, KUBECONFIG: scene.api.kubeconfig('admin') },
  }
  return await compared(scene.volctl('plan'), getPods, ROUNDS)
}

/** One pod of the healthy node, against the plan of all. */
export async function explainRows(directory: string, volctl: string): Promise<Row[]> {
  await using scene = await startScene(directory, volctl, 'admin', (layout) => fullNode(layout, 0))
  const measured = await compared(scene.volctl('explain', podUid('living', 17)), scene.volctl('plan'), ROUNDS)
  const name = `\`explain\` of one of the ${PODS} pods, with who holds its volumes`
  return [{ name, peer: '`plan` of the same node', atMost: 1.3, measured }]
}

/** @param gone how many of the pods only the disk has */
function fullNode(layout: LayoutBuilder, gone: number): SceneContent {
  const pods: ApiObject[] = []
  for (let index = 0; index < PODS; index++) {
    const uid = podUid(index < gone ? 'gone' : 'living', index)
    for (const volume of VOLUMES) makeVolume(layout, uid, volume)
    const volumes = VOLUMES.map(({ name, source }) => ({ name, ...source(index % CONFIG_MAPS) }))
    if (index >= gone) pods.push(livingPod(index, volumes))
  }
  return { pods, objects: configuration(), layout }
}

interface Volume {
  readonly name: string
  readonly plugin: string
  /** What an atomic writer has written into it. */
  readonly files?: Readonly<Record<string, string>>
  /** Its entry in the pod's spec. */
  readonly source: (number: number) => object
}

const SETTINGS = { 'app.yaml': 'listen: 8080\nlevel: info\n' }
const PASSWORD = { password: 'correct horse battery staple' }
const CA = { 'ca.crt': '-----BEGIN CERTIFICATE-----\n' }
const NAMESPACE = [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }]

const VOLUMES: readonly Volume[] = [
  {
    name: 'kube-api-access',
    plugin: 'projected',
    files: { ...CA, token: 'x.y.z', namespace: 'default' },
    source: () => ({ projected: TOKEN }),
  },
  {
    name: 'config',
    plugin: 'configmap',
    files: SETTINGS,
    source: (number) => ({ configMap: { name: `config-${number}` } }),
  },
  {
    name: 'password',
    plugin: 'secret',
    files: PASSWORD,
    source: (number) => ({ secret: { secretName: `password-${number}` } }),
  },
  {
    name: 'podinfo',
    plugin: 'downward-api',
    files: { namespace: 'default' },
    source: () => ({ downwardAPI: { items: NAMESPACE } }),
  },
  { name: 'cache', plugin: 'empty-dir', source: () => ({ emptyDir: {} }) },
  { name: 'logs', plugin: 'empty-dir', source: () => ({ emptyDir: {} }) },
]

/** On disk as the kubelet makes it: what may not be read by others in memory, the rest in a directory with a marker. */
function makeVolume(layout: LayoutBuilder, uid: string, { name, plugin, files }: Volume): void {
  const path = `volumes/kubernetes.io~${plugin}/${name}`
  if (plugin === 'configmap' || plugin === 'empty-dir') {
    layout.directory(uid, path)
    layout.readyMarker(uid, plugin === 'configmap' ? `wrapped_${name}` : name)
  } else layout.tmpfs(uid, path)
  if (files !== undefined) layout.payload(uid, path, files)
}

function configuration(): ApiObject[] {
  const object = (kind: string, name: string, data: object): ApiObject =>
    ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'default' }, data }) as ApiObject
  const base64 = Object.fromEntries(Object.entries(PASSWORD).map(([key, text]) => [key, btoa(text)]))
  const numbered = Array.from({ length: CONFIG_MAPS }, (_, index) => [
    object('ConfigMap', `config-${index}`, SETTINGS),
    object('Secret', `password-${index}`, base64),
  ])
  return [object('ConfigMap', 'kube-root-ca.crt', CA), ...numbered.flat()]
}
