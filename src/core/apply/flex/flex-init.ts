/** A flexVolume driver's capabilities (P85). */

import { OperationRefused, StepFailed } from '../../errors/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import type { CommandResult } from '../../trust/programs.ts'
import { command } from '../operation/step-command.ts'
import type { FlexCapabilities, StepContext } from '../operation/step-context.ts'
import { requireSuccess } from './flex-answer.ts'

/** Hint for a driver's call that failed. */
export const FLEX_HINT = "See the driver's log; then plan again."

/**
 * Read once per operation, before the first call that changes anything, since a plan runs no programs.
 *
 * @throws StepFailed DriverFailed
 */
export async function flexCapabilities(step: Step, run: StepContext): Promise<FlexCapabilities> {
  if (run.bringUp.flex !== undefined) return run.bringUp.flex
  const answer = requireSuccess(await callFlex(step, ['init'], run), `${driverOf(run)}: init`, FLEX_HINT)
  const { attach, fsGroup } = Object(answer.capabilities) as { attach?: unknown; fsGroup?: unknown }
  const found = { attach: attach !== false, fsGroup: fsGroup !== false }
  run.bringUp.flex = found
  return found
}

/**
 * S22: if the driver attaches, the Node must list the volume as attached. A volume with a secret is not mounted.
 *
 * @throws OperationRefused NotAttached, LeftToKubelet
 */
export function requireMountable({ attach }: FlexCapabilities, run: StepContext): void {
  const { wanted } = run.bringUp
  if (attach && wanted?.attachability !== 'attachable') {
    throw new OperationRefused(
      'NotAttached',
      `driver ${driverOf(run)} attaches its volumes, but the Node does not list ${wanted?.specName} as attached`,
      { hint: 'The attach/detach controller acts next; plan again when node.status.volumesAttached has the volume.' },
    )
  }
  const source = wanted?.persistentVolume?.spec.flexVolume ?? wanted?.source?.flexVolume
  if (source?.secretRef != null) {
    throw new OperationRefused('LeftToKubelet', `volume ${wanted?.specName} has a secretRef now`, {
      hint: 'Start the kubelet: it mounts the volume.',
    })
  }
}

export async function callFlex(step: Step, args: readonly string[], run: StepContext): Promise<CommandResult> {
  if (step.detail === undefined) {
    throw new StepFailed('DriverUnavailable', `the plan does not say where driver ${driverOf(run)} is`, {
      hint: 'Plan again.',
    })
  }
  run.say(`${driverOf(run)}: ${args.slice(0, 2).join(' ')}`)
  return command(run, step.detail, args)
}

export function driverOf({ operation }: StepContext): string {
  return operation.volume?.plugin ?? 'the flexVolume driver'
}
