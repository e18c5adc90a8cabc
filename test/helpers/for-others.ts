/**
 * What tests run as another user. Nobody else may enter a checkout below a directory of mode 700, as root's own home is: there
 * a copy stands where everybody may go.
 */
import { chmodSync, cpSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporary } from './left-behind.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const NODE = join('node_modules', `node-linux-${process.arch}`, 'bin', 'node')
const BUILT = ['bin', 'dist', 'dist-tests', 'package.json']

/** Disposed of when nothing runs it any more. */
export function forOthers() {
  const copied = mayEnter(ROOT) ? undefined : copy()
  const root = copied ?? ROOT
  return {
    node: join(root, NODE),
    /** The bundle, as npm installs it. */
    volctl: join(root, 'bin', 'volctl'),
    /** What tests with real mounts start (VOLCTL). Whoever may not enter its directory can still be given an executable. */
    testVolctl: process.env.VOLCTL_PROGRAM ?? join(root, 'dist-tests', 'bin', 'volctl'),
    [Symbol.dispose]: () => copied !== undefined && rmSync(copied, { recursive: true }),
  }
}

function mayEnter(directory: string): boolean {
  return (statSync(directory).mode & 0o001) !== 0 && (directory === '/' || mayEnter(dirname(directory)))
}

function copy(): string {
  const root = temporary('volctl-for-others-')
  chmodSync(root, 0o755)
  for (const each of [NODE, ...BUILT])
    cpSync(join(ROOT, each), join(root, each), { recursive: true, verbatimSymlinks: true })
  return root
}
