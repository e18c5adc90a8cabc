import type { FailureCode } from '../codes/codes.ts'
import { VolctlError } from './errors.ts'

/** Why an operation was not begun: what it was decided on does not hold any more (S26). */
export class OperationRefused extends VolctlError {
  override readonly name = 'OperationRefused'
}

/** Why a step failed. `stuck`: a call was given up and may still be at work; the volume is left alone from then on. */
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
