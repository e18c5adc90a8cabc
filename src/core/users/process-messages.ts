/** Messages between volctl and its process reader: JSON, checked by shape. */
import { count, flag, list, object, oneOf, optional, type ShapeOf, text } from '../trust/shape.ts'

/**
 * The work is every part for every process, in this order: what one process has too much of holds up none of another's.
 * Threads nearly always share all of it with the first one.
 */
export const PARTS = ['files', 'places', 'maps', 'threads'] as const

/** @throws ShapeError */
export const processRequest = object({
  /** PID of the parent. */
  parent: count,
  pids: list(count),
  /** How much of the work is done already. */
  from: count,
  /** "major:minor" of file systems: every use of something on them is reported. */
  fileSystems: list(text),
  /** Files on file systems without a block device are reported, too: btrfs gives each subvolume its own number. */
  anonymous: flag,
  /** "major:minor", "char major:minor": whoever has one open or mapped is reported. */
  devices: list(text),
  /** Ids of all mounts that a table shows and that cannot hang: there may be a hundred thousand. */
  local: list(count),
  /** Those that may. Nothing is touched there: what is open is on `dev`, and is no device. */
  slow: list(object({ id: count, dev: text })),
})

export interface ProcessRequest extends ShapeOf<typeof processRequest> {}

/** What is looked for. */
export interface Question extends Omit<ProcessRequest, 'parent' | 'pids' | 'from'> {}

const use = object({
  what: oneOf('cwd', 'root', 'file', 'map', 'device'),
  /** From the root of the mount namespace that its mount is in; or a mount namespace itself, `mnt:[4026532000]`. */
  path: text,
  /** The mount that it was opened by, which may be in no table. Absent: not known. */
  mount: optional(count),
  inode: optional(text),
  /** "major:minor" of its file system, as stat(2) has it; absent: the file system did not say. */
  dev: optional(text),
  /** Of a device file: "major:minor", "char major:minor". */
  device: optional(text),
  /** It has no name any more. */
  deleted: optional(flag),
  /** Why there is no `dev`. */
  error: optional(text),
  /** Leads there: its mount is in no table, and has to be asked for (askAgain). Of each such mount a process has one use here. */
  link: optional(text),
})

/** What a process uses. `map`: memory, or its program; `device`: an open device file. */
export interface Use extends ShapeOf<typeof use> {}

/** One line for each part of each process. @throws ShapeError */
export const answer = object({
  uses: list<Use>(use),
  /** Why some of it could not be read: `late`, or the error. */
  unread: optional(text),
})

export interface Answer extends ShapeOf<typeof answer> {}

/** A path that is too long for the kernel to show: thousands of directories deep. */
export const TOO_LONG = '/…'
