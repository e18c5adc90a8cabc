import { cannotHang } from '../../mountinfo/file-systems.ts'
import type { Operation, StepOp } from '../../plan/plan.ts'

const BATCH_STEPS: ReadonlySet<StepOp> = new Set(['umount', 'unlink', 'rmdir'])

/**
 * True if the operation may share a batch: it has only steps that cannot hang, removals of single names and umounts of local
 * file systems.
 */
export function isBatchable({ pod, steps, expects }: Operation): boolean {
  return (
    pod !== undefined &&
    steps.every(({ op, detail }) => BATCH_STEPS.has(op) && detail === undefined) &&
    (expects ?? []).every(({ layers }) => layers.every(({ fsType }) => cannotHang(fsType)))
  )
}
