/** An answer of the API server that is no object: a Status with its HTTP code. */
export class StatusError extends Error {
  readonly code: number
  readonly reason: string
  readonly details: object

  constructor(code: number, reason: string, message: string, details: object = {}) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = details
  }

  toJSON(): object {
    const { code, reason, message, details } = this
    return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, details, code }
  }
}
