/** Why a place gives no credential, where the search for one has to know. */
import type { ErrorCode } from '../../codes/codes.ts'
import { VolctlError, type VolctlErrorOptions } from '../../errors/errors.ts'

/** There is no such file: the next place is tried. */
export class NoSuchKubeconfig extends VolctlError {
  constructor(message: string, hint: string) {
    super('NoKubeconfig', message, { hint })
  }
}

/** A file that exists, and that volctl does not use unasked: the next place is tried, and a message says so. */
export class PassedOver extends VolctlError {
  /** Goes on after the message, where the place is one of several. */
  readonly advice: string

  constructor(code: ErrorCode, message: string, { advice = '', ...options }: VolctlErrorOptions & { advice?: string }) {
    super(code, message, options)
    this.advice = advice
  }
}

/** The kubeconfig itself, not a file that it names, could have been written by somebody else (S33). */
export class UnsafeKubeconfig extends PassedOver {
  constructor(message: string, options: VolctlErrorOptions) {
    super('KubeconfigUnsafe', message, options)
  }
}

/** The context that the person named: their mistake, not the file's; no other place is tried. */
export class UnknownContext extends VolctlError {
  constructor(message: string, hint: string) {
    super('KubeconfigInvalid', message, { hint })
  }
}
