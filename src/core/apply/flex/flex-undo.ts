/** Takes back what a flexVolume driver has just mounted, by the driver itself. */

import type { Undo } from '../../errors/undo.ts'
import { copiesOf } from '../../mountinfo/copies.ts'
import type { Step } from '../../plan/plan.ts'
import type { StepContext } from '../operation/step-context.ts'
import { callFlexDriver } from './flex-step.ts'

/**
 * To be made right after the call: every layer that is seen there by now is the driver's, since none was there before.
 *
 * @param op the call that is the opposite of the step's
 */
export function undoByDriver(
  op: 'flexUnmount' | 'flexUnmountDevice',
  step: Pick<Step, 'target' | 'detail'>,
  run: StepContext,
): Undo {
  const { target: path, detail } = step
  const { table } = run.around
  const made = table.reached(path).flatMap((mount) => [mount, ...copiesOf(table, mount)])
  const layers = made.map(({ id, dev, root, fsType }) => ({ id, dev, root, fsType }))
  const operation = { ...run.operation, expects: [{ path, layers }] }
  return {
    what: `what the driver made of ${path}`,
    back: () => {
      run.around.changed()
      return callFlexDriver({ op, target: path, ...(detail === undefined ? {} : { detail }) }, { ...run, operation })
    },
  }
}
