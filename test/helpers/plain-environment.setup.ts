/** Tests start volctl as a person would: where Node.js has been told something by the environment, the executable starts twice (S34). */
import { expect } from 'vitest'
import { READ_EARLY } from '../../scripts/executable/read-early.ts'

/** Where the tests keep their files, and the libraries of the Node.js that runs them. */
const NEEDED: ReadonlySet<string> = new Set(['TMPDIR', 'LD_LIBRARY_PATH'])

// What fetches packages needs the authorities that the caller names.
if (expect.getState().testPath?.includes('/test/package/') !== true) {
  for (const name of Object.keys(process.env)) if (READ_EARLY.test(name) && !NEEDED.has(name)) delete process.env[name]
}
