/**
 * A look without requests: the earlier answers of the API, the runtime, drivers and the kubelet, and the disk as it is
 * now.
 */
import { loopDevices } from '../block/block-devices.ts'
import type { NodeState } from '../model/node-state.ts'
import { withLinks } from '../mountinfo/linked-mounts.ts'
import { livingVolumes } from './living-volumes.ts'
import { readMountTable } from './read-mountinfo.ts'
import { scanTree } from './tree/read-tree.ts'
import { structureLinks } from './tree/structure-links.ts'

/**
 * Reads the mount table, the kubelet's directories and the loop devices again, as a whole look does.
 *
 * @param before the last whole look
 * @throws VolctlError NodeUnreadable
 */
export async function lookAtDisk({ snapshot: before }: NodeState): Promise<NodeState> {
  const { rootDir, api } = before
  const raw = readMountTable()
  const links = structureLinks(rootDir, raw)
  const mounts = withLinks(raw, links.links)
  const scan = await scanTree({ rootDir, mounts, links, attributes: 'plan' })
  const tree = scan.complete(api === undefined ? new Map() : livingVolumes(api))
  const capturedAt = new Date().toISOString()
  const snapshot = { ...before, capturedAt, mountinfo: mounts.text, tree, blockDevices: loopDevices() }
  return { snapshot, mounts }
}
