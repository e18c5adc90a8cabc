/**
 * Whether a file system without a block device (of a server, of a FUSE program, in memory) is still in use. After a lazy
 * unmount no mount table shows it, but it stays alive as long as somebody has a file of it open (S20, S21).
 */

import { isDeepStrictEqual } from 'node:util'
import { memoize } from '../base/collections.ts'
import { overlayLayers } from '../linux/follow-links.ts'
import { isOfServer, type Location, locate, pathThrough, showing, shownBy } from '../linux/location.ts'
import { type OtherNamespace, ofTheNode, type Unseen } from '../linux/mount-namespaces.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { isInUserNamespace } from '../linux/standing.ts'
import { describeProcess, type UsedBy, usingProcess } from '../users/find-holders.ts'
import { PlaceIndex } from '../users/mount-uses.ts'
import { CSI_PLUGIN } from '../volumes/volume-names.ts'
import { userOfContent } from './content-in-use.ts'
import { firstMount, layersOf, tablesAround } from './expected-mounts.ts'
import type { MachineFacts, SeenLayer } from './machine-facts.ts'

/** The first user that is found; undefined: nobody. What cannot be seen counts as use (S3). */
export async function userOfFileSystems(
  layers: readonly SeenLayer[],
  facts: MachineFacts,
): Promise<UsedBy | Unseen | undefined> {
  for (const layer of layers) {
    const mounted = firstMount(facts, (table) => table.ofDevice(layer.dev).filter((mount) => isOf(layer, mount)))
    if (mounted !== undefined) return mounted
  }
  const { host } = facts
  // The kernel's list of FUSE connections, where there is one, shows that the file system is gone.
  const remaining = layers.filter(({ dev, fsType }) => !(fsType.startsWith('fuse') && host.superblockGone(dev, fsType)))
  for (const { dev, fsType } of remaining) {
    if (!host.fileSystemLives(dev, fsType)) continue
    if (![...tablesAround(facts.around)].some(({ table }) => table.ofDevice(dev).length > 0))
      return {
        who: `its ${fsType === '' ? '' : `${fsType} `}file system (${dev}) is in use, and in no mount table that volctl sees`,
      }
  }
  return remaining.length === 0 ? undefined : detachedUser(remaining, facts)
}

/** True for a mount of the volume, or of a directory in it. */
function isOf({ fsType, source = '' }: SeenLayer, mount: MountInfo): boolean {
  if (!isOfServer(fsType) || mount.source === source) return true
  return mount.source.startsWith(source.endsWith('/') ? source : `${source}/`)
}

async function detachedUser(layers: readonly SeenLayer[], facts: MachineFacts): Promise<UsedBy | Unseen | undefined> {
  const devices = [...new Set(layers.map(({ dev }) => dev))]
  const uses = await facts.waiting.spend((ms) => facts.around.uses({ fileSystems: devices }, ms))
  const [user] = uses.detached(devices)
  if (user !== undefined)
    return {
      who: `${describeProcess(user, facts.context.nameOf)}, which has ${user.path} open through a mount that is in no mount table that volctl sees`,
      users: [usingProcess(user)],
    }
  // From within a user namespace only a test's own node is looked at: apply refuses any other (S7).
  return isInUserNamespace() ? undefined : uses.unseen[0]
}

// Who uses a volume that is only a directory of one of the node's own file systems (O36).

/** The first user that is found; undefined: nobody. What cannot be seen counts as use (S3). */
export async function userOfDirectories(
  directories: readonly SeenLayer[],
  facts: MachineFacts,
): Promise<UsedBy | Unseen | undefined> {
  const overlay = overlayOf(facts)
  if (overlay !== undefined) return overlay
  for (const place of directories.map(shownBy)) {
    const shown = firstMount(facts, (table) => showing(table, place))
    const user = shown ?? (await holderOf(place, facts))
    if (user !== undefined) return user
  }
  return undefined
}

/** Who uses the content of the directory: the same search as before a deletion (S12). */
async function holderOf(directory: Location, facts: MachineFacts): Promise<UsedBy | Unseen | undefined> {
  const { around } = facts
  const path = pathOf(directory, around.table)
  if (path === undefined)
    return {
      text: `no mount shows directory ${directory.path} of file system ${directory.dev}`,
      hint: 'Find out who unmounted it, and mount it again where it was.',
    }
  return userOfContent(path, await around.contentLook([directory.dev]), facts)
}

/**
 * Notes, before the volume is unmounted, the overlays that have a layer in it. An overlay names its layer by a path, which
 * leads elsewhere once the volume is unmounted.
 */
export function noteOverlays({ operation, around, record }: MachineFacts): void {
  if (operation.volume?.plugin !== CSI_PLUGIN) return
  const layers = layersOf(operation).filter(({ fsType }) => fsType !== 'devtmpfs')
  for (const place of layers.map(shownBy)) {
    for (const { mount } of layersAround(around.others)(around.table).within(place)) record.overlays.add(mount.dev)
  }
}

/**
 * Layers of the node's overlays, located by the table that has the overlay, and by our own: in a namespace where somebody has unmounted the
 * volume, the path may lead elsewhere. Cached, since a batch asks thousands of times.
 */
const layersAround = memoize((others: readonly OtherNamespace[]) =>
  memoize((ours: MountTable) => {
    const tables = [ours, ...ofTheNode(others).map(({ table }) => table)]
    return new PlaceIndex(
      tables.flatMap((table) =>
        overlayLayers(table)
          .filter(({ path }) => path.startsWith('/'))
          .flatMap((layer) => [table, ours].map((by) => [locate(by, layer.path), layer] as const)),
      ),
    )
  }),
)

/** The first of the noted overlays that is still mounted. */
function overlayOf(facts: MachineFacts): UsedBy | undefined {
  const overlay = firstMount(facts, (table) =>
    [...facts.record.overlays].flatMap((dev) => table.ofDevice(dev)).filter(({ fsType }) => fsType === 'overlay'),
  )
  return overlay && { ...overlay, who: `the ${overlay.who}, which has a layer in the volume's directory` }
}

/** A path of the directory in this namespace. */
function pathOf(directory: Location, table: MountTable): string | undefined {
  return table
    .ofDevice(directory.dev)
    .flatMap((mount) => pathThrough(mount, directory) ?? [])
    .find((path) => isDeepStrictEqual(locate(table, path), directory))
}
