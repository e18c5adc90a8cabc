/** A kubeconfig that does not verify the API server: what a plan says of it, and what an apply wants. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { fingerprint } from './fingerprint.ts'
import { type PlanRun, planOf, withScene, writeReport } from './scenario.ts'

export interface InsecureApiReport {
  readonly plan: Run
  readonly json: PlanRun
  readonly refused: Run
  /** By a plan that was saved without the flag. */
  readonly savedRefused: Run
  readonly unchanged: boolean
  /** By a plan that was saved with it. */
  readonly accepted: Run
  readonly journal: Run
  readonly after: PlanRun
}

function insecure(scene: Scene): string {
  const config = JSON.parse(readFileSync(scene.api.kubeconfig('admin'), 'utf8'))
  const { server } = config.clusters[0].cluster
  config.clusters[0].cluster = { server, 'insecure-skip-tls-verify': true }
  const path = join(scene.directory, 'insecure.kubeconfig')
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

const report = await withScene(
  async (scene): Promise<InsecureApiReport> => {
    await scene.breakIt()
    const kubeconfig = ['--kubeconfig', insecure(scene)]
    const before = JSON.stringify(await fingerprint(scene))
    const [without, accepting] = [join(scene.directory, 'without.plan'), join(scene.directory, 'accepting.plan')]
    const plan = await runVolctl(scene, ['plan', '--orphans', ...kubeconfig, '--out', without])
    const json = await planOf(scene, ...kubeconfig)
    const refused = await runVolctl(scene, ['apply', '--orphans', '--yes', ...kubeconfig])
    const savedRefused = await runVolctl(scene, ['apply', without, ...kubeconfig])
    const unchanged = JSON.stringify(await fingerprint(scene)) === before
    await runVolctl(scene, ['plan', '--orphans', '--accept-insecure-api', ...kubeconfig, '--out', accepting])
    const accepted = await runVolctl(scene, ['apply', accepting, ...kubeconfig])
    const journal = await runVolctl(scene, ['journal', '-o', 'json', '--journal', join(scene.directory, 'journal')])
    const after = await planOf(scene, '--orphans', '--accept-insecure-api', ...kubeconfig)
    return { plan, json, refused, savedRefused, unchanged, accepted, journal, after }
  },
  { small: true },
)

writeReport(report)
