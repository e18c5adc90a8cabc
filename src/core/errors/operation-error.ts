import type { FailureCode } from '../codes/codes.ts'
import { VolctlError } from './errors.ts'

/** Why an operation was not begun: what it was decided on does not hold any more (S26). */
export class OperationRefused extends VolctlError {
  override readonly name = 'OperationRefused'
}

/** Why a step failed. `stuck`: an abandoned call may still be running; the volume is left alone from then on. */
export class StepFailed extends VolctlError {
  override readonly name = 'StepFailed'
  readonly stuck: boolean

  constructor(
    code: FailureCode,
    message: string,
    options: { readonly hint?: string; readonly cause?: unknown; readonly stuck?: boolean } = {},
  ) {
    super(code, message, options)
    this.stuck = options.stuck ?? false
  }
}
