/** What a process and its map reader say to each other: JSON, read by shape. */

import { count, list, object, optional, type Shape, text } from '../shape.ts'
import type { BlockQuestion } from './mapped-blocks.ts'

export interface MapRequest {
  /** PID of who asks. */
  readonly parent: number
  readonly pids: readonly number[]
  /** "major:minor": only what is mapped from these file systems is told. */
  readonly devices: readonly string[]
  /** Block devices: who has one mapped is told as well. */
  readonly blocks?: BlockQuestion
  /**
   * Ids of every mount that a table shows: what a process has open, or is in, on a mount that is none of them and of one
   * of these file systems is told as well.
   */
  readonly detached?: { readonly devices: readonly string[]; readonly mounts: readonly number[] }
}

/** One line a process. */
export interface MapAnswer {
  readonly pid: number
  readonly paths: readonly string[]
  /** ENOENT, ESRCH: it has ended meanwhile. */
  readonly error?: string
}

/** @throws ShapeError */
export const mapRequest: Shape<MapRequest> = object<MapRequest>({
  parent: count,
  pids: list(count),
  devices: list(text),
  blocks: optional(object<BlockQuestion>({ numbers: list(text), names: list(text), on: list(text) })),
  detached: optional(object<NonNullable<MapRequest['detached']>>({ devices: list(text), mounts: list(count) })),
})

/** @throws ShapeError */
export const mapAnswer: Shape<MapAnswer> = object<MapAnswer>({ pid: count, paths: list(text), error: optional(text) })
