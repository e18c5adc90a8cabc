/** Whether a CSI volume is shown to be staged, so that one more pod only needs NodePublishVolume (C20, C120). */
import { readStateFile } from '../../actual/state-file.ts'
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { csiGlobalDir } from '../../names/volume-names.ts'
import { VOLUME_DATA } from '../../plugins/csi-paths.ts'
import type { PlanContext } from '../context/context.ts'

/**
 * A mount and a state file alone prove nothing: an interrupted call may have mounted, and done no more. A pod's mount was
 * published from a volume that was fully staged. In doubt the volume is staged again, which changes nothing.
 */
export function isStaged({ inputs, blocks }: PlanContext, volume: VolumeToMount): boolean {
  const { driver, handle, mode, plugin, specName } = volume
  if (driver === undefined || handle === undefined) return false
  if (mode === 'Block') {
    const block = blocks.find((each) => each.plugin === plugin && each.name === specName)
    const record = block?.stateFile?.data
    if (record !== undefined && (record.driverName !== driver || record.volumeHandle !== handle)) return false
    return block?.mappings.some((mapping) => mapping.publishLayers.length > 0) ?? false
  }
  const directory = csiGlobalDir(driver, handle)
  const staged = inputs.top(`${directory}/globalmount`)
  if (staged === undefined || readStateFile(inputs.tree.get(`${directory}/${VOLUME_DATA}`))?.data === undefined)
    return false
  return inputs.devices
    .showing(staged)
    .some((mount) => inputs.relative(inputs.plain(mount.mountPoint)).startsWith('pods/'))
}
