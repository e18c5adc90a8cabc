/**
 * Raw block volumes of iSCSI and FC (P79, P83, P84, P104). Their map directories are named after the device, the pods'
 * links after the volume: evidence shows which belong together, not the names.
 */
import { compareText } from '../lang/compare-text.ts'
import { undeletedRoot } from '../mountinfo/deleted.ts'
import { FC_PLUGIN } from '../names/fc-disk.ts'
import { ISCSI_PLUGIN } from '../names/iscsi-disk.ts'
import type { ActualInputs } from './actual-inputs.ts'
import type { BlockVolume, PodLinks } from './block-volume.ts'
import { foreignMounts, mapDirectoryOnly, mappingOf, uidsBelow } from './map-files.ts'
import { baseName } from './tree.ts'

/** A pod's link to the device: pods/UID/volumeDevices/PLUGIN/NAME. */
interface Link {
  readonly name: string
  readonly podUid: string
  readonly path: string
}

/**
 * Every map directory with the links that lead to its device, then the links without a map directory: such a link is all that is
 * left of a map, or its map is not known. It is removed by itself.
 */
export function sessionBlockVolumes(inputs: ActualInputs, links: PodLinks): BlockVolume[] {
  return [
    ...volumesOf(inputs, links, ISCSI_PLUGIN, (base) =>
      inputs.tree.childDirs(base).flatMap((iface) => below(inputs, `${base}/${iface}`)),
    ),
    ...volumesOf(inputs, links, FC_PLUGIN, (base) => below(inputs, base)),
  ]
}

function below(inputs: ActualInputs, base: string): string[] {
  return inputs.tree.childDirs(base).map((name) => `${base}/${name}`)
}

function volumesOf(
  inputs: ActualInputs,
  links: PodLinks,
  plugin: string,
  directoriesBelow: (base: string) => string[],
): BlockVolume[] {
  const base = `plugins/${plugin}/volumeDevices`
  const unclaimed = new Set(linksOf(links, plugin))
  const mapped = directoriesBelow(base)
    .toSorted(compareText)
    .map((dir) => mapDirectory(inputs, plugin, dir, unclaimed))
  const orphans = [...Map.groupBy(unclaimed, ({ name }) => name)]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, own]) => linkOnly(inputs, plugin, `${base}/${name}`, name, own))
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
function mapDirectory(inputs: ActualInputs, plugin: string, dir: string, unclaimed: Set<Link>): BlockVolume {
  const record = `${dir}/iscsi.json`
  const volumeName = volumeNameIn(inputs, record)
  const isRecord = (path: string): boolean => plugin === ISCSI_PLUGIN && path === record
  const uids = [...new Set(uidsBelow(inputs, dir))]
  const known = new Set([dir, ...uids.map((uid) => `${dir}/${uid}`)])
  if (inputs.tree.get(record)?.type === 'file' && isRecord(record)) known.add(record)
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
          (!known.has(entry.path) && entry.type !== 'dir') || (isRecord(entry.path) && entry.error !== undefined),
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

function volumeNameIn(inputs: ActualInputs, record: string): string | undefined {
  try {
    const { VolName } = JSON.parse(inputs.tree.get(record)?.content ?? '{}') as { VolName?: unknown }
    return typeof VolName === 'string' ? VolName : undefined
  } catch {
    return undefined
  }
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
