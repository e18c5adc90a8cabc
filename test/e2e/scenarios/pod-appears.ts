/** A pod that was gone when the plan was shown has a container again when it is to be carried out (R804). */
import { type Scene, sandbox } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { onTerminal } from './on-terminal.ts'
import { APPLY, type PlanRun, planOf, withScene, writeReport } from './scenario.ts'

export interface Appeared {
  /** The pod's UID. */
  readonly pod: string
  readonly apply: Run
  readonly before: Fingerprint
  readonly end: Fingerprint
  /** Made while the container runs. */
  readonly after: PlanRun
}

export interface PodAppearsReport {
  /** While the person was being asked. */
  readonly atThePrompt: Appeared
  /** While a driver worked on the volume of another pod. */
  readonly meanwhile: Appeared
}

async function appears(when: (scene: Scene, appear: () => void) => Promise<Run>): Promise<Appeared> {
  return await withScene(
    async (scene) => {
      await scene.breakIt()
      const { web, batch } = scene.pods
      const before = await fingerprint(scene)
      const apply = await when(scene, () => scene.cri.set({ pods: [web, batch].map(sandbox) }))
      const end = await fingerprint(scene)
      return { pod: batch.uid, apply, before, end, after: await planOf(scene, '--orphans') }
    },
    { small: true },
  )
}

const report: PodAppearsReport = {
  atThePrompt: await appears((scene, appear) =>
    onTerminal(scene, () => {
      appear()
      return 'yes\n'
    }),
  ),
  meanwhile: await appears(async (scene, appear) => {
    scene.driver.setFaults('late NodeUnpublishVolume=1500:once')
    return await runVolctl(scene, APPLY, (line) => {
      if (JSON.parse(line).step?.op === 'NodeUnpublishVolume') appear()
    })
  }),
}
writeReport(report)
