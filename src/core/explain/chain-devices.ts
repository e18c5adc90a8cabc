/** The links of a volume that are the node's own: its staged or global mount, or the map of its device. */

import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import { registeredDriver, stages } from '../facts/actual/staged-volumes.ts'
import { parentOf } from '../facts/actual/tree.ts'
import { CSI_PLUGIN } from '../facts/actual/volume-names.ts'
import type { VolumeRow } from '../facts/row.ts'
import { withoutCopies } from '../linux/copies.ts'
import { fileSystemText } from '../linux/file-systems.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { deadWords } from '../linux/mount-words.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { VolumeToMount } from '../volumes/desired-state.ts'
import { evidenceOf, pluginNamed } from '../volumes/registry.ts'
import { otherStaged } from '../volumes/same-volume.ts'
import type { Link } from './explanation.ts'

/** What of a volume the links of its chain are judged by. */
export interface Needs {
  /** Pods of this node want it, and their set-up is known. */
  readonly wanted: readonly VolumeToMount[]
  /** Somebody here wants it, or may still use it. */
  readonly isNeeded: boolean
}

export function deviceLinks(context: PlanContext, volume: VolumeRow, needs: Needs): Link[] {
  const { inputs } = context
  const mounted = [...volume.staged.map(({ target }) => target), ...volume.globals.map(({ path }) => path)]
  const isHad = hasAll(context, needs)
  const links = mounted.map((path) => mountLink(context, path, needs, isHad))
  const maps = volume.maps.map(({ block }): Link => mapLink(inputs.absolute(block.mapDir), needs))
  const found = [...links, ...maps]
  return found.length > 0 ? found : missingLink(context, volume, isHad)
}

/** A mount point, relative to the root directory. */
function mountLink({ inputs }: PlanContext, path: string, needs: Needs, isHad: boolean): Link {
  const link = { kind: 'StagedMount', name: inputs.absolute(path) } as const
  const dead = inputs.deadError(path)
  const layers = layersAt(inputs, path)
  const top = layers.at(-1)
  if (dead !== undefined) return { ...link, state: 'bad', says: `dead: ${deadWords(dead)}` }
  const other = otherStaged(inputs, { dir: parentOf(path), target: path })
  if (other !== undefined) return { ...link, state: 'bad', says: `${other.name} is mounted there instead` }
  if (top !== undefined) {
    const left = needs.isNeeded ? '' : 'left over; '
    return { ...link, state: needs.isNeeded ? 'good' : 'bad', says: `${left}${mountSays(top, layers)}` }
  }
  // A driver need not mount anything where a volume is staged.
  if (isHad) return { ...link, state: 'absent', says: 'nothing is mounted there; its pods have the volume' }
  const needed = needs.wanted.length > 0
  return {
    ...link,
    state: needed ? 'bad' : 'absent',
    says: needed ? 'its directory is there, nothing is mounted' : 'an unmounted directory',
  }
}

/** By the plugins' own evidence. */
function hasAll({ inputs }: PlanContext, { wanted }: Needs): boolean {
  return wanted.length > 0 && wanted.every((volume) => evidenceOf(inputs, volume).state === 'mounted')
}

/** Oldest first; a copy that a bind mount over itself has made is no separate layer (O35). */
export function layersAt(inputs: ActualInputs, path: string): readonly MountInfo[] {
  return withoutCopies(inputs.mounts, inputs.absolute(path))
}

/** What is mounted, in a few words. */
export function mountSays(top: MountInfo, layers: readonly MountInfo[]): string {
  const several = layers.length > 1 ? `${layers.length} layers, the newest ` : ''
  const how = top.options.includes('ro') ? ', read-only' : ''
  return `${several}${fileSystemText(top)}${how}`
}

function mapLink(name: string, { isNeeded }: Needs): Link {
  const says = isNeeded ? 'the device is mapped' : 'left over; the device is mapped'
  return { kind: 'BlockMap', name, state: isNeeded ? 'good' : 'bad', says }
}

/** Nothing of it is there, and a pod wants it: bad, unless the volume is not staged at all. */
function missingLink({ inputs }: PlanContext, { wanted }: VolumeRow, isHad: boolean): Link[] {
  const volume = wanted.find(({ deviceMountable, mode }) => deviceMountable && mode === 'Filesystem')
  if (volume === undefined) return []
  const path = pluginNamed(volume.plugin).globalPath?.(volume)
  if (path === undefined) return []
  const link = { kind: 'StagedMount', name: inputs.absolute(path) } as const
  // A local volume may be a directory, which is mounted for its pods alone.
  if (volume.plugin !== CSI_PLUGIN)
    return isHad
      ? [{ ...link, state: 'absent', says: 'not needed: its pods have the volume' }]
      : [{ ...link, state: 'bad', says: 'not mounted' }]
  const socket = registeredDriver(inputs, volume.driver ?? '')
  if (socket === undefined) return [{ ...link, state: 'bad', says: 'not staged, and its driver does not answer' }]
  return [
    stages(socket)
      ? { ...link, state: 'bad', says: 'not staged' }
      : { ...link, state: 'absent', says: 'not needed: the driver does not stage volumes' },
  ]
}
