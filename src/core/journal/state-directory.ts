/** Where the journal of an apply is that changes no node: with the person who runs it, as the XDG base directories have it. */
import { posix } from 'node:path'
import { VolctlError } from '../errors/errors.ts'
import { type Environment, environment } from '../trust/environment.ts'

/** @throws VolctlError JournalFailed without a home directory */
export function stateDirectory({ XDG_STATE_HOME: state, HOME: home }: Environment = environment()): string {
  // A relative path there is to be ignored.
  if (state?.startsWith('/')) return posix.join(state, 'volctl')
  if (home?.startsWith('/')) return posix.join(home, '.local/state/volctl')
  throw new VolctlError('JournalFailed', 'there is no place for the journal: neither XDG_STATE_HOME nor HOME is set', {
    hint: 'Name a directory with --journal, or give --no-journal.',
  })
}
