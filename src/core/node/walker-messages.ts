/** Messages between volctl and its ownership walker: a line of JSON each. What the walker is asked for is checked by shape. */

import { posix } from 'node:path'
import type { StepFailed } from '../base/operation-error.ts'
import type { OwnershipChange } from '../linux/change-ownership.ts'
import type { Ownership } from '../linux/ownership-bits.ts'
import { count, flag, object, oneOf, path, type Shape, ShapeError } from '../trust/shape.ts'

export interface WalkRequest {
  /** PID of the parent: the walk ends when it ends. */
  readonly parent: number
  readonly path: string
  readonly mountId: number
  readonly ownership: Ownership
}

/** A line of the walker's output. */
export interface WalkMessage {
  /** How many it has done so far. */
  readonly entries?: number
  readonly done?: OwnershipChange
  readonly failed?: Pick<StepFailed, 'code' | 'message' | 'hint'>
}

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
