/** Reads the tree below a directory in this mount namespace, and prints it: for tests that need real mounts. */
import { deadMounts } from '../../../src/core/node/dead-mounts.ts'
import { readMountTable } from '../../../src/core/node/read-mountinfo.ts'
import { readTree } from '../../helpers/read-tree.ts'

const [rootDir = '', living = ''] = process.argv.slice(2)
const mounts = readMountTable()
const began = performance.now()
const pods = new Map(
  living
    .split(',')
    .map((uid) => [uid, { expectedFiles: () => undefined, wants: () => true, isMountedOver: () => false }]),
)
const entries = await readTree({ rootDir, mounts, attributes: living === '' ? 'all' : 'plan' }, pods)
const milliseconds = performance.now() - began
const dead = await deadMounts(mounts, rootDir, 1000)
process.stdout.write(JSON.stringify({ entries, dead, milliseconds, mounts: mounts.under(rootDir).length }), () =>
  process.exit(0),
)
