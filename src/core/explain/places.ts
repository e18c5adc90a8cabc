/** What there is of a volume on this node, path by path. */

import { omitUndefined } from '../base/omit-undefined.ts'
import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import { loopsBackedBy } from '../facts/actual/block-volume.ts'
import type { SubPaths } from '../facts/actual/pod-volumes.ts'
import type { StateFile } from '../facts/actual/state-file.ts'
import type { VolumeRow } from '../facts/row.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { deadWords } from '../linux/mount-words.ts'
import { withoutCopies } from '../linux/propagation.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { placesUnseen } from '../reconcile/pods/pod-classes.ts'
import { podDirOf, podPathOf } from '../volumes/paths.ts'
import { evidenceOf } from '../volumes/registry.ts'
import type { Place } from './explanation.ts'

/** The pods' part first, then the node's own. */
export function placesOf(context: PlanContext, volume: VolumeRow): Place[] {
  const { inputs } = context
  const at = (role: Place['role'], absolute: string, podUid?: string, state?: string): Place => {
    const pod = podUid === undefined ? undefined : podRefOf(context, podUid)
    return placeAt(inputs, absolute, { role, ...omitUndefined({ pod, state }) })
  }
  const place = (role: Place['role'], path: string, ...of: readonly (string | undefined)[]): Place =>
    at(role, inputs.absolute(path), ...of)
  const stateFile = (file: StateFile | undefined, podUid?: string): Place[] =>
    file === undefined ? [] : [place('stateFile', file.path, podUid, stateFileText(file))]
  const foreign = (mounts: readonly MountInfo[], podUid?: string): Place[] =>
    [...new Set(mounts.map(({ mountPoint }) => inputs.plain(mountPoint)))].map((path) => at('foreign', path, podUid))
  const subPaths = ({ podUid, ...parts }: SubPaths): Place[] => [
    ...parts.leaves.map(({ path }) => place('subPath', path, podUid)),
    ...foreign(parts.foreign, podUid),
  ]
  return [
    ...missingTargets(context, volume).map(({ role, path, podUid }) => place(role, path, podUid)),
    ...volume.onDisk.flatMap(({ podUid, target, markers, ...parts }) => [
      place('target', target, podUid),
      ...stateFile(parts.stateFile, podUid),
      ...markers.map((path) => place('marker', path, podUid)),
      ...foreign(parts.foreign, podUid),
      ...(parts.subPaths === undefined ? [] : subPaths(parts.subPaths)),
    ]),
    ...volume.leaked.flatMap(subPaths),
    ...volume.maps.flatMap((block) => [
      ...block.mappings.flatMap(({ podUid, symlink, mapFile, publishPath }) =>
        Object.entries({ link: symlink, map: mapFile, published: publishPath } as const).flatMap(([role, path]) =>
          path === undefined ? [] : [place(role as Place['role'], path, podUid)],
        ),
      ),
      ...stateFile(block.stateFile),
      ...(block.stagingPath === undefined ? [] : [place('staged', block.stagingPath)]),
      ...foreign(block.foreign),
    ]),
    ...volume.staged.flatMap((staged) => [
      place('staged', staged.target),
      ...stateFile(staged.stateFile),
      ...foreign(staged.foreign),
    ]),
    ...volume.globals.flatMap((global) => [place('global', global.path), ...foreign(global.foreign)]),
  ]
}

/** Targets, missing on disk, of pods that want it. */
function missingTargets({ inputs }: PlanContext, { wanted, onDisk, maps }: VolumeRow) {
  const there = new Set([
    ...onDisk.map(({ dir }) => dir),
    ...maps.flatMap(({ mappings }) => mappings.map(({ symlink }) => symlink)),
  ])
  return wanted
    .filter((each) => !there.has(podDirOf(each)) && evidenceOf(inputs, each).state !== 'satisfied')
    .map((each) => ({
      role: each.mode === 'Block' ? ('link' as const) : ('target' as const),
      path: podPathOf(each),
      podUid: each.podUid,
    }))
}

function stateFileText({ data, corrupt }: StateFile): string {
  return data === undefined ? `unusable, ${corrupt}` : `driver ${data.driver}, handle ${data.handle}`
}

/** What is there on one path, whatever it is. @param path absolute */
export function placeAt(inputs: ActualInputs, path: string, given: Pick<Place, 'role'> & Partial<Place>): Place {
  const relative = inputs.relative(path)
  const layers = withoutCopies(inputs.mounts, path)
  const dead = inputs.deadError(relative)
  const loops = loopsBackedBy(inputs.snapshot, path)
  return {
    path,
    state: stateAt(inputs, relative, layers.length),
    exists: layers.length > 0 || inputs.tree.has(relative),
    mounts: layers.map(({ id, dev, root, fsType, source, options }) => {
      return { id, dev, root, fsType, source, readOnly: options.includes('ro') }
    }),
    ...(loops.length > 0 && { loops }),
    ...omitUndefined({ dead: dead === undefined ? undefined : deadWords(dead) }),
    ...given,
  }
}

function stateAt(inputs: ActualInputs, relative: string, layers: number): string {
  const { tree } = inputs
  if (layers > 1) return `mounted, ${layers} layers`
  if (layers === 1) return 'mounted'
  const entry = tree.get(relative)
  if (entry === undefined) return placesUnseen(inputs) === undefined ? 'not there' : 'not known'
  if (entry.error !== undefined) return `cannot be read (${entry.error})`
  if (entry.type === 'dir') return tree.children(relative).length === 0 ? 'an empty directory' : 'a directory'
  if (entry.type === 'link') return `a link to ${entry.target ?? 'an unknown target'}`
  if (entry.type === 'file') return entry.size === undefined ? 'a file' : `a file of ${entry.size} bytes`
  return `a ${NAMES[entry.type]}`
}

const NAMES = { block: 'block device', char: 'character device', fifo: 'named pipe', socket: 'socket' } as const
