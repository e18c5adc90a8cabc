import { inRounds, ratios } from '../measure.ts'
import type { Programs } from '../programs.ts'
import type { Result } from '../row.ts'

const ROUNDS = 25

/** What every command costs before it does anything. */
export async function startupRows({ executable, bundle }: Programs): Promise<Result[]> {
  const runs = await inRounds(
    {
      executable: { command: [executable, '--version'] },
      bundle: { command: [bundle, '--version'] },
      node: { command: [process.execPath, '-e', '0'] },
    },
    ROUNDS,
  )
  return [
    {
      name: '`volctl --version`',
      peer: '`node -e 0`',
      scene: 'none: the version is printed',
      demand: { atMost: 1.8 },
      measured: { executable: ratios(runs.executable, runs.node), bundle: ratios(runs.bundle, runs.node) },
    },
  ]
}
