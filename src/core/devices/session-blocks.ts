/**
 * Raw block volumes of plugins whose map directories are named after the device, and the pods' links after the volume, such
 * as iSCSI and FC (P79, P83, P84, P104): evidence shows which belong together, not the names.
 */

import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { BlockVolume, PodLinks } from '../actual/block-volume.ts'
import { foreignMounts, mapDirectoryOnly, mappingOf, uidsBelow } from '../actual/map-files.ts'
import { baseName } from '../actual/tree.ts'
import { compareText } from '../lang/compare-text.ts'
import { undeletedRoot } from '../mountinfo/deleted.ts'
import type { PluginDevice } from '../plugins/plugin.ts'
import { directoriesBelow } from './directories-below.ts'

/** A pod's link to the device: pods/UID/volumeDevices/PLUGIN/NAME. */
interface Link {
  readonly name: string
  readonly podUid: string
  readonly path: string
}

/**
 * Every map directory with the links that lead to its device, then the links without a map directory: such a link is all that
 * is left of a map, or its map is not known, so the link is removed alone.
 */
export function sessionBlockVolumes(
  inputs: ActualInputs,
  links: PodLinks,
  plugin: string,
  { maps, record }: PluginDevice,
): BlockVolume[] {
  if (maps?.namedAfter !== 'device') return []
  const unclaimed = new Set(linksOf(links, plugin))
  const mapped = directoriesBelow(inputs.tree, maps.base, maps.depth)
    .toSorted(compareText)
    .map((dir) => mapDirectory(inputs, plugin, dir, record, unclaimed))
  const orphans = [...Map.groupBy(unclaimed, ({ name }) => name)]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, own]) => linkOnly(inputs, plugin, `${maps.base}/${name}`, name, own))
  return [...mapped, ...orphans]
}

function linksOf(links: PodLinks, plugin: string): Link[] {
  const prefix = `${plugin}/`
  return [...links].flatMap(([key, byPod]) =>
    key.startsWith(prefix)
      ? [...byPod].map(([podUid, path]) => ({ name: key.slice(prefix.length), podUid, path }))
      : [],
  )
}

/** @param unclaimed links that no map directory has claimed yet */
function mapDirectory(
  inputs: ActualInputs,
  plugin: string,
  dir: string,
  record: PluginDevice['record'],
  unclaimed: Set<Link>,
): BlockVolume {
  const file = record === undefined ? undefined : inputs.tree.get(`${dir}/${record.name}`)
  const volumeName = record?.volumeNameIn(file?.content ?? '{}')
  const uids = [...new Set(uidsBelow(inputs, dir))]
  const known = new Set([dir, ...uids.map((uid) => `${dir}/${uid}`)])
  if (file?.type === 'file') known.add(file.path)
  return {
    ...mapDirectoryOnly(plugin, dir, baseName(dir)),
    mappings: uids.toSorted(compareText).map((podUid) => {
      const bound = inputs.top(`${dir}/${podUid}`)
      const link = [...unclaimed].find((each) => each.podUid === podUid && leadsTo(inputs, each, bound, volumeName))
      if (link !== undefined) unclaimed.delete(link)
      return mappingOf(inputs, dir, podUid, link?.path)
    }),
    foreign: foreignMounts(inputs, [dir], known),
    unexpected: inputs.tree
      .descendants(dir)
      .filter(
        (entry) =>
          (!known.has(entry.path) && entry.type !== 'dir') || (entry.path === file?.path && entry.error !== undefined),
      ),
  }
}

/** P104: the link's target is the device bound on the map file; without one, the record names the volume (P73). */
function leadsTo(
  inputs: ActualInputs,
  link: Link,
  bound: { readonly fsType: string; readonly root: string } | undefined,
  volumeName: string | undefined,
): boolean {
  if (bound === undefined || bound.fsType !== 'devtmpfs') return link.name === volumeName
  return inputs.tree.get(link.path)?.target === `/dev${undeletedRoot(bound.root)}`
}

function linkOnly(
  inputs: ActualInputs,
  plugin: string,
  dir: string,
  name: string,
  links: readonly Link[],
): BlockVolume {
  return {
    ...mapDirectoryOnly(plugin, dir, name),
    mappings: links
      .toSorted((a, b) => compareText(a.podUid, b.podUid))
      .map(({ podUid, path }) => mappingOf(inputs, dir, podUid, path)),
    foreign: [],
    unexpected: [],
  }
}
