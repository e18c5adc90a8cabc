/** Who uses a directory of a file system that is the node's own, where that directory is the volume (O36). */
import { posix } from 'node:path'
import { isWithin } from '../../files/path-within.ts'
import { describeHolders } from '../../holders/describe-holders.ts'
import { LayerIndex, layersByText } from '../../holders/mount-uses.ts'
import { overlayLayers } from '../../holders/overlay-layers.ts'
import { onceFor } from '../../lang/once-for.ts'
import { undeletedRoot } from '../../mountinfo/deleted.ts'
import { locate } from '../../mountinfo/location.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { CSI_PLUGIN } from '../../names/volume-names.ts'
import { mapReaderOf } from '../operation/map-reader-of.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { SeenLayer } from '../operation/volume-record.ts'
import { firstMount } from './first-mount.ts'

type Directory = Pick<SeenLayer, 'dev' | 'root'>

/** Nobody looks longer at what processes have mapped. */
const DEADLINE_MS = 5000

/** In words, the first that is found; undefined: nobody. What cannot be seen counts as use (S3). */
export async function userOfDirectories(
  directories: readonly Directory[],
  run: StepContext,
): Promise<string | undefined> {
  const overlay = overlayOf(run)
  if (overlay !== undefined) return overlay
  for (const directory of directories) {
    const user = mountOf(directory, run) ?? (await holderOf(directory, run))
    if (user !== undefined) return user
  }
  return undefined
}

function mountOf(directory: Directory, run: StepContext): string | undefined {
  return firstMount(run, (table) => showing(table, directory))
}

function showing(table: MountTable, { dev, root }: Directory): MountInfo | undefined {
  return table.ofDevice(dev).find((mount) => isWithin(undeletedRoot(mount.root), undeletedRoot(root)))
}

/** Whatever else uses what lies in it: the one answer that deletions of content ask for too (S12). */
async function holderOf(directory: Directory, run: StepContext): Promise<string | undefined> {
  const { around, host, context, plan } = run
  const path = pathOf(directory, around.table)
  if (path === undefined) return `perhaps somebody: ${directory.root} of file system ${directory.dev} is not to be seen`
  const maps = mapReaderOf(context, DEADLINE_MS)
  const look = await host.lookForUsers({ table: around.table, devices: [directory.dev], maps })
  const holders = await host.contentHolders(look, { path, rootDir: plan.rootDir })
  const who = describeHolders(holders, context.nameOf)
  const [unseen] = holders.unseen
  if (who !== '') return who
  return unseen === undefined ? undefined : `perhaps somebody: ${unseen}`
}

/**
 * Overlays of which a volume's directory has a layer, before it is unmounted: they name the layer by the path that they
 * were given, which leads elsewhere once the mount on it is gone.
 */
export function noteOverlays({ operation, around, record }: StepContext): void {
  if (operation.volume?.plugin !== CSI_PLUGIN) return
  const layers = (operation.expects ?? []).flatMap((each) => each.layers).filter(({ fsType }) => fsType !== 'devtmpfs')
  for (const { dev, root } of layers) {
    const place = { dev, path: undeletedRoot(root) }
    for (const table of [around.table, ...around.others.map((other) => other.table)]) {
      // Whoever has a namespace of his own may have unmounted there what the path led to.
      for (const index of [layersByText(table), layersAsIn(around.table)(table)]) {
        for (const { mount } of index.within(place)) record.overlays.add(mount.dev)
      }
    }
  }
}

/** Layers of another table's overlays, by where this one's paths lead. A batch asks thousands of times. */
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

/** In words, the first that is still mounted. */
function overlayOf(run: StepContext): string | undefined {
  const overlay = firstMount(run, (table) =>
    [...run.record.overlays].flatMap((dev) => table.ofDevice(dev)).find(({ fsType }) => fsType === 'overlay'),
  )
  return overlay === undefined ? undefined : `a layer of the ${overlay} is in its directory`
}

/** Where this namespace shows it. */
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
