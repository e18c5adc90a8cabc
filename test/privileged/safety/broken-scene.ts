/** A node that is whole but for its kubelet (helpers/scene), broken, then spoilt in one way, and what the built volctl does there. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { endsOf } from '../../e2e/scenarios/outcomes.ts'
import { makeScene, type Scene } from '../../helpers/scene/scene.ts'
import { answerOf, runVolctl } from '../../helpers/scene/volctl.ts'

/** Runs on a broken node with the pods of the small cast: web lives, db and batch are gone. */
export async function onBroken<T>(directory: string, use: (scene: Scene) => Promise<T>): Promise<T> {
  const scene = await makeScene({ directory: `${directory}/scene`, small: true })
  try {
    await scene.breakIt()
    scene.api.clearRequests()
    return await use(scene)
  } finally {
    await scene.dispose()
  }
}

export async function planOf(scene: Pick<Scene, 'env'>, ...flags: string[]): Promise<Plan> {
  return answerOf<Plan>(await runVolctl(scene, ['plan', '--orphans', '-o', 'json', ...flags]))
}

export interface Applied {
  readonly status: number | undefined
  readonly stderr: string
  /** How each operation ended, sorted: `UnmountVolume pv-db: done`, `DetachVolume pv-old: refused HeldBy`. */
  readonly ends: readonly string[]
}

export async function applyTo(scene: Scene, ...flags: string[]): Promise<Applied> {
  const run = await runVolctl(scene, ['apply', '--orphans', '--yes', '-o', 'ndjson', ...flags])
  return { status: run.status, stderr: run.stderr, ends: endsOf(run) }
}

/** `CODE pv-name` of every blocked operation, sorted. */
export function blockedOf({ operations }: Plan): string[] {
  return operations
    .flatMap(({ blocked, kind, volume }) => (blocked === undefined ? [] : [`${kind} ${volume?.name}: ${blocked.code}`]))
    .toSorted()
}

/** The staging directory of the volume that nobody remembers. */
export function stagingOf({ rootDir, driver }: Scene, handle: string): string {
  const parent = `${rootDir}/plugins/kubernetes.io/csi/${driver.name}`
  const found = readdirSync(parent).find((name) =>
    readFileSync(`${parent}/${name}/vol_data.json`, 'utf8').includes(handle),
  )
  if (found === undefined) throw new Error(`${handle} is not staged`)
  return `${parent}/${found}/globalmount`
}
