/** What there is of a volume on this node, path by path. */

import { omitUndefined } from '../base/omit-undefined.ts'
import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import { loopsBackedBy } from '../facts/actual/block-volume.ts'
import type { StateFile } from '../facts/actual/state-file.ts'
import { podDirOf, type VolumeRow } from '../facts/row.ts'
import { withoutCopies } from '../linux/copies.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { deadWords } from '../linux/mount-words.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { placesUnseen } from '../reconcile/pods/pod-classes.ts'
import { evidenceOf, pluginNamed } from '../volumes/registry.ts'
import type { Fact, MountView, Place, Subject } from './explanation.ts'

/** The pods' part first, then the node's own. */
export function placesOf(context: PlanContext, volume: VolumeRow): Place[] {
  return [
    ...missingTargets(context, volume),
    ...podPlaces(context, volume),
    ...mapPlaces(context, volume),
    ...stagedPlaces(context, volume),
    ...globalPlaces(context, volume),
  ]
}

/** What is there on one path, whatever it is. @param path absolute */
export function placeAt(inputs: ActualInputs, path: string, given: Pick<Place, 'role'> & Partial<Place>): Place {
  const relative = inputs.relative(path)
  const layers = withoutCopies(inputs.mounts, path)
  const dead = inputs.deadError(relative)
  const loops = loopsBackedBy(inputs.snapshot, path)
  return {
    path,
    state: stateAt(inputs, relative, layers),
    exists: layers.length > 0 || inputs.tree.has(relative),
    mounts: layers.map(mountView),
    ...(loops.length > 0 && { loops }),
    ...omitUndefined({ dead: dead === undefined ? undefined : deadWords(dead) }),
    ...given,
  }
}

export function mountView({ id, dev, root, fsType, source, options }: MountInfo): MountView {
  return { id, dev, root, fsType, source, readOnly: options.includes('ro') }
}

function stateAt(inputs: ActualInputs, relative: string, layers: readonly MountInfo[]): string {
  const { tree } = inputs
  if (layers.length > 1) return `mounted, ${layers.length} layers`
  if (layers.length === 1) return 'mounted'
  const entry = tree.get(relative)
  if (entry === undefined) return placesUnseen(inputs) === undefined ? 'not there' : 'not known'
  if (entry.error !== undefined) return `cannot be read (${entry.error})`
  if (entry.type === 'dir') return tree.children(relative).length === 0 ? 'an empty directory' : 'a directory'
  if (entry.type === 'link') return `a link to ${entry.target ?? 'an unknown target'}`
  if (entry.type === 'file') return entry.size === undefined ? 'a file' : `a file of ${entry.size} bytes`
  return `a ${NAMES[entry.type]}`
}

const NAMES = { block: 'block device', char: 'character device', fifo: 'named pipe', socket: 'socket' } as const

/** Targets, missing on disk, of pods that want it. */
function missingTargets(context: PlanContext, volume: VolumeRow): Place[] {
  const { inputs } = context
  const there = new Set([
    ...volume.onDisk.map(({ dir }) => dir),
    ...volume.maps.flatMap(({ mappings }) => mappings.map(({ symlink }) => symlink)),
  ])
  return volume.wanted.flatMap((wanted) => {
    const plugin = pluginNamed(wanted.plugin)
    if (there.has(podDirOf(wanted)) || evidenceOf(inputs, wanted).state === 'satisfied') return []
    const role = wanted.mode === 'Block' ? 'link' : 'target'
    return [placeAt(inputs, inputs.absolute(plugin.podPath(wanted)), { role, pod: podRefOf(context, wanted.podUid) })]
  })
}

