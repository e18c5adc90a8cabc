/** What the scenario programs share. Each runs in a mount namespace of its own and writes what it saw as JSON. */
import { writeFileSync } from 'node:fs'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { makeScene, type Scene, type SceneOptions } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'

export const APPLY = ['apply', '--orphans', '--yes', '--parallel', '1', '-o', 'ndjson'] as const

export interface PlanRun {
  readonly status: number | undefined
  /** As it was printed. */
  readonly text: string
  readonly plan: Plan
}

/** `plan` as JSON, with the exit status that tells. */
export async function planOf(scene: Pick<Scene, 'env'>, ...flags: string[]): Promise<PlanRun> {
  const args = ['plan', '--detailed-exitcode', '-o', 'json', ...flags]
  const { status, stdout, stderr }: Run = await runVolctl(scene, args)
  if (stdout === '') throw new Error(`volctl plan: ${stderr}`)
  return { status, text: stdout, plan: JSON.parse(stdout) as Plan }
}

export async function withScene<T>(use: (scene: Scene) => Promise<T>, options: SceneOptions = {}): Promise<T> {
  const scene = await makeScene(options)
  try {
    return await use(scene)
  } finally {
    await scene.dispose()
  }
}

/** The file to write to is the first argument. */
export function writeReport(report: unknown): void {
  writeFileSync(process.argv[2] ?? '/dev/stdout', JSON.stringify(report))
}

/** What a program was given besides. */
export const scenarioArguments: readonly string[] = process.argv.slice(3)
