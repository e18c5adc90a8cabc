/** Rows of a start, of a full node, of very many mounts, and of a cluster. */
import { readFileSync, writeFileSync } from 'node:fs'
import { TOKEN } from '../../test/cluster/big-cluster/objects.ts'
import { startBigCluster } from '../../test/cluster/big-cluster/start.ts'
import { volumePath } from '../../test/helpers/pod-files.ts'
import { thisArch } from '../package/debian-libraries.ts'
import { kubectl } from '../package/fetched.ts'
import { compared, type Ratio, type Row, ratio, type Timed, weighed } from './measure.ts'
import {
  type ApiObject,
  type LayoutBuilder,
  livingPod,
  NODE_NAME,
  nodeObjects,
  podUid,
  type SceneContent,
  startScene,
} from './scene.ts'

/** What every command costs before it does anything. */
export async function startRows(_: string, volctl: string): Promise<Row[]> {
  const node = { command: [process.execPath, '-e', '0'] }
  const measured = await compared({ command: [volctl, '--version'] }, node, 25)
  return [{ name: '`volctl --version`', peer: '`node -e 0`', atMost: 1.8, measured }]
}

const PODS = 250
const GONE_OF_PODS = 30
const CONFIG_MAPS = 10
const ROUNDS = 11

/** A plan of the node, healthy and with pods that were deleted, against a client that asks the same server only for its pods. */
export async function planPodsRows(directory: string, volctl: string): Promise<Row[]> {
  const peer = '`kubectl get pods` with the same selector'
  const healthy = `\`plan\` of ${PODS} pods and ${PODS * VOLUMES.length} volumes, over TLS`
  const broken = `the same where ${GONE_OF_PODS} of the pods were deleted: who holds their volumes is judged`
  return [
    { name: healthy, peer, atMost: 1.2, measured: await againstKubectl(`${directory}/healthy`, volctl, 0) },
    { name: broken, peer, atMost: 1.5, measured: await againstKubectl(`${directory}/broken`, volctl, GONE_OF_PODS) },
  ]
}

async function againstKubectl(directory: string, volctl: string, gone: number): Promise<Ratio> {
  await using scene = await startScene(directory, volctl, 'admin', (layout) => fullNode(layout, gone))
  if ((await scene.planned()) > 0 !== gone > 0) throw new Error(`another plan was expected where ${gone} pods are gone`)
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
function makeVolume(layout: LayoutBuilder, uid: string, { name, plugin, files = {} }: Volume): void {
  if (plugin === 'empty-dir') layout.emptyDir(uid, name)
  else {
    if (plugin !== 'configmap') layout.mount(volumePath(uid, plugin, name))
    layout.content(uid, plugin, name, files)
  }
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

const MANY = 99_000
const GONE = 5

/** A plan of a node with very many mounts of pods that live, against one read of the table. */
export async function planMountsRows(directory: string, volctl: string): Promise<Row[]> {
  await using scene = await startScene(directory, volctl, 'plan', manyMounts)
  if ((await scene.planned()) !== GONE) throw new Error(`${GONE} operations were expected`)
  const measured = await compared(scene.volctl('plan'), scene.inside(['cat', '/proc/self/mountinfo']), 7)
  return [{ name: `\`plan\` with ${MANY} mounts`, peer: '`cat /proc/self/mountinfo`', atMost: 3, measured }]
}

function manyMounts(layout: LayoutBuilder): SceneContent {
  const living = MANY / 330
  for (let index = 0; index < GONE; index++) layout.mount(volumePath(podUid('gone', index), 'secret', 'token'))
  for (let mount = 0; mount < MANY - GONE; mount++) {
    const name = `memory-${Math.floor(mount / living)}`
    layout.mount(volumePath(podUid('living', mount % living), 'empty-dir', name))
  }
  return { pods: Array.from({ length: living }, (_, index) => livingPod(index)), layout }
}

const LEAKED = 10_000
const GONE_PODS = 250

/** Unmounting very many mounts of orphaned pods: one whole apply, against what a person would type. */
export async function unmountRows(directory: string, volctl: string): Promise<Row[]> {
  await using scene = await startScene(directory, volctl, 'apply', goneMounts)
  const list = `${directory}/mounts.txt`
  writeFileSync(list, scene.mountPoints.map((path) => `${path}\n`).join(''))
  /** The same mounts before each run, and none of them after it. */
  const prepared = (timed: Timed): Timed => ({
    ...timed,
    before: async () => {
      // Directories made again must not look younger than everything in the API (S29).
      scene.api.put(...nodeObjects())
      await scene.make()
    },
    after: () => {
      const left = readFileSync(scene.mountinfo, 'utf8').split(`${scene.rootDir}/`).length - 1
      if (left > 0) throw new Error(`${timed.command.join(' ')} left ${left} mounts behind`)
    },
  })
  const xargs = scene.inside(['xargs', '-a', list, 'umount'])
  const measured = await compared(prepared(scene.volctl('apply', '--yes')), prepared(xargs), 7)
  return [{ name: `\`apply\` of ${LEAKED} leaked mounts, verified`, peer: '`xargs umount`', atMost: 2.5, measured }]
}

function goneMounts(layout: LayoutBuilder): SceneContent {
  for (let mount = 0; mount < LEAKED; mount++) {
    const name = `secret-${Math.floor(mount / GONE_PODS)}`
    layout.mount(volumePath(podUid('gone', mount % GONE_PODS), 'secret', name))
  }
  layout.entry({ path: `pods/${podUid('living', 0)}/volumes`, type: 'dir' })
  return { pods: [livingPod(0)], layout }
}

const FEWER_NODES = 1000
const NODES = 5000
const MOST_MB = 400

/** A plan of a whole cluster, 30 pods a node: how it grows. */
export async function clusterRows(_: string, volctl: string): Promise<Row[]> {
  const [less, more] = [await planned(FEWER_NODES), await planned(NODES)]
  const name = `\`plan --cluster\`, ${NODES} nodes`
  return [
    // Linear, with a fifth to spare.
    {
      name,
      peer: `the same of ${FEWER_NODES}`,
      atMost: 1.2 * (NODES / FEWER_NODES),
      measured: ratio([more.ms], [less.ms], 'ms'),
    },
    { name: 'its peak memory', peer: `${MOST_MB} MB`, atMost: 1, measured: ratio([more.mb], [MOST_MB], 'MB') },
  ]

  async function planned(nodes: number): ReturnType<typeof weighed> {
    await using server = await startBigCluster({ nodes })
    const kubeconfig = server.kubeconfig('admin')
    return await weighed({ command: [volctl, 'plan', '--cluster', '--kubeconfig', kubeconfig, '-o', 'json'] })
  }
}
