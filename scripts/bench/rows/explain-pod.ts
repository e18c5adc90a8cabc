import { podUid } from '../layout.ts'
import { inRounds, ratios } from '../measure.ts'
import type { Programs } from '../programs.ts'
import type { Result } from '../row.ts'
import { startScene } from '../scene.ts'
import { healthyNode, PODS } from './plan-pods.ts'

const ROUNDS = 11

/** One pod of a full, healthy node, against the plan of all. */
export async function explainPodRows(programs: Programs): Promise<Result[]> {
  await using scene = await startScene(programs, 'explain', 'admin', healthyNode)
  const explain = scene.volctl(['explain', podUid('living', 17)])
  const plan = scene.volctl(['plan'])
  const runs = await inRounds({ ...explain, plan: plan.executable, planOfBundle: plan.bundle }, ROUNDS)
  return [
    {
      name: '`explain` of one pod, with who holds its volumes',
      peer: '`plan` of the same node',
      scene: `the ${PODS} living pods of the plan's own row`,
      demand: { atMost: 1.3 },
      measured: { executable: ratios(runs.executable, runs.plan), bundle: ratios(runs.bundle, runs.planOfBundle) },
    },
  ]
}
