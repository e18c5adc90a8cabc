/**
 * The container in which volctl was started (`--host-root`) has a copy of every mount of the node. A copy that does not follow
 * the node's mounts (mountPropagation HostToContainer) stays when volctl unmounts, and holds the volume: volctl would stand in
 * its own way (S6).
 */

import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { goesWith } from '../linux/propagation.ts'
import type { StandingObstacle } from '../linux/standing.ts'
import { said } from '../messages/findings.ts'
import { caller } from '../trust/run.ts'
import { readMountTable } from './read-mountinfo.ts'

/**
 * Pure: the first copy of a mount below the root directory that stays when that mount is unmounted.
 *
 * @param theirs the table of the container. Only its mounts at the node's paths count, below whatever directory: a volume of the
 * container itself is at another path, and in use
 */
export function privateCopy(table: MountTable, rootDir: string, theirs: MountTable): MountInfo | undefined {
  for (const [dev, mounts] of Map.groupBy(table.under(rootDir), (mount) => mount.dev)) {
    const stays = theirs.ofDevice(dev).find((copy) => {
      const of = mounts.filter((mount) => isCopy(mount, copy))
      return of.length > 0 && !of.some((mount) => goesWith(table, mount, copy, theirs))
    })
    if (stays !== undefined) return stays
  }
  return undefined
}

function isCopy(mount: MountInfo, { root, mountPoint }: MountInfo): boolean {
  return mount.root === root && mountPoint.endsWith((mount.raw ?? mount).mountPoint)
}

/**
 * @param hostRoot --host-root: volctl was started in a container
 * @returns undefined if it was not, or if the container's mounts follow the node's
 */
export function copiesObstacle(
  table: MountTable,
  rootDir: string,
  hostRoot: string | undefined,
): StandingObstacle | undefined {
  const by = caller()
  // Without --host-root volctl only went into the kubelet's namespace: what holds a volume elsewhere is found as any holder is.
  if (by === undefined || hostRoot === undefined) return undefined
  const copy = privateCopy(table, rootDir, readMountTable(`/proc/${by.pid}/mountinfo`))
  if (copy === undefined) return undefined
  return {
    rule: 'S6',
    ...said('WrongNamespace.propagation', copy),
    hint: 'Run volctl in a Pod whose volume of / has mountPropagation: HostToContainer (deploy/node-pod.yaml), or on the node itself.',
  }
}
