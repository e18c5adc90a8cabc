/** What a process is told to use, and how. */

/** A mark or token is so long, in ASCII. */
export const LINE = 32
export const PAGE = 4096

export interface Held {
  /** `path`, of a directory, and `by name`: nothing is held but what the mount namespace has. */
  readonly how:
    | 'path'
    | 'by name'
    | 'cwd'
    | 'root'
    | 'open directory'
    | 'read-only'
    | 'for write'
    | 'in a thread'
    | 'mapped'
  /** A directory, a file or a device, as the process sees it. */
  readonly path: string
  /** What stands at the beginning, or in the file `mark` of the directory. */
  readonly mark: string
  /** Once it has it, it covers this with a mount of its own. */
  readonly cover?: string
  /** What it calls itself. */
  readonly name?: string
  /** It maps this file as often as a process may. */
  readonly crowd?: string
  /** Where it begins, in bytes. */
  readonly at?: number
}
