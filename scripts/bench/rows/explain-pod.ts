import { podUid } from '../layout.ts'
import { pairRatios } from '../measure.ts'
import type { Result, Row } from '../row.ts'
import { startScene } from '../scene.ts'
import { healthyNode, PODS } from './plan-pods.ts'

const PAIRS = 15

/** One pod of a full, healthy node, against the plan of all. */
export async function explainPodRows(directory: (name: string) => string): Promise<Result[]> {
  const row: Row = {
    name: `explain of one pod among ${PODS}, with who holds its volumes`,
    peer: '`volctl plan` of the same node',
    scene: `the ${PODS} living pods of the plan's own row`,
    credential: 'a client certificate of an administrator, for both',
    output: 'both tables to /dev/null',
    cache: "directories and files in the page cache, the package's code cache",
    demand: { atMost: 2 },
  }
  await using scene = await startScene(directory('explain'), 'admin', healthyNode)
  const explain = scene.volctl(['explain', podUid('living', 17)])
  return [{ ...row, measured: await pairRatios(explain, scene.volctl(['plan']), PAIRS) }]
}
