/** The kubelet starts again while an apply waits for the API server's answer on which it would act (S11). */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { fingerprint } from './fingerprint.ts'
import { endsOf } from './outcomes.ts'
import { withScene, writeReport } from './scenario.ts'

export interface KubeletReturnsReport {
  readonly status: number | undefined
  readonly ends: readonly string[]
  /** Neither a file, a mount nor an attachment. */
  readonly unchanged: boolean
}

function startKubelet({ hostFile }: Scene): void {
  const host = JSON.parse(readFileSync(hostFile, 'utf8')) as object
  const kubelet = { running: true, mayReturn: true, note: 'kubelet.service active' }
  writeFileSync(hostFile, JSON.stringify({ ...host, kubelet }))
}

async function whenHeld({ api }: Scene): Promise<void> {
  while ((await api.held()) === 0) await new Promise((resolve) => setTimeout(resolve, 10))
}

const report: KubeletReturnsReport = await withScene(
  async (scene) => {
    await scene.breakIt()
    const before = JSON.stringify(await fingerprint(scene))
    // Asked twice for the plan: there are directories of pods that are not listed.
    await scene.api.setFaults({ path: '/pods?', skip: 2, action: { type: 'hold' } })
    const applying = runVolctl(scene, ['apply', '--orphans', '--yes', '-o', 'ndjson'])
    await whenHeld(scene)
    startKubelet(scene)
    await scene.api.setFaults()
    const run = await applying
    const unchanged = JSON.stringify(await fingerprint(scene)) === before
    return { status: run.status, ends: endsOf(run), unchanged }
  },
  { small: true },
)
writeReport(report)
