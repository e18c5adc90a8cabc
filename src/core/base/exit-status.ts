/** Every exit status of volctl, once, with its meaning (contract, "Exit status"). */
export const ExitStatus = {
  Ok: 0,
  /** It could not do its work; nothing was changed. Usage errors too. */
  Failed: 1,
  /** plan --detailed-exitcode: there are operations. */
  Changes: 2,
  /** apply: some operations failed, were blocked, refused or abandoned. */
  Partial: 3,
  /** Refused for safety. */
  Refused: 4,
  /** plan --detailed-exitcode: nothing to do here, and something waits for someone else. wait: not reached. */
  Waiting: 5,
  Interrupted: 130,
} as const

export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus]
