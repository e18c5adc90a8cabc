import { join } from 'node:path'
import { livingPod } from '../api-objects.ts'
import { type LayoutBuilder, podUid } from '../layout.ts'
import { inRounds, peakMemory, ratios, ratiosOf, type Timed } from '../measure.ts'
import { plannedOperations } from '../planned.ts'
import { type Form, floor, type Programs } from '../programs.ts'
import type { Result } from '../row.ts'
import { type Scene, type SceneContent, startScene } from '../scene.ts'

const MANY = 99_000
const FEW = 10_000
const GONE_PODS = 5
const MOUNTS_OF_A_POD = 330
const ROUNDS = 7

/** A plan of a node with very many mounts: against the floor, one read of the table, and against fewer mounts. */
export async function planMountsRows(programs: Programs): Promise<Result[]> {
  await using many = await startScene(programs, 'many', 'plan', (layout) => manyMounts(layout, MANY))
  await using few = await startScene(programs, 'few', 'plan', (layout) => manyMounts(layout, FEW))
  const name = `\`plan\` with ${MANY} mounts`
  const scene = sceneOf(MANY)
  const node: Timed = { command: [process.execPath, '-e', '0'] }
  const plans = planned(many, programs.directory('many'))
  const fewer = planned(few, programs.directory('few'))
  const runs = await inRounds(
    {
      ...plans,
      cat: many.inside(['cat', '/proc/self/mountinfo']),
      floor: many.inside(floor('mounts', many.rootDir)),
      few: fewer.executable,
    },
    ROUNDS,
  )
  const megabytes = {
    executable: await peaks(plans.executable),
    bundle: await peaks(plans.bundle),
    node: await peaks(node),
  }
  return [
    {
      name,
      peer: '`cat /proc/self/mountinfo`',
      scene,
      demand: { atMost: 3 },
      measured: {
        executable: ratios(runs.executable, runs.cat),
        bundle: ratios(runs.bundle, runs.cat),
        floor: ratios(runs.floor, runs.cat),
      },
    },
    {
      name,
      peer: `with ${FEW}`,
      scene,
      demand: { atMost: 10 },
      measured: { executable: ratios(runs.executable, runs.few) },
    },
    {
      name: `${name}, peak memory`,
      peer: '`node -e 0`',
      scene,
      demand: { atMost: 5 },
      measured: {
        executable: ratiosOf(megabytes.executable, megabytes.node, 'MB'),
        bundle: ratiosOf(megabytes.bundle, megabytes.node, 'MB'),
      },
    },
  ]
}

async function peaks(command: Timed): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round < ROUNDS; round++) found.push(await peakMemory(command))
  return found
}

const livingPods = (mounts: number): number => Math.floor(mounts / MOUNTS_OF_A_POD)

function sceneOf(mounts: number): string {
  return `${mounts} tmpfs mounts, of ${livingPods(mounts)} living pods all but the ${GONE_PODS} of ${GONE_PODS} pods that are gone`
}

function manyMounts(layout: LayoutBuilder, mounts: number): SceneContent {
  const living = livingPods(mounts)
  for (let index = 0; index < GONE_PODS; index++)
    layout.tmpfs(podUid('gone', index), 'volumes/kubernetes.io~secret/token')
  for (let mount = 0; mount < mounts - GONE_PODS; mount++) {
    layout.tmpfs(
      podUid('living', mount % living),
      `volumes/kubernetes.io~empty-dir/memory-${Math.floor(mount / living)}`,
    )
  }
  const pods = Array.from({ length: living }, (_, index) => livingPod(index, { volumes: [] }))
  return { pods, layout }
}

/** The plan must have seen everything. */
function planned(scene: Scene, directory: string): Readonly<Record<Form, Timed>> {
  const stdout = join(directory, 'plan.json')
  const after = (): void => {
    const operations = plannedOperations(stdout)
    if (operations !== GONE_PODS) throw new Error(`${operations} operations were planned, not ${GONE_PODS}`)
  }
  const { executable, bundle } = scene.volctl(['plan', '-o', 'json'])
  return { executable: { ...executable, stdout, after }, bundle: { ...bundle, stdout, after } }
}
