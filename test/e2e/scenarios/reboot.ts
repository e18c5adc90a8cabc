/** A node that was booted: no mount is left, every file is, and its kubelet does not start. */
import { detachLoops } from '../../helpers/csi-driver/start.ts'
import { unmountAllBelow } from '../../helpers/scene/mount-points.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { type PlanRun, planOf, withScene, writeReport } from './scenario.ts'

export interface RebootReport {
  readonly withBlockVolumes: boolean
  readonly mountPoints: readonly [readonly string[], readonly string[], readonly string[]]
  readonly hashes: readonly [object, object]
  readonly booted: PlanRun
  readonly apply: Run
  readonly after: PlanRun
  readonly driverCalls: readonly string[]
  readonly violations: readonly unknown[]
}

async function reboot(scene: Scene): Promise<RebootReport> {
  const { driver, rootDir } = scene
  const before = { mounts: scene.mountPoints(), hashes: scene.contentHashes() }
  const calls = driver.succeeded().length
  await driver.stop()
  unmountAllBelow(rootDir)
  if (driver.backend === 'loop') detachLoops(rootDir, driver.stateDir)
  await driver.restart()
  const empty = scene.mountPoints()
  const booted = await planOf(scene)
  const apply = await runVolctl(scene, ['apply', '--yes', '-o', 'json'])
  return {
    withBlockVolumes: driver.backend === 'loop',
    mountPoints: [before.mounts, empty, scene.mountPoints()],
    hashes: [before.hashes, scene.contentHashes()],
    booted,
    apply,
    after: await planOf(scene),
    driverCalls: driver.succeeded().slice(calls),
    violations: driver.violations(),
  }
}

writeReport(await withScene(reboot))
