import { Flags, type Interfaces } from '@oclif/core'
import { DEFAULT_JOURNAL_DIR } from '../apply/lazy-memory.ts'
import { VolctlError } from '../errors.ts'

/** `--journal DIR`. @param exclusive flags that cannot stand beside it */
export function journalFlag(what: string, exclusive: string[] = []): Interfaces.OptionFlag<string | undefined> {
  return Flags.string({ helpValue: 'DIR', summary: `${what} Default: ${DEFAULT_JOURNAL_DIR}.`, exclusive })
}

/** Absolute: apply may have to go into another mount namespace first, where the working directory is another. */
export function journalDirectory(given: string | undefined): string | undefined {
  if (given === undefined || given.startsWith('/')) return given
  throw new VolctlError('BadPath', `--journal: "${given}" is not an absolute path.`, { hint: 'Begin it with a /.' })
}
