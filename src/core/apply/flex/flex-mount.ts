/** The step flexMount: mounts a pod's flexVolume through its driver (P87, P88). */
import { errnoOf } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import type { StepOf } from '../../plan/plan.ts'
import { flexMountOptions } from '../../plugins/flex-options.ts'
import { mountStep, requireFree } from '../mounts/mount-step.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { isNotSupported, requireSuccess } from './flex-answer.ts'
import { callFlex, driverOf, FLEX_HINT, flexCapabilities, requireMountable } from './flex-init.ts'
import { undoByDriver } from './flex-undo.ts'

/**
 * `mount DIR JSON`, or a bind mount of the global mount if the driver does not support that. The mount table decides: a
 * driver's Success is not trusted if nothing is mounted, since the volume could not be distinguished later from an empty
 * directory, or from one that containers wrote to. After a failure the directory is removed.
 */
export async function mountFlexVolume(step: StepOf<'flexMount'>, run: StepContext): Promise<readonly Undo[]> {
  try {
    const capabilities = await flexCapabilities(step, run)
    requireMountable(capabilities, run)
    requireFree(step.target, run)
    return await mountByDriver(step, run)
  } catch (error) {
    if (!(error instanceof StepFailed && error.stuck)) removeIfEmpty(step.target, run)
    throw error
  }
}

async function mountByDriver(step: StepOf<'flexMount'>, run: StepContext): Promise<readonly Undo[]> {
  const { target } = step
  const { wanted } = run.bringUp
  if (wanted === undefined) throw new StepFailed('NoLongerWanted', `no pod wants ${target}`)
  const result = await callFlex(step, ['mount', target, flexMountOptions(wanted)], run)
  run.around.changed()
  if (isNotSupported(result)) return bindGlobal(step, run)
  const undo = undoByDriver('flexUnmount', step, run)
  const isMounted = run.around.table.top(target) !== undefined
  try {
    requireSuccess(result, `${driverOf(run)}: mount of ${target}`, FLEX_HINT)
  } catch (error) {
    throw isMounted ? await takeBack([undo], error, run) : error
  }
  if (isMounted) return [undo]
  const nothing = new StepFailed(
    'DriverFailed',
    `${driverOf(run)} reported Success for mount of ${target}, but nothing is mounted there`,
    { hint: FLEX_HINT },
  )
  throw await takeBack([undo], nothing, run)
}

function bindGlobal({ target, source = '' }: StepOf<'flexMount'>, run: StepContext): Promise<readonly Undo[]> {
  if (run.around.table.top(source) !== undefined)
    return mountStep({ op: 'mount', target, source, options: ['bind'] }, run)
  throw new StepFailed(
    'DriverFailed',
    `${driverOf(run)} does not support mount, and nothing is mounted on ${source} to bind-mount`,
    { hint: FLEX_HINT },
  )
}

/** A directory in which the driver left something is kept; the next plan finds it. */
function removeIfEmpty(path: string, { host, around }: StepContext): void {
  if (around.table.at(path).length > 0) return
  try {
    host.rmdir(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTEMPTY') throw error
  }
}
