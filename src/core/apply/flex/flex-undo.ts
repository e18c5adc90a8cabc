/** Has a flexVolume driver unmount what it has just mounted. */

import type { Undo } from '../../errors/undo.ts'
import { defined } from '../../lang/defined.ts'
import { copiesOf } from '../../mountinfo/copies.ts'
import type { Step } from '../../plan/plan.ts'
import type { StepContext } from '../operation/step-context.ts'
import { callFlexDriver } from './flex-step.ts'

/**
 * To be called right after the driver's call: every mount there is then the driver's, since there was none before.
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
    what: `what the driver mounted on ${path}`,
    back: () => {
      run.around.changed()
      return callFlexDriver({ op, target: path, ...defined({ detail }) }, { ...run, operation })
    },
  }
}
