/** Tests start volctl as a person would: where the environment changes Node.js, the executable starts twice (S34). */
import { expect } from 'vitest'
import { READ_EARLY } from '../../scripts/executable/read-early.ts'

/** The libraries of the Node.js that runs them. */
const NEEDED = 'LD_LIBRARY_PATH'

// What fetches packages needs the authorities that the caller names.
if (expect.getState().testPath?.includes('/test/package/') !== true) {
  for (const name of Object.keys(process.env)) if (READ_EARLY.test(name) && name !== NEEDED) delete process.env[name]
}
