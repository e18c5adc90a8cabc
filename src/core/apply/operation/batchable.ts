import { cannotHang } from '../../mountinfo/file-systems.ts'
import type { Operation, StepOp } from '../../plan/plan.ts'

const BATCH_STEPS: ReadonlySet<StepOp> = new Set(['umount', 'unlink', 'rmdir'])

/** Only steps that nothing can hold up: single removals, and umounts of file systems that cannot hang. */
export function isBatchable({ pod, steps, expects }: Operation): boolean {
  return (
    pod !== undefined &&
    steps.every(({ op, detail }) => BATCH_STEPS.has(op) && detail === undefined) &&
    (expects ?? []).every(({ layers }) => layers.every(({ fsType }) => cannotHang(fsType)))
  )
}
