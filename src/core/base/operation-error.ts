import type { FailureCode, OutcomeCode } from '../messages/codes.ts'
import { type UsingProcess, VolctlError } from './errors.ts'

interface StepOptions {
  readonly hint?: string
  readonly cause?: unknown
  readonly stuck?: boolean
  readonly users?: readonly UsingProcess[]
}

/** Why an operation was not begun: what it was decided on does not hold any more (S26). */
export class OperationRefused extends VolctlError {
  override readonly name = 'OperationRefused'
}

/** The kubelet or the controller runs again, and the rest is its work: nothing more is started, and the apply is refused (S11). */
export class CameBack extends OperationRefused {
  declare readonly code: 'KubeletRunning' | 'ControllerRunning'

  constructor(code: CameBack['code'], message: string, options: { readonly hint?: string } = {}) {
    super(code, message, options)
  }
}

/** Why a step failed. `stuck`: an abandoned call may still be running; the volume is left alone from then on. */
export class StepFailed extends VolctlError {
  override readonly name = 'StepFailed'
  readonly stuck: boolean

  constructor(code: FailureCode, message: string, options: StepOptions = {}) {
    super(code, message, options)
    this.stuck = options.stuck ?? false
  }
}

/** The mount is gone, as was asked; what stays unknown holds the volume's other operations (S20). */
export class StepDetached extends StepFailed {}

/** The person ended the apply before the step did. */
export class StepInterrupted extends StepFailed {
  constructor(
    message: string,
    { code = 'Interrupted', ...options }: StepOptions & { readonly code?: OutcomeCode } = {},
  ) {
    super(code, message, options)
  }
}

/** The step's time is over (--timeout). */
export class StepTimedOut extends StepFailed {
  constructor(message: string, options: StepOptions = {}) {
    super('TimedOut', message, options)
  }
}

/** What uses a mount or a device could not be seen: it counts as in use (S25). */
export class UsersUnknown extends StepFailed {
  constructor(message: string, options: StepOptions = {}) {
    super('UsersUnknown', message, options)
  }
}
