/** Messages between volctl and its map reader: JSON, checked by shape. */
import { count, list, object, oneOf, optional, type Shape, text } from '../json/shape.ts'
import type { BlockQuestion } from './mapped-blocks.ts'

export interface MapRequest {
  /** PID of the parent. */
  readonly parent: number
  readonly pids: readonly number[]
  /** "major:minor": only files on these file systems are reported. */
  readonly devices: readonly string[]
  /** Block devices: processes that have one mapped are reported as well. */
  readonly blocks?: BlockQuestion
  /**
   * Ids of every mount that a table shows: what a process has open, or has as working directory or root, on any other mount
   * of these file systems is reported as well.
   */
  readonly detached?: { readonly devices: readonly string[]; readonly mounts: readonly number[] }
  /** Processes whose mapped files, working directory and root are reported as well, where their path does not lead to them. */
  readonly standing?: readonly number[]
  /** Descriptors on mounts that no table shows: their files are identified. */
  readonly descriptors?: readonly StrayDescriptor[]
}

export interface StrayDescriptor {
  readonly pid: number
  /** The link in /proc. */
  readonly link: string
}

/**
 * A descriptor on a mount that no table shows; or a mapped file, a working directory or a root to which its path does not
 * lead. Mapped files are on one of the file systems that were asked for.
 */
export interface StrayInode {
  readonly what: 'map' | 'cwd' | 'root' | 'file'
  readonly path: string
  readonly inode: number
  /** As stat(2) has it; absent for a mapped file. */
  readonly dev?: number
}

/** One line for each process. */
export interface MapAnswer {
  readonly pid: number
  readonly paths: readonly string[]
  readonly strays?: readonly StrayInode[]
  /** ENOENT, ESRCH: the process has ended. */
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
