import type { Held } from '../holders/live-holders.ts'
import { undeletedRoot } from '../mountinfo/deleted.ts'
import type { PlanContext } from '../reconcile/context.ts'
import type { Asked } from './asked.ts'
import type { NodeVolume } from './node-volume.ts'

/** Where somebody may keep it busy: what is mounted, directories that hold a volume's data without a mount, devices. */
export function heldAt({ inputs }: PlanContext, { scope, places, devices = [] }: Asked): Held {
  const mounted = scope.volumes.flatMap(({ mounts }) => mounts.map(({ mountPoint }) => inputs.plain(mountPoint)))
  const onDisk = scope.volumes.flatMap(({ onDisk }) => onDisk.map(({ dir }) => inputs.absolute(dir)))
  const asked = places.filter(({ mounts }) => mounts.length > 0).map(({ path }) => path)
  return {
    heldAt: [...new Set([...mounted, ...onDisk, ...asked])],
    devices: [...new Set([...deviceFiles(scope.volumes), ...devices])],
  }
}

/** Bound on maps and published files: the device, whose openers hold it. */
function deviceFiles(volumes: readonly NodeVolume[]): string[] {
  return volumes
    .flatMap(({ mounts }) => mounts)
    .filter(({ fsType, root }) => fsType === 'devtmpfs' && root !== '/')
    .map(({ root }) => undeletedRoot(root).slice(1))
}
