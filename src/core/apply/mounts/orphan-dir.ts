/** A last look into a pod directory that is about to be removed: all or nothing (R601-R615, O13). */

import { OperationRefused } from '../../errors/operation-error.ts'
import type { Operation } from '../../plan/plan.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

/** @throws OperationRefused naming a file or mount that the plan does not have */
export function requireNothingNew(operation: Operation, { around, host }: StepContext): void {
  const directory = operation.steps.at(-1)?.target
  if (directory === undefined) return
  const mount = around.table.at(directory)[0] ?? around.below(directory)[0]
  if (mount !== undefined)
    throw new OperationRefused('ForeignMount', `${describeMount(mount)} is in the way`, { hint: 'Plan again.' })
  const known = new Set(operation.steps.map((step) => step.target))
  if (host.lstat(directory)?.type !== 'dir') return
  const stranger = host.listTree(directory).find((path) => !known.has(path))
  if (stranger === undefined) return
  throw new OperationRefused(
    'UnexpectedFile',
    `${stranger} was not there when the plan was made; nothing was removed`,
    {
      hint: 'Look at it; move it away or delete it yourself, then plan again.',
    },
  )
}
