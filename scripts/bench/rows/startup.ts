import { join } from 'node:path'
import { pairRatios, type Timed } from '../measure.ts'
import type { Result, Row } from '../row.ts'
import { VOLCTL } from '../scene.ts'

const PAIRS = 25

/** What every command costs before it does anything. */
export async function startupRows(): Promise<Result[]> {
  const row: Omit<Row, 'name'> = {
    peer: '`node -e 0`, the same node',
    scene: 'none: the version is printed',
    credential: 'none',
    output: '/dev/null',
    cache: "files in the page cache, the package's code cache",
    demand: { atMost: 3 },
  }
  const node: Timed = { command: [process.execPath, '-e', '0'] }
  const launcher: Timed = { command: [process.execPath, join(VOLCTL, '..', '..', 'dist', 'launch.cjs'), '--version'] }
  return [
    { ...row, name: 'a trivial command from the bundle', measured: await pairRatios(launcher, node, PAIRS) },
    {
      ...row,
      name: 'the same as users run it, bin/volctl --version',
      measured: await pairRatios({ command: [VOLCTL, '--version'] }, node, PAIRS),
    },
  ]
}