function podPlaces(context: PlanContext, volume: VolumeRow): Place[] {
  const { inputs } = context
  const onDisk = volume.onDisk.flatMap(({ podUid, target, stateFile, markers, foreign, subPaths }): Place[] => {
    const pod = podRefOf(context, podUid)
    return [
      placeAt(inputs, inputs.absolute(target), { role: 'target', pod }),
      ...stateFilePlace(inputs, stateFile, { pod }),
      ...markers.map((path) => placeAt(inputs, inputs.absolute(path), { role: 'marker', pod })),
      ...foreignPlaces(inputs, foreign, { pod }),
      ...(subPaths === undefined ? [] : subPathPlaces(context, podUid, subPaths)),
    ]
  })
  return [...onDisk, ...volume.leaked.flatMap(({ podUid, subPaths }) => subPathPlaces(context, podUid, subPaths))]
}

function subPathPlaces(
  context: PlanContext,
  podUid: string,
  { leaves, foreign }: VolumeRow['leaked'][number]['subPaths'],
): Place[] {
  const { inputs } = context
  const pod = podRefOf(context, podUid)
  return [
    ...leaves.map(({ path }) => placeAt(inputs, inputs.absolute(path), { role: 'subPath', pod })),
    ...foreignPlaces(inputs, foreign, { pod }),
  ]
}

function mapPlaces(context: PlanContext, { maps }: VolumeRow): Place[] {
  const { inputs } = context
  return maps.flatMap(({ block, mappings }): Place[] => [
    ...mappings.flatMap(({ podUid, symlink, mapFile, publishPath }) => {
      const pod = podRefOf(context, podUid)
      const place = (role: Place['role'], path: string | undefined): Place[] =>
        path === undefined ? [] : [placeAt(inputs, inputs.absolute(path), { role, pod })]
      return [...place('link', symlink), ...place('map', mapFile), ...place('published', publishPath)]
    }),
    ...stateFilePlace(inputs, block.stateFile, {}),
    ...(block.stagingPath === undefined
      ? []
      : [placeAt(inputs, inputs.absolute(block.stagingPath), { role: 'staged' })]),
    ...foreignPlaces(inputs, block.foreign, {}),
  ])
}

function stagedPlaces({ inputs }: PlanContext, { staged }: VolumeRow): Place[] {
  return staged.flatMap(({ target, stateFile, foreign }) => [
    placeAt(inputs, inputs.absolute(target), { role: 'staged' }),
    ...stateFilePlace(inputs, stateFile, {}),
    ...foreignPlaces(inputs, foreign, {}),
  ])
}

function globalPlaces({ inputs }: PlanContext, { globals }: VolumeRow): Place[] {
  return globals.flatMap(({ path, foreign }) => [
    placeAt(inputs, inputs.absolute(path), { role: 'global' }),
    ...foreignPlaces(inputs, foreign, {}),
  ])
}

function stateFilePlace(inputs: ActualInputs, file: StateFile | undefined, given: Partial<Place>): Place[] {
  if (file === undefined) return []
  const state =
    file.data === undefined
      ? `unusable, ${file.corrupt}`
      : `driver ${file.data.driverName}, handle ${file.data.volumeHandle}`
  return [placeAt(inputs, inputs.absolute(file.path), { role: 'stateFile', ...given, state })]
}

function foreignPlaces(inputs: ActualInputs, mounts: readonly MountInfo[], given: Partial<Place>): Place[] {
  const paths = new Set(mounts.map(({ mountPoint }) => inputs.plain(mountPoint)))
  return [...paths].map((path) => placeAt(inputs, path, { role: 'foreign', ...given }))
}

/** What an explanation of a path or a device is about. */
export interface PlaceTarget {
  readonly subject: Subject
  readonly facts: readonly Fact[]
  readonly places: readonly Place[]
  readonly volumes: readonly VolumeRow[]
  readonly pods: readonly string[]
  readonly paths: readonly string[]
  /** Names in /dev of the devices that were asked about. */
  readonly devices?: readonly string[]
  /** Why nothing is to be done, where it is no pod's and no volume's. */
  readonly because?: string
}
