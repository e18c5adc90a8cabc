/** The device, or the directory, that a step mounts or maps (P66). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import { lookAtPath, resolvePath } from '../operation/look-at-path.ts'
import type { StepContext } from '../operation/step-context.ts'

export interface FoundDevice {
  /** A device node, links resolved. */
  readonly path: string
  /** "major:minor" */
  readonly number: string
}

/** The source that the step names, otherwise the device that an earlier step has found; empty: there is neither. */
export function sourceOf({ source }: Step, { bringUp }: StepContext): string {
  return source ?? bringUp.device ?? ''
}

/** @throws StepFailed InvalidPath if it is neither a device nor a directory, TimedOut */
export async function lookAtSource(source: string, run: StepContext): Promise<FoundDevice | 'directory'> {
  if (!source.startsWith('/')) throw unusable(source, 'is not an absolute path')
  const found = await lookAtPath(source, run)
  if (found === undefined) throw unusable(source, 'does not exist')
  if (found.type === 'dir') return 'directory'
  if (found.type !== 'block') throw unusable(source, 'is neither a directory nor a block device')
  return { path: await resolvePath(source, run), number: found.device }
}

/** @throws StepFailed InvalidPath if it is not a device, TimedOut */
export async function deviceOfSource(source: string, run: StepContext): Promise<FoundDevice> {
  const found = await lookAtSource(source, run)
  if (found === 'directory') throw unusable(source, 'is a directory, but the volume needs a block device')
  return found
}

function unusable(source: string, why: string): StepFailed {
  return new StepFailed('InvalidPath', `${source === '' ? 'the device' : source} ${why}`, {
    hint: 'Bring the disk or the directory back, or correct the PersistentVolume; then plan again.',
  })
}
