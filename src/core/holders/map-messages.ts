/** What a process and its map reader say to each other: JSON, read by shape. */
import { count, list, object, oneOf, optional, type Shape, text } from '../json/shape.ts'
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
  /** Of these, what is not where its path says is told as well, and where they stand. */
  readonly standing?: readonly number[]
  /** On mounts that no table shows: which files they are is told. */
  readonly descriptors?: readonly StrayDescriptor[]
}

export interface StrayDescriptor {
  readonly pid: number
  /** The link in /proc. */
  readonly link: string
}

/**
 * A descriptor on a mount that no table shows; a mapped file, a working directory or a root to which its path does not
 * lead. Of what is mapped the file system is one of those that were asked for.
 */
export interface StrayInode {
  readonly what: 'map' | 'cwd' | 'root' | 'file'
  readonly path: string
  readonly inode: number
  /** As stat(2) has it; absent: of what is mapped. */
  readonly dev?: number
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
  blocks: optional(object<BlockQuestion>({ numbers: list(text), names: list(text), on: list(text) })),
  detached: optional(object<NonNullable<MapRequest['detached']>>({ devices: list(text), mounts: list(count) })),
  standing: optional(list(count)),
  descriptors: optional(list(object({ pid: count, link: text }))),
})

const strayInode: Shape<StrayInode> = object<StrayInode>({
  what: oneOf('map', 'cwd', 'root', 'file'),
  path: text,
  inode: count,
  dev: optional(count),
})

/** @throws ShapeError */
export const mapAnswer: Shape<MapAnswer> = object<MapAnswer>({
  pid: count,
  paths: list(text),
  strays: optional(list(strayInode)),
  error: optional(text),
})
