/** A loop device on the pod's map file: it keeps the device open, so that none can take its place unseen (P98-P100). */
import type { Step } from '../../plan/plan.ts'
import type { Host } from '../host.ts'
import { isReleased } from '../loop-step.ts'
import { StepFailed } from '../operation-error.ts'
import { command, wordsOf } from '../step-command.ts'
import type { StepContext } from '../step-context.ts'
import type { Undo } from './undo.ts'

export async function holdOpen({ target }: Step, run: StepContext): Promise<readonly Undo[]> {
  const { host } = run
  if (loopOn(target, host) !== undefined) return []
  const result = await command(run, 'losetup', ['-f', target])
  const made = loopOn(target, host)
  if (made === undefined) {
    throw new StepFailed('CommandFailed', `losetup -f ${target} made no loop device: ${wordsOf(result)}`, {
      hint: 'See whether the node has free loop devices (losetup -f), then plan again.',
    })
  }
  return [{ what: `${made} on ${target}`, back: () => release(made, target, run) }]
}

/** The kernel says " (deleted)" of a file that is not the one that bears the name now. */
function loopOn(file: string, host: Host): string | undefined {
  return host.loops().find(({ backingFile }) => backingFile === file)?.device
}

async function release(device: string, file: string, run: StepContext): Promise<void> {
  const { host, waiting } = run
  if (host.loopBackingFile(device) !== file) return
  const result = await waiting.spend((ms) => host.releaseLoop(device, ms))
  if (!(await isReleased(device, file, run))) throw new Error(wordsOf(result))
}
