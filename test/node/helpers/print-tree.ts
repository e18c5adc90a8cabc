/** Reads the tree below a directory in this mount namespace, and prints it: for tests that need real mounts. */
import { deadMounts } from '../../../src/core/node/dead-mounts.ts'
import { readMountTable } from '../../../src/core/node/read-mountinfo.ts'
import { scanTree } from '../../../src/core/node/tree/read-tree.ts'

const [rootDir = '', living = ''] = process.argv.slice(2)
const mounts = readMountTable()
const began = performance.now()
const pods = new Map(
  living
    .split(',')
    .map((uid) => [uid, { expectedFiles: () => undefined, wants: () => true, isMountedOver: () => false }]),
)
const scan = await scanTree({ rootDir, mounts, attributes: living === '' ? 'all' : 'plan' })
const entries = scan.complete(pods)
const milliseconds = performance.now() - began
const dead = await deadMounts(mounts, rootDir, 1000)
process.stdout.write(JSON.stringify({ entries, dead, milliseconds, mounts: mounts.under(rootDir).length }), () =>
  process.exit(0),
)
