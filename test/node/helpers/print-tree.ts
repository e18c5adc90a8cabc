/** Reads the tree below a directory in this mount namespace, and prints it: for tests that need real mounts. */
import { readMountTable } from '../../../src/core/node/read-mountinfo.ts'
import { scanTree } from '../../../src/core/node/tree/read-tree.ts'

const [rootDir = ''] = process.argv.slice(2)
const mounts = readMountTable()
const entries = (await scanTree({ rootDir, mounts, attributes: 'all' })).complete(new Map())
process.stdout.write(JSON.stringify({ entries, mounts: mounts.under(rootDir).length }), () => process.exit(0))
