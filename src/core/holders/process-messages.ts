/** Messages between volctl and its process reader: JSON, checked by shape. */
import { count, flag, list, object, oneOf, optional, type Shape, text } from '../json/shape.ts'

/** What is looked for. */
export interface Question {
  /** "major:minor" of file systems: every use of something on them is reported. */
  readonly fileSystems: readonly string[]
  /** Files on file systems without a block device are reported, too: btrfs gives each subvolume a number of its own. */
  readonly anonymous: boolean
  /** "major:minor", "char major:minor": whoever has one open or mapped is reported. */
  readonly devices: readonly string[]
  /** Mounts of file systems that may hang: nothing on them is touched. What is open there is on `dev`, and is no device. */
  readonly slow: readonly { readonly id: number; readonly dev: string }[]
}

/**
 * The work is every part for every process, in this order: what one process has too much of holds up none of another's.
 * Threads nearly always share all of it with the first one.
 */
export const PARTS = ['files', 'places', 'maps', 'threads'] as const

export interface ProcessRequest extends Question {
  /** PID of the parent. */
  readonly parent: number
  readonly pids: readonly number[]
  /** How much of the work is done already. */
  readonly from: number
}

/** What a process uses. `map`: memory, or its program; `device`: an open device file. */
export interface Use {
  readonly what: 'cwd' | 'root' | 'file' | 'map' | 'device'
  /** From the root of the mount namespace that its mount is in; or a mount namespace itself, `mnt:[4026532000]`. */
  readonly path: string
  /** The mount that it was opened by, which may be in no table. Absent: not known. */
  readonly mount?: number
  readonly inode?: string
  /** "major:minor" of its file system, as stat(2) has it; absent: the file system did not say. */
  readonly dev?: string
  /** Of a device file: "major:minor", "char major:minor". */
  readonly device?: string
  /** It has no name any more. */
  readonly deleted?: boolean
  /** Why there is no `dev`. */
  readonly error?: string
}

/** One line for each part of each process. */
export interface Answer {
  readonly uses: readonly Use[]
  /** Why some of it could not be read: `late`, or the error. */
  readonly unread?: string
}

/** @throws ShapeError */
export const processRequest: Shape<ProcessRequest> = object<ProcessRequest>({
  parent: count,
  pids: list(count),
  from: count,
  fileSystems: list(text),
  anonymous: flag,
  devices: list(text),
  slow: list(object({ id: count, dev: text })),
})

/** @throws ShapeError */
export const answer: Shape<Answer> = object<Answer>({
  uses: list(
    object<Use>({
      what: oneOf('cwd', 'root', 'file', 'map', 'device'),
      path: text,
      mount: optional(count),
      inode: optional(text),
      dev: optional(text),
      device: optional(text),
      deleted: optional(flag),
      error: optional(text),
    }),
  ),
  unread: optional(text),
})

/** A path that is too long for the kernel to show: thousands of directories deep. */
export const TOO_LONG = '/…'
