import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { livingPod } from '../api-objects.ts'
import { type LayoutBuilder, podUid } from '../layout.ts'
import { inRounds, ratios } from '../measure.ts'
import { floor, isThere, type Programs } from '../programs.ts'
import type { Result, Row } from '../row.ts'
import { type Scene, type SceneContent, startScene } from '../scene.ts'
import { makeTreeReader } from '../tree-reader.ts'

const PODS = 500
const VOLUMES = 12
/** Of a pod's volumes, those that are mounts. */
const MOUNTED = 2
const ROUNDS = 15

/** What a plan does to the kubelet's directories: how long that takes alone, and that it asks nothing of a mount. */
export async function kubeletTreeRows(programs: Programs): Promise<Result[]> {
  await using scene = await startScene(programs, 'tree', 'plan', fullTree)
  const reader = await makeTreeReader(programs.directory('tree-reader'), scene)
  const runs = await inRounds(
    {
      reader: scene.inside(reader),
      floor: scene.inside(floor('tree', scene.rootDir)),
      find: scene.inside(['find', join(scene.rootDir, 'pods'), '-maxdepth', '4']),
    },
    ROUNDS,
  )
  const row: Omit<Row, 'name' | 'peer' | 'demand'> = {
    scene: `${PODS} pods with ${VOLUMES} emptyDirs each, ${MOUNTED} of them mounts`,
  }
  return [
    {
      ...row,
      name: `the tree of ${PODS} pods × ${VOLUMES} volumes, read by plan's own code in its own process`,
      peer: '`find -maxdepth 4`',
      demand: { atMost: 2.5 },
      measured: { executable: ratios(runs.reader, runs.find), floor: ratios(runs.floor, runs.find) },
    },
    looksAtMounts(row, scene, join(programs.directory('tree'), 'strace.txt')),
  ]
}

/** Calls that ask a file system for attributes. Reading its own mounts' names would be an openat. */
const LOOKS = /\b(?:stat|lstat|newfstatat|statx|statfs|access|faccessat2?)\((?:[A-Z_]+, )?"([^"]+)"/

function looksAtMounts(row: Pick<Row, 'scene'>, scene: Scene, trace: string): Result {
  const counted: Row = {
    ...row,
    name: 'stat of a mount point, in a whole `plan` there',
    peer: 'strace',
    demand: { none: true },
  }
  if (!isThere('strace')) return { ...counted, notRun: 'strace is not installed' }
  const { command, env } = scene.volctl(['plan']).executable
  const [program = '', ...args] = ['strace', '-f', '-e', 'trace=%file', '-o', trace, ...command]
  const { status, stderr } = spawnSync(program, args, { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command.join(' ')} under strace: ${stderr}`)
  const mounts = new Set(scene.mountPoints)
  const looked = readFileSync(trace, 'utf8').matchAll(new RegExp(LOOKS, 'g'))
  return { ...counted, counted: [...looked].filter(([, path = '']) => mounts.has(path)).length }
}

function fullTree(layout: LayoutBuilder): SceneContent {
  const indices = Array.from({ length: PODS }, (_, index) => index)
  const names = Array.from({ length: VOLUMES }, (_, index) => `volume-${index}`)
  const pods = indices.map((index) => {
    const uid = podUid('living', index)
    const volumes = names.map((name, number) => {
      const inMemory = number < MOUNTED
      if (inMemory) layout.tmpfs(uid, `volumes/kubernetes.io~empty-dir/${name}`)
      else layout.directory(uid, `volumes/kubernetes.io~empty-dir/${name}`)
      layout.readyMarker(uid, name)
      return { name, emptyDir: inMemory ? { medium: 'Memory' } : {} }
    })
    return livingPod(index, { volumes })
  })
  return { pods, layout }
}
