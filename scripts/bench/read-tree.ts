/** Reads a kubelet's directories as a plan does, and nothing else: `read-tree.ts ROOT`. */
import { readMountTable } from '../../src/core/node/read-mountinfo.ts'
import { scanTree } from '../../src/core/node/tree/read-tree.ts'
import { structureLinks } from '../../src/core/node/tree/structure-links.ts'

/** Bundled, and started as a program of its own. */
export const READ_TREE = import.meta.filename

if (import.meta.main) {
  const rootDir = process.argv[2] ?? ''
  const mounts = readMountTable()
  const tree = await scanTree({ rootDir, mounts, links: structureLinks(rootDir, mounts), attributes: 'plan' })
  const living = { expectedFiles: () => undefined, wants: () => true, isMountedOver: () => false }
  const entries = tree.complete(new Map(tree.podUids.map((uid) => [uid, living])))
  process.stdout.write(`${entries.length} entries\n`)
}
