/** What a process and its map reader say to each other: JSON, read by shape. */
import { count, list, object, optional, type Shape, text } from '../shape.ts'

export interface MapRequest {
  /** PID of who asks. */
  readonly parent: number
  readonly pids: readonly number[]
  /** "major:minor": only what is mapped from these file systems is told. */
  readonly devices: readonly string[]
}

/** One line a process. */
export interface MapAnswer {
  readonly pid: number
  readonly paths: readonly string[]
  /** ENOENT, ESRCH: it has ended meanwhile. */
  readonly error?: string
}

/** @throws ShapeError */
export const mapRequest: Shape<MapRequest> = object({ parent: count, pids: list(count), devices: list(text) })

/** @throws ShapeError */
export const mapAnswer: Shape<MapAnswer> = object<MapAnswer>({ pid: count, paths: list(text), error: optional(text) })
