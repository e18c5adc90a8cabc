/** Who uses a volume that is only a directory of one of the node's own file systems (O36). */
import { posix } from 'node:path'
import { isWithin } from '../../files/path-within.ts'
import { describeHolders, processesOf, type UsedBy } from '../../holders/describe-holders.ts'
import { LayerIndex, layersByText } from '../../holders/mount-uses.ts'
import { overlayLayers } from '../../holders/overlay-layers.ts'
import { onceFor } from '../../lang/once-for.ts'
import { undeletedRoot } from '../../mountinfo/deleted.ts'
import { locate } from '../../mountinfo/location.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { CSI_PLUGIN } from '../../names/volume-names.ts'
import type { Unseen } from '../../processes/mount-namespaces.ts'
import { expectedIds, tablesAround } from '../operation/expected-mounts.ts'
import { processReaderOf } from '../operation/process-reader-of.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { SeenLayer } from '../operation/volume-record.ts'
import { firstMount } from './file-system-users.ts'

type Directory = Pick<SeenLayer, 'dev' | 'root'>

/** The first user that is found; undefined: nobody. What cannot be seen counts as use (S3). */
export async function userOfDirectories(
  directories: readonly Directory[],
  run: StepContext,
): Promise<UsedBy | Unseen | undefined> {
  const overlay = overlayOf(run)
  if (overlay !== undefined) return overlay
  for (const directory of directories) {
    const user = mountOf(directory, run) ?? (await holderOf(directory, run))
    if (user !== undefined) return user
  }
  return undefined
}

function mountOf(directory: Directory, run: StepContext): UsedBy | undefined {
  return firstMount(run, (table) => showing(table, directory))
}

function showing(table: MountTable, { dev, root }: Directory): MountInfo[] {
  return table.ofDevice(dev).filter((mount) => isWithin(undeletedRoot(mount.root), undeletedRoot(root)))
}

/** Who uses the content of the directory: the same search as before a deletion (S12). */
async function holderOf(directory: Directory, run: StepContext): Promise<UsedBy | Unseen | undefined> {
  const { around, host, context, plan } = run
  const path = pathOf(directory, around.table)
  if (path === undefined)
    return {
      text: `no mount shows directory ${directory.root} of file system ${directory.dev}`,
      hint: 'Find out who unmounted it, and mount it again where it was.',
    }
  const reader = processReaderOf(context)
  const look = await host.lookForUsers({ table: around.table, fileSystems: [directory.dev], reader })
  const going = new Set(expectedIds(run.operation).keys())
  const holders = await host.contentHolders(look, { path, rootDir: plan.rootDir, going })
  const who = describeHolders(holders, context.nameOf)
  return who === '' ? holders.unseen[0] : { who, users: processesOf(holders) }
}

/**
 * Notes, before the volume is unmounted, the overlays that have a layer in it. An overlay names its layer by a path, which
 * leads elsewhere once the volume is unmounted.
 */
export function noteOverlays({ operation, around, record }: StepContext): void {
  if (operation.volume?.plugin !== CSI_PLUGIN) return
  const layers = (operation.expects ?? []).flatMap((each) => each.layers).filter(({ fsType }) => fsType !== 'devtmpfs')
  for (const { dev, root } of layers) {
    const place = { dev, path: undeletedRoot(root) }
    for (const { table } of tablesAround(around)) {
      // In a namespace where somebody has unmounted the volume, the path may lead elsewhere.
      for (const index of [layersByText(table), layersAsIn(around.table)(table)]) {
        for (const { mount } of index.within(place)) record.overlays.add(mount.dev)
      }
    }
  }
}

/** Layers of the overlays in another table, located by our own table. Cached, since a batch asks thousands of times. */
const layersAsIn = onceFor((ours: MountTable) =>
  onceFor(
    (theirs: MountTable) =>
      new LayerIndex(
        overlayLayers(theirs).flatMap((layer) =>
          layer.path.startsWith('/') ? [[layer, locate(ours, layer.path)] as const] : [],
        ),
      ),
  ),
)

/** The first of the noted overlays that is still mounted. */
function overlayOf(run: StepContext): UsedBy | undefined {
  const overlay = firstMount(run, (table) =>
    [...run.record.overlays].flatMap((dev) => table.ofDevice(dev)).filter(({ fsType }) => fsType === 'overlay'),
  )
  return overlay && { ...overlay, who: `the ${overlay.who}, which has a layer in the volume's directory` }
}

/** A path of the directory in this namespace. */
function pathOf({ dev, root }: Directory, table: MountTable): string | undefined {
  const inside = undeletedRoot(root)
  return table
    .ofDevice(dev)
    .filter((mount) => isWithin(inside, mount.root))
    .map((mount) => posix.join(mount.mountPoint, posix.relative(mount.root, inside)))
    .find((path) => {
      const place = locate(table, path)
      return place?.dev === dev && place.path === inside
    })
}
