/** What a process and its map reader say to each other: JSON, read by shape. */
import { count, list, object, oneOf, optional, type Shape, text } from '../shape.ts'

export interface MapRequest {
  /** PID of who asks. */
  readonly parent: number
  readonly pids: readonly number[]
  /** "major:minor": only what is mapped from these file systems is told. */
  readonly devices: readonly string[]
  /** Of these, what is not where its path says is told as well, and where they stand. */
  readonly standing?: readonly number[]
}

/** A mapped file, a working directory or a root to which its path does not lead: of a mount that no table shows, for example. */
export interface StrayInode {
  readonly what: 'map' | 'cwd' | 'root'
  readonly path: string
  readonly inode: number
}

/** One line a process. */
export interface MapAnswer {
  readonly pid: number
  readonly paths: readonly string[]
  readonly strays?: readonly StrayInode[]
  /** ENOENT, ESRCH: it has ended meanwhile. */
  readonly error?: string
}

/** @throws ShapeError */
export const mapRequest: Shape<MapRequest> = object<MapRequest>({
  parent: count,
  pids: list(count),
  devices: list(text),
  standing: optional(list(count)),
})

const strayInode: Shape<StrayInode> = object({ what: oneOf('map', 'cwd', 'root'), path: text, inode: count })

/** @throws ShapeError */
export const mapAnswer: Shape<MapAnswer> = object<MapAnswer>({
  pid: count,
  paths: list(text),
  strays: optional(list(strayInode)),
  error: optional(text),
})
