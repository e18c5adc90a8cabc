/** The clocks of this host and of the API server disagree, and one of them jumps while an apply is at work. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { node, pod } from '../../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../../helpers/scene/pods.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { endsOf } from './outcomes.ts'
import { APPLY, planOf, withScene, writeReport } from './scenario.ts'

export interface ClockReport {
  /** Ids of what would be done; of a cluster whose clock is right, and an hour off in each direction. */
  readonly right: readonly string[]
  readonly behind: readonly string[]
  readonly ahead: readonly string[]
  /** The API's times are an hour old, and its clock is right. */
  readonly restored: Run
  /** A kubelet runs: kinds of what is done, and codes of what is waited for. */
  readonly settled: Settled
  readonly setForward: Settled
  readonly setBack: Settled
  readonly jump: { readonly status: number | undefined; readonly ends: readonly string[]; readonly left: number }
}

export interface Settled {
  readonly operations: number
  readonly waiting: readonly string[]
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Every time in it, so many milliseconds later. */
function shifted(object: object, ms: number): object {
  const time = /"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"/g
  const later = (text: string): string => new Date(Date.parse(text) + ms).toISOString().replace(/\.\d+/, '')
  return JSON.parse(JSON.stringify(object).replaceAll(time, (_, text: string) => `"${later(text)}"`)) as object
}

/** What the cluster says about this node, by a clock that is off. */
async function clusterSays(scene: Scene, timesMs: number, dateMs: number): Promise<void> {
  const { pods, sources, api } = scene
  const volumes = Object.values(pods).flatMap((each) => each.volumes)
  const objects = [node([...volumes, FORGOTTEN, IDLE]), pod(pods.web, sources.hostPath)]
  await api.put(...objects.map((object) => shifted(object, timesMs)))
  await api.set({ clockSkewMs: dateMs })
}

const idsOf = async (scene: Scene): Promise<string[]> =>
  (await planOf(scene, '--orphans')).plan.operations.flatMap(({ id, blocked }) => (blocked ? [] : [id]))

async function settledOf(scene: Scene, dateMs: number): Promise<Settled> {
  await clusterSays(scene, dateMs, dateMs)
  const { operations, waiting } = (await planOf(scene, '--orphans')).plan
  return {
    operations: operations.filter(({ blocked }) => blocked === undefined).length,
    waiting: [...new Set(waiting.map(({ code }) => code))].toSorted(),
  }
}

function kubelet({ hostFile }: Scene, running: boolean): void {
  const host = JSON.parse(readFileSync(hostFile, 'utf8'))
  writeFileSync(hostFile, JSON.stringify({ ...host, kubelet: { running, mayReturn: running } }))
}

/** Directories and files of the pods that are gone, as if nothing had changed for ten minutes. */
function age({ rootDir, pods }: Scene): void {
  const directories = [pods.db, pods.batch].map(({ uid }) => join(rootDir, 'pods', uid))
  execFileSync('find', [...directories, '-xdev', '-exec', 'touch', '-h', '-d', '10 minutes ago', '{}', '+'])
}

async function useClocks(scene: Scene): Promise<ClockReport> {
  await scene.breakIt()
  await clusterSays(scene, 0, 0)
  const right = await idsOf(scene)
  await clusterSays(scene, -HOUR, -HOUR)
  const behind = await idsOf(scene)
  await clusterSays(scene, HOUR, HOUR)
  const ahead = await idsOf(scene)
  await clusterSays(scene, -HOUR, 0)
  const restored = await runVolctl(scene, ['plan'])

  age(scene)
  kubelet(scene, true)
  const settled = await settledOf(scene, 0)
  const setForward = await settledOf(scene, -DAY)
  const setBack = await settledOf(scene, DAY)
  kubelet(scene, false)

  await clusterSays(scene, 0, 0)
  let jumped = false
  const apply = await runVolctl(scene, APPLY, () => {
    if (!jumped) void clusterSays(scene, -HOUR, -HOUR)
    jumped = true
  })
  const jump = { status: apply.status, ends: endsOf(apply), left: (await idsOf(scene)).length }
  return { right, behind, ahead, restored, settled, setForward, setBack, jump }
}

writeReport(await withScene(useClocks, { small: true }))
