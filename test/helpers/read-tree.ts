import type { TreeEntry } from '../../src/core/facts/actual/snapshot.ts'
import type { LivingPod } from '../../src/core/node/tree/pod-directory.ts'
import { scanTree } from '../../src/core/node/tree/read-tree.ts'

/** Both parts at once. */
export async function readTree(
  options: Parameters<typeof scanTree>[0],
  livingPods: ReadonlyMap<string, LivingPod> = new Map(),
): Promise<readonly TreeEntry[]> {
  return (await scanTree(options)).complete(livingPods)
}
