/** Puts a loop device on the pod's map file. That keeps the block device open, so that its number is not reused (P98-P100). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { placeOf } from '../../mountinfo/linked-mounts.ts'
import type { Step } from '../../plan/plan.ts'
import { command, firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { isReleased } from './loop-step.ts'

export async function holdOpen({ target }: Step, run: StepContext): Promise<readonly Undo[]> {
  if (loopOn(target, run) !== undefined) return []
  const result = await command(run, 'losetup', ['-f', target])
  const made = loopOn(target, run)
  if (made === undefined) {
    throw new StepFailed('CommandFailed', `losetup -f ${target} made no loop device: ${firstLineOf(result)}`, {
      hint: 'Check that the node has a free loop device (losetup -f), then plan again.',
    })
  }
  return [{ what: `${made} on ${target}`, back: () => release(made, target, run) }]
}

/** The loop device of this very file: for a deleted one the kernel shows the name with " (deleted)" behind it. */
function loopOn(file: string, { around, host }: StepContext): string | undefined {
  const place = placeOf(around.table, file)
  return host.loops().find(({ backingFile }) => backingFile === place)?.device
}

async function release(device: string, file: string, run: StepContext): Promise<void> {
  const { around, host, waiting } = run
  const place = placeOf(around.table, file)
  if (host.loopBackingFile(device) !== place) return
  const result = await waiting.spend((ms) => host.releaseLoop(device, ms))
  if (!(await isReleased(device, place, run))) throw new Error(firstLineOf(result))
}
