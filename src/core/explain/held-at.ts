import type { Held } from '../holders/live-holders.ts'
import type { VolumeRow } from '../ledger/row.ts'
import { undeletedRoot } from '../mountinfo/deleted.ts'
import type { Operation } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { Asked } from './asked.ts'

/** Where somebody may keep it busy: what is mounted, directories that hold a volume's data without a mount, devices. */
export function heldAt(
  { inputs }: PlanContext,
  { scope, places, devices = [] }: Asked,
  operations: readonly Operation[],
): Held {
  if (scope.node) return { heldAt: [], content: [], rootDir: inputs.rootDir, devices: [] }
  const mounted = scope.volumes.flatMap(({ mounts }) => mounts.map(({ mountPoint }) => inputs.plain(mountPoint)))
  const onDisk = scope.volumes.flatMap(({ onDisk }) => onDisk.map(({ dir }) => inputs.absolute(dir)))
  const asked = places.filter(({ mounts }) => mounts.length > 0).map(({ path }) => path)
  return {
    heldAt: [...new Set([...mounted, ...onDisk, ...asked])],
    content: operations.flatMap(contentOf),
    rootDir: inputs.rootDir,
    devices: [...new Set([...deviceFiles(scope.volumes), ...devices])],
  }
}

/** Directories that it empties, and mounts with which an emptyDir in memory ends. */
function contentOf({ steps, deletes, pod, expects = [] }: Operation): Held['content'] {
  const emptied = steps.filter(({ op }) => op === 'deleteContent').map(({ target }) => target)
  const ending = deletes === undefined ? [] : expects.map(({ path }) => path)
  const going = new Set(expects.flatMap(({ layers }) => layers.map(({ id }) => id)))
  return [...new Set([...emptied, ...ending])].map((path) => ({ path, going, ...(pod && { podUid: pod.uid }) }))
}

/** Bound on maps and published files: the device, whose openers hold it. */
function deviceFiles(volumes: readonly VolumeRow[]): string[] {
  return volumes
    .flatMap(({ mounts }) => mounts)
    .filter(({ fsType, root }) => fsType === 'devtmpfs' && root !== '/')
    .map(({ root }) => undeletedRoot(root).slice(1))
}
