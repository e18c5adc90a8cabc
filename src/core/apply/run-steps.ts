/** The steps of one operation, in their order. */

import type { Undo } from '../base/undo.ts'
import type { Deleted } from '../linux/delete-content.ts'
import type { Step } from '../plan/plan.ts'
import type { StepContext } from './operation/step-context.ts'
import { takeBack } from './operation/take-back.ts'
import { carryOut } from './step-table.ts'

export interface StepsDone {
  readonly deleted: Deleted
  /** What another component (the controller, the attacher) still has to do. */
  readonly waiting: string | undefined
  /** What was deliberately left unchanged, and why. */
  readonly stays: readonly string[]
}

/** If a step that sets up a volume fails, what earlier steps made is undone. */
export async function runSteps(
  steps: readonly Step[],
  run: StepContext,
  onStep: (step: Step) => void = () => {},
): Promise<StepsDone> {
  let deleted: Deleted = { files: 0, bytes: 0 }
  let waiting: string | undefined
  const left = new Set<string>()
  const made: Undo[] = []
  try {
    for (const step of steps) {
      onStep(step)
      const result = await carryOut(step, run)
      if (result.takesOver) made.length = 0
      made.push(...(result.undos ?? []))
      deleted = sumOf(deleted, result.deleted)
      waiting = result.waiting ?? waiting
      if (result.stays !== undefined) left.add(result.stays)
    }
  } catch (error) {
    throw await takeBack(made, error, run)
  }
  return { deleted, waiting, stays: [...left] }
}

function sumOf(one: Deleted, other: Deleted | undefined): Deleted {
  return other === undefined ? one : { files: one.files + other.files, bytes: one.bytes + other.bytes }
}
