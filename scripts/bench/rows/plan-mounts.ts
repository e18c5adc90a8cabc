import { join } from 'node:path'
import { livingPod } from '../api-objects.ts'
import { type LayoutBuilder, podUid } from '../layout.ts'
import { pairRatios, type Timed } from '../measure.ts'
import { plannedOperations } from '../planned.ts'
import type { Result, Row } from '../row.ts'
import { type Scene, type SceneContent, startScene } from '../scene.ts'

const MANY = 99_000
const FEW = 10_000
const GONE_PODS = 5
const MOUNTS_OF_A_POD = 330
const PAIRS = 9

/** A plan of a node with very many mounts: against the floor, one read of the table, and against fewer mounts. */
export async function planMountsRows(directory: (name: string) => string): Promise<Result[]> {
  await using many = await startScene(directory('many'), 'plan', (layout) => manyMounts(layout, MANY))
  await using few = await startScene(directory('few'), 'plan', (layout) => manyMounts(layout, FEW))
  const row: Omit<Row, 'name' | 'peer' | 'demand'> = {
    scene: sceneOf(MANY),
    credential: 'a token with the rights of volctl-plan, which may list',
    output: 'plan -o json to a file; cat to /dev/null',
    cache: "directories and files in the page cache, the package's code cache",
  }
  const plan = planned(many, join(directory('many'), 'plan.json'))
  const cat = many.inside(['cat', '/proc/self/mountinfo'])
  const fewer = planned(few, join(directory('few'), 'plan.json'))
  return [
    {
      ...row,
      name: `plan with ${MANY} mounts`,
      peer: '`cat /proc/self/mountinfo` there',
      demand: { atMost: 3.8 },
      measured: await pairRatios(plan, cat, PAIRS),
    },
    {
      ...row,
      name: `plan with ${MANY} mounts, growth`,
      peer: `the plan of a node like it with ${FEW} mounts`,
      demand: { atMost: 13 },
      measured: await pairRatios(plan, fewer, PAIRS),
    },
  ]
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
function planned(scene: Scene, stdout: string): Timed {
  const after = (): void => {
    const operations = plannedOperations(stdout)
    if (operations !== GONE_PODS) throw new Error(`${operations} operations were planned, not ${GONE_PODS}`)
  }
  return { ...scene.volctl(['plan', '-o', 'json']), stdout, after }
}
