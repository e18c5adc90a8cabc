/** Checks the type of a hostPath, and makes the directory or file that the type asks for (P58). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import type { Step } from '../../plan/plan.ts'
import { judgeHostPath } from '../../plugins/host-path-type.ts'
import { lookAtPath } from '../operation/look-at-path.ts'
import { command, firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * Looks again, and makes what is missing. The path is the host's own, and its file system may hang, so child processes do
 * both. Links on the way are followed, as the kubelet does (/var/run is one).
 */
export async function checkPath({ target, detail = '' }: Step, run: StepContext): Promise<readonly Undo[]> {
  const found = await lookAtPath(target, run)
  const verdict = judgeHostPath(target, detail, { path: target, type: found?.type ?? 'absent' })
  if (verdict.state === 'bad') {
    throw new StepFailed('HostPathType', `hostPath ${target}: ${verdict.why}`, { hint: verdict.hint })
  }
  if (verdict.state === 'good') return []
  if (verdict.what === 'dir') await make(run, 'mkdir', ['-p', '-m', '0755', '--', target], target)
  // No chmod afterwards: a container that has the directory may have put a link in its place.
  else await make(run, 'touch', ['--', target], target)
  return []
}

async function make(run: StepContext, program: string, args: readonly string[], target: string): Promise<void> {
  const result = await command(run, program, args)
  if (result.status === 0) return
  throw new StepFailed('WriteFailed', `hostPath ${target} could not be created: ${firstLineOf(result)}`, {
    hint: 'Check what is in the way, or which parent directory is missing; then plan again.',
  })
}
