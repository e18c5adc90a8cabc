/** A pod that was gone when the plan was shown has a container again when it is to be carried out (R804). */
import { handleOf, pod, volumeObjects } from '../../helpers/scene/api-objects.ts'
import { IDLE } from '../../helpers/scene/pods.ts'
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
  /** Then a pod came, with a claim and a volume of its own, for a disk that the plan detaches. */
  readonly claimed: Run
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

const LATE = { name: 'late', kind: 'filesystem' } as const

/** Pod, claim and volume that nothing had a name for before; the disk is the idle one's. */
async function claimIdle(scene: Scene): Promise<void> {
  const made = JSON.stringify(volumeObjects(LATE, '')).replaceAll(handleOf(LATE), handleOf(IDLE))
  const objects = (JSON.parse(made) as { kind: string }[]).filter(({ kind }) => kind !== 'VolumeAttachment')
  const uid = '11111111-2222-4333-8444-00000000000f'
  await scene.api.put(...objects, pod({ name: 'late', uid, volumes: [LATE], others: [] }, '/'))
}

async function claimed(): Promise<Run> {
  return await withScene(
    async (scene) => {
      await scene.breakIt()
      scene.driver.setFaults('late NodeUnpublishVolume=4000:once')
      let coming: Promise<void> | undefined
      const run = await runVolctl(scene, APPLY, (line) => {
        if (JSON.parse(line).step?.op === 'NodeUnpublishVolume') coming ??= claimIdle(scene)
      })
      await coming
      return run
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
  claimed: await claimed(),
}
writeReport(report)
