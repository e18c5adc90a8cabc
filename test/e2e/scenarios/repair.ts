/** A healthy node, broken, planned live and from a snapshot, repaired, planned again. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Plan } from '../../../src/core/plan/plan.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { APPLY, type PlanRun, planOf, withScene, writeReport } from './scenario.ts'

export interface RepairReport {
  readonly healthy: PlanRun
  readonly broken: Plan
  /** The plan from a snapshot of the broken node. */
  readonly offline: Plan
  readonly snapshotMode: string
  readonly apply: Run
  readonly after: PlanRun
  readonly contentsBefore: Readonly<Record<string, string>>
  readonly end: Fingerprint
  readonly violations: readonly unknown[]
  readonly driverCalls: readonly string[]
  readonly livingPod: string
  /** Of the pod that lives. */
  readonly mountsBefore: readonly string[]
}

async function repair(scene: Scene): Promise<RepairReport> {
  const healthy = await planOf(scene)
  const living = scene.pods.web.uid
  const mountsBefore = (await fingerprint(scene)).mounts.filter((path) => path.includes(living))
  await scene.breakIt()
  const contentsBefore = scene.contentHashes()
  const broken = (await planOf(scene, '--orphans')).plan
  const file = join(scene.directory, 'node.json.gz')
  await runVolctl(scene, ['snapshot', '-o', file])
  const offline = await runVolctl({ env: {} }, ['plan', '--orphans', '--snapshot', file, '-o', 'json'])
  const apply = await runVolctl(scene, APPLY)
  return {
    healthy,
    broken,
    offline: JSON.parse(offline.stdout) as Plan,
    snapshotMode: statSync(file).mode.toString(8).slice(-4),
    apply,
    after: await planOf(scene, '--orphans'),
    contentsBefore,
    end: await fingerprint(scene),
    violations: scene.driver.violations(),
    driverCalls: scene.driver.succeeded(),
    livingPod: living,
    mountsBefore,
  }
}

writeReport(await withScene(repair))
