/** A node that is healthy, broken, repaired. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Layout } from '../../helpers/scene/layouts.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { APPLY, type PlanRun, planOf, scenarioArguments, withScene, writeReport } from './scenario.ts'

/** The same plan, of the live node and of a snapshot taken at once. */
export interface Look {
  readonly live: PlanRun
  readonly offline: PlanRun
  /** The tables for people, of both. */
  readonly tables: readonly [string, string]
  /** What the API server was asked meanwhile. */
  readonly requests: readonly string[]
  readonly snapshotMode: string
}

export interface RepairReport {
  readonly withBlockVolumes: boolean
  readonly livingPod: string
  readonly goneDirectories: readonly string[]
  readonly healthy: Look
  readonly broken: Look
  /** Before and after looking. */
  readonly lookedAt: readonly [Fingerprint, Fingerprint]
  readonly apply: Run
  readonly after: PlanRun
  readonly end: Fingerprint
  readonly again: Run
  readonly violations: readonly unknown[]
  readonly driverCalls: readonly string[]
}

async function repair(scene: Scene): Promise<RepairReport> {
  const healthy = await look(scene)
  await scene.breakIt()
  const before = await fingerprint(scene)
  const broken = await look(scene, '--orphans')
  const lookedAt = [before, await fingerprint(scene)] as const
  const apply = await runVolctl(scene, APPLY)
  const after = await planOf(scene, '--orphans')
  const end = await fingerprint(scene)
  const { pods, driver } = scene
  return {
    withBlockVolumes: driver.backend === 'loop',
    livingPod: pods.web.uid,
    goneDirectories: [pods.db, pods.batch].map(({ uid }) => `pods/${uid}/`),
    healthy,
    broken,
    lookedAt,
    apply,
    after,
    end,
    again: await runVolctl(scene, ['apply', '--orphans', '--yes']),
    violations: driver.violations(),
    driverCalls: driver.succeeded(),
  }
}

async function look(scene: Scene, ...flags: string[]): Promise<Look> {
  await scene.api.clearRequests()
  const live = await planOf(scene, ...flags)
  const file = join(scene.directory, 'node.json.gz')
  const { status, stderr } = await runVolctl(scene, ['snapshot', '-o', file])
  if (status !== 0) throw new Error(stderr)
  const requests = (await scene.api.requests()).map(({ method, path }) => `${method} ${path}`)
  // Without the scene's environment: nothing but the snapshot is left to be read.
  const anywhere = { env: {} }
  const tables = await Promise.all([
    runVolctl(scene, ['plan', ...flags]),
    runVolctl(anywhere, ['plan', '--snapshot', file, ...flags]),
  ])
  return {
    live,
    offline: await planOf(anywhere, '--snapshot', file, ...flags),
    tables: [tables[0].stdout, tables[1].stdout],
    requests,
    snapshotMode: (statSync(file).mode & 0o777).toString(8),
  }
}

const [layout] = scenarioArguments as readonly Layout[]
writeReport(await withScene(repair, layout === undefined ? {} : { layout }))
