/** Messages between volctl and its ownership walker: a line of JSON each. What the walker is asked for is checked by shape. */

import type { StepFailed } from '../base/operation-error.ts'
import type { OwnershipChange } from '../linux/change-ownership.ts'
import { ownership } from '../linux/ownership-bits.ts'
import { count, object, path, type ShapeOf } from '../trust/shape.ts'

export const walkRequest = object({
  /** PID of the parent: the walk ends when it ends. */
  parent: count,
  path,
  mountId: count,
  ownership,
})

export interface WalkRequest extends ShapeOf<typeof walkRequest> {}

/** A line of the walker's output. */
export interface WalkMessage {
  /** How many it has done so far. */
  readonly entries?: number
  readonly done?: OwnershipChange
  readonly failed?: Pick<StepFailed, 'code' | 'message' | 'hint'>
}
