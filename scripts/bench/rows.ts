/** Rows of a start, of very many mounts, and of a cluster. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { startBigCluster } from '../../test/helpers/big-cluster/start.ts'
import { livingPod, nodeObjects } from './api-objects.ts'
import { type LayoutBuilder, podUid } from './layout.ts'
import { compared, type Row, ratio, type Timed, weighed } from './measure.ts'
import { type SceneContent, startScene } from './scene.ts'

/** What every command costs before it does anything. */
export async function startRows(_: string, volctl: string): Promise<Row[]> {
  const node = { command: [process.execPath, '-e', '0'] }
  const measured = await compared({ command: [volctl, '--version'] }, node, 25)
  return [{ name: '`volctl --version`', peer: '`node -e 0`', atMost: 1.8, measured }]
}

const MANY = 99_000
const GONE = 5

/** A plan of a node with very many mounts of pods that live, against one read of the table. */
export async function planMountsRows(directory: string, volctl: string): Promise<Row[]> {
  await using scene = await startScene(directory, volctl, 'plan', manyMounts)
  if (scene.planned() !== GONE) throw new Error(`${GONE} operations were expected`)
  const measured = await compared(scene.volctl('plan'), scene.inside(['cat', '/proc/self/mountinfo']), 7)
  return [{ name: `\`plan\` with ${MANY} mounts`, peer: '`cat /proc/self/mountinfo`', atMost: 3, measured }]
}

function manyMounts(layout: LayoutBuilder): SceneContent {
  const living = MANY / 330
  for (let index = 0; index < GONE; index++) layout.tmpfs(podUid('gone', index), 'volumes/kubernetes.io~secret/token')
  for (let mount = 0; mount < MANY - GONE; mount++) {
    const path = `volumes/kubernetes.io~empty-dir/memory-${Math.floor(mount / living)}`
    layout.tmpfs(podUid('living', mount % living), path)
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
      await scene.api.put(...nodeObjects())
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
    layout.tmpfs(podUid('gone', mount % GONE_PODS), `volumes/kubernetes.io~secret/${name}`)
  }
  layout.directory(podUid('living', 0), 'volumes')
  return { pods: [livingPod(0)], layout }
}

const FEWER_NODES = 1000
const NODES = 5000
const MOST_MB = 400

/** A plan of a whole cluster, 30 pods a node: how it grows. */
export async function clusterRows(directory: string, volctl: string): Promise<Row[]> {
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
    const own = `${directory}/${nodes}`
    mkdirSync(own, { recursive: true })
    await using server = await startBigCluster(own, { nodes })
    return await weighed({ command: [volctl, 'plan', '--cluster', '--kubeconfig', server.kubeconfig, '-o', 'json'] })
  }
}
