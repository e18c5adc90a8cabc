/** For every boundary between operations a new scene: `apply` is killed there, run again to its end, and looked at. */
import type { ApplyEvent } from '../../../src/core/apply/events.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { APPLY, planOf, withScene, writeReport } from './scenario.ts'

export interface KillRun {
  /** The event at which it was killed. */
  readonly event: string
  readonly killed: boolean
  readonly second: number | undefined
  readonly after: number | undefined
  readonly contentsBefore: Readonly<Record<string, string>>
  readonly end: Fingerprint
}

async function killAt(scene: Scene, boundary: number): Promise<KillRun> {
  await scene.breakIt()
  const contentsBefore = scene.contentHashes()
  let seen = 0
  let event = 'none'
  const first = await runVolctl(scene, APPLY, (line, child) => {
    const { type, kind } = JSON.parse(line) as ApplyEvent
    if (type !== 'start' && type !== 'done') return
    if (++seen !== boundary) return
    event = `${type} ${kind}`
    child.kill('SIGKILL')
  })
  const second = await runVolctl(scene, APPLY)
  const after = await planOf(scene, '--orphans')
  return {
    event,
    killed: first.status === undefined,
    second: second.status,
    after: after.status,
    contentsBefore,
    end: await fingerprint(scene),
  }
}

const runs: KillRun[] = []
do runs.push(await withScene((scene) => killAt(scene, runs.length + 1), { small: true }))
while (runs.at(-1)?.event !== 'none')
writeReport(runs)
