import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { livingPod, nodeObjects } from '../api-objects.ts'
import { type LayoutBuilder, podUid } from '../layout.ts'
import { pairRatios, type Timed } from '../measure.ts'
import type { Result } from '../row.ts'
import { type Scene, type SceneContent, startScene } from '../scene.ts'

const MOUNTS = 10_000
const GONE_PODS = 250
const PAIRS = 5

/** Unmounting very many mounts of orphaned pods: one whole apply, against what a person would type. */
export async function unmountRows(directory: (name: string) => string): Promise<Result[]> {
  await using scene = await startScene(directory('unmount'), 'apply', goneMounts)
  const list = join(directory('unmount'), 'mounts.txt')
  writeFileSync(list, scene.mountPoints.map((path) => `${path}\n`).join(''))
  const shell = scene.inside(['sh', '-c', 'while read -r path; do umount "$path"; done <"$0"', list])
  const measured = await pairRatios(prepared(scene, scene.volctl(['apply', '--yes'])), prepared(scene, shell), PAIRS)
  return [
    {
      name: `${MOUNTS} mounts of pods that are gone, unmounted and verified`,
      peer: 'a shell loop of `umount`',
      scene: `${MOUNTS} tmpfs mounts, secrets of ${GONE_PODS} pods that are gone, and one pod that lives; no driver`,
      credential: 'a token with the rights of volctl-plan and volctl-apply',
      output: '/dev/null',
      cache: "directories and files in the page cache, the package's code cache",
      demand: { atLeast: 7 },
      measured,
    },
  ]
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
