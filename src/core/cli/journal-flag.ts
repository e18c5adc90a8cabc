import { Flags, type Interfaces } from '@oclif/core'
import { VolctlError } from '../base/errors.ts'
import { DEFAULT_JOURNAL_DIR } from '../plan/documents/lazy-memory.ts'
import { callerPath } from '../trust/caller.ts'

/** `--journal DIR`. @param exclusive flags that cannot be combined with it */
export function journalFlag(what: string, exclusive: string[] = []): Interfaces.OptionFlag<string | undefined> {
  return Flags.string({ helpValue: 'DIR', summary: `${what} Default: ${DEFAULT_JOURNAL_DIR}.`, exclusive })
}

/** Absolute, and of the file system that volctl was typed in: apply may have to go into another mount namespace first. */
export function journalDirectory(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  if (given.startsWith('/')) return callerPath(given)
  throw new VolctlError('Usage', `--journal: "${given}" is not an absolute path.`, {
    hint: `Give an absolute path, such as ${DEFAULT_JOURNAL_DIR}.`,
  })
}
