/** What a process is told to use, and how. */

/** A mark or token is so long, in ASCII. */
export const LINE = 32
export const PAGE = 4096

export interface Held {
  /** `path`, of a directory, and `by name`: nothing is held but what the mount namespace has. */
  readonly how: 'path' | 'by name' | 'cwd' | 'root' | 'open directory' | 'read-only' | 'for write' | 'mapped'
  /** A directory, a file or a device, as the process sees it. */
  readonly path: string
  /** What stands at the beginning, or in the file `mark` of the directory. */
  readonly mark: string
  /** Where it begins, in bytes. */
  readonly at?: number
}
