/** What somebody else may have put where volctl reads or writes: real files of another user, FIFOs, devices, links. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'

/** A user that no test runs as, and that volctl does not trust. */
export const NOBODY = 65534

/** Why no file of another user can be made here; undefined: it can. */
export const noOthersFiles =
  process.geteuid?.() === 0 && isWholeMachine() ? undefined : 'needs root, to make files of another user'

/** In a user namespace there is no other user. */
function isWholeMachine(): boolean {
  return /^0\s+0\s+4294967295$/.test(execFileSync('cat', ['/proc/self/uid_map'], { encoding: 'utf8' }).trim())
}

export interface Trick {
  readonly name: string
  /** @param victim a file of root's beside it */
  readonly make: (path: string, victim: string) => void
  /** What the message says about the file. */
  readonly says: string
  /** Why the trick cannot be done here. */
  readonly skip?: string | undefined
}

/** Instead of a plain file of root's. */
export const TRICKS: readonly Trick[] = [
  { name: 'a FIFO', make: (path) => void execFileSync('mkfifo', [path]), says: 'a FIFO' },
  { name: 'a link', make: (path, victim) => symlinkSync(victim, path), says: 'a symbolic link' },
  { name: 'a link to nothing', make: (path) => symlinkSync('/nonexistent', path), says: 'a symbolic link' },
  { name: 'a directory', make: (path) => mkdirSync(path), says: 'a directory' },
  {
    name: 'an endless device',
    make: (path) => void execFileSync('mknod', [path, 'c', '1', '5']),
    says: 'a device',
    skip: noOthersFiles,
  },
  {
    name: 'a file of another user',
    make: (path) => {
      writeFileSync(path, '{}\n', { mode: 0o600 })
      chownSync(path, NOBODY, NOBODY)
    },
    says: `uid ${NOBODY}`,
    skip: noOthersFiles,
  },
]

/** A directory that others own, or may write. */
export function giveAway(directory: string, how: 'owner' | 'mode'): void {
  if (how === 'owner') chownSync(directory, NOBODY, NOBODY)
  else chmodSync(directory, 0o777)
}
