/** Messages between volctl and its ownership walker: a line of JSON each, checked by shape. */

import { posix } from 'node:path'
import { omitUndefined } from '../base/omit-undefined.ts'
import type { OwnershipChange } from '../linux/change-ownership.ts'
import type { Ownership } from '../linux/ownership-bits.ts'
import type { OutcomeCode } from '../messages/codes.ts'
import { count, flag, list, object, oneOf, optional, path, type Shape, ShapeError, text } from '../trust/shape.ts'

export interface WalkRequest {
  /** PID of the parent: the walk ends when it ends. */
  readonly parent: number
  readonly path: string
  readonly mountId: number
  readonly ownership: Ownership
}

interface WalkFailure {
  readonly code: (typeof FAILURES)[number]
  readonly message: string
  /** Absent: what its code says. */
  readonly hint?: string
}

const FAILURES = ['WriteFailed', 'Swapped', 'ForeignMount'] as const satisfies readonly OutcomeCode[]
/** The highest group id: chown(2) takes the one above for "do not change". */
const MAX_GID = 2 ** 32 - 2

const cleanPath: Shape<string> = (value, at) => {
  const given = path(value, at)
  if (posix.normalize(given) === given && !given.includes('\0')) return given
  throw new ShapeError(`${at} is not a plain path`)
}

const gid: Shape<number> = (value, at) => {
  if (count(value, at) <= MAX_GID) return value as number
  throw new ShapeError(`${at} is not a group id`)
}

/** @throws ShapeError */
export const walkRequest: Shape<WalkRequest> = object({
  parent: count,
  path: cleanPath,
  mountId: count,
  ownership: object({ gid, policy: oneOf('Always', 'OnRootMismatch'), readOnly: flag, ignoreErrors: flag }),
})

/** @throws ShapeError */
export const walkProgress = object({ entries: count })

/** @throws ShapeError */
export const walkDone: Shape<{ readonly done: OwnershipChange }> = object({
  done: object({ entries: count, skipped: flag, failed: count, mounts: list(text) }),
})

/** @throws ShapeError */
export const walkFailed: Shape<{ readonly failed: WalkFailure }> = object({
  failed: object({ code: oneOf(...FAILURES), message: text, hint: optional(text) }),
})

export function failureOf(error: unknown, where: string): WalkFailure {
  const { code, message, hint } = error as { code?: string; message?: string; hint?: string }
  const known = FAILURES.find((each) => each === code)
  if (known !== undefined) return { code: known, message: message ?? '', ...omitUndefined({ hint }) }
  return {
    code: 'WriteFailed',
    message: `${where} could not be read (${code ?? message})`,
    hint: hint ?? 'Check the file system and its server; then plan again.',
  }
}
