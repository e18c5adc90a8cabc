import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { livingPod, nodeObjects } from '../api-objects.ts'
import { type LayoutBuilder, podUid } from '../layout.ts'
import { inRounds, ratios, type Timed } from '../measure.ts'
import { floor, type Programs } from '../programs.ts'
import type { Result } from '../row.ts'
import { type Scene, type SceneContent, startScene } from '../scene.ts'

const MOUNTS = 10_000
const GONE_PODS = 250
const ROUNDS = 7

/** Unmounting very many mounts of orphaned pods: one whole apply, against what a person would type, and the limit. */
export async function unmountRows(programs: Programs): Promise<Result[]> {
  await using scene = await startScene(programs, 'unmount', 'apply', goneMounts)
  const list = join(programs.directory('unmount'), 'mounts.txt')
  writeFileSync(list, scene.mountPoints.map((path) => `${path}\n`).join(''))
  const { executable, bundle } = scene.volctl(['apply', '--yes'])
  const runs = await inRounds(
    {
      executable: prepared(scene, executable),
      bundle: prepared(scene, bundle),
      floor: prepared(scene, scene.inside(floor('unmount', scene.rootDir, list))),
      xargs: prepared(scene, scene.inside(['xargs', '-a', list, 'umount'])),
    },
    ROUNDS,
  )
  const measured = {
    executable: ratios(runs.executable, runs.xargs),
    bundle: ratios(runs.bundle, runs.xargs),
    floor: ratios(runs.floor, runs.xargs),
  }
  const row = {
    name: `\`apply\` of ${MOUNTS} leaked mounts, verified`,
    scene: `${MOUNTS} tmpfs mounts, secrets of ${GONE_PODS} pods that are gone, and one pod that lives; no driver`,
  }
  return [{ ...row, peer: '`xargs umount`', demand: { atMost: 2.5 }, measured }]
}

function goneMounts(layout: LayoutBuilder): SceneContent {
  for (let mount = 0; mount < MOUNTS; mount++) {
    const name = `secret-${Math.floor(mount / GONE_PODS)}`
    layout.tmpfs(podUid('gone', mount % GONE_PODS), `volumes/kubernetes.io~secret/${name}`)
  }
  const living = livingPod(0, { volumes: [] })
  layout.directory(podUid('living', 0), 'volumes')
  return { pods: [living], layout }
}

/** The same mounts before each run, and none of them after it. */
function prepared(scene: Scene, timed: Timed): Timed {
  return {
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
  }
}
