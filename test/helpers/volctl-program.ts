/** Which volctl the tests start. */
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** As npm installs it: a shell script, Node.js and the bundle. Tests of flags and output start this one (test/cli). */
export const BUNDLE = join(root, 'bin', 'volctl')

/** The same with the tests' bundle, which looks at the node of VOLCTL_TEST_HOST (scripts/build.ts). */
export const TEST_BUNDLE = join(root, 'dist-tests', 'bin', 'volctl')

/**
 * What tests with real mounts start (test/e2e, test/privileged, the demo): what VOLCTL_PROGRAM names, which must do exactly the
 * same. CI names the executable (`npm run executable`), so that one run tries both.
 */
export const VOLCTL = process.env.VOLCTL_PROGRAM ?? TEST_BUNDLE
