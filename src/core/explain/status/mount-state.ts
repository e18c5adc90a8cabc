/**
 * Is a volume mounted, as far as disk and mount table show: the kubelet's VolumeMountState and DeviceMountState.
 *
 * The kubelet takes everything that it finds after a restart for uncertain. Evidence says more (R805): a mount with the state file that
 * tear-down needs is certain, and only one without the other is uncertain (R806).
 */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { ActualInputs } from '../../facts/actual/actual-inputs.ts'
import type { BlockMapping } from '../../facts/actual/block-volume.ts'
import type { PodVolume, SubPaths } from '../../facts/actual/pod-volumes.ts'
import { registeredDriver, stages } from '../../facts/actual/staged-volumes.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import type { VolumeRow } from '../../facts/row.ts'
import { placesUnseen } from '../../reconcile/pods/pod-classes.ts'
import { evidenceOf, pluginNamed } from '../../volumes/registry.ts'
import { otherMounted } from '../../volumes/same-volume.ts'
import type { DeviceMountState, StatusRow, VolumeMountState } from './status.ts'
import type { StatusSource } from './status-source.ts'

type MountFacts = Required<Pick<StatusRow, 'mounted'>> & Pick<StatusRow, 'mountsNothing'>

/** Of a pod's volume; what nothing is left of is not mounted, and what nobody looked at may be. */
export function mountOf(inputs: ActualInputs, source: StatusSource): MountFacts {
  const seen = seenMountOf(inputs, source)
  const isOpen =
    seen.mounted === 'VolumeNotMounted' && seen.mountsNothing !== true && placesUnseen(inputs) !== undefined
  return isOpen ? { mounted: 'VolumeMountUncertain' } : seen
}

function seenMountOf(inputs: ActualInputs, source: StatusSource): MountFacts {
  const { wanted, ended } = source
  const own = wanted ?? ended
  const evidence = own === undefined ? undefined : evidenceOf(inputs, own)
  // The kubelet counts a hostPath as mounted for as long as the pod wants it.
  if (evidence?.state === 'satisfied')
    return { mounted: wanted === undefined ? 'VolumeNotMounted' : 'VolumeMounted', mountsNothing: true }
  if (evidence?.state === 'mounted') {
    const isCertain = evidence.stateFileLost === undefined && evidence.other === undefined
    return { mounted: isCertain ? 'VolumeMounted' : 'VolumeMountUncertain' }
  }
  const found = worstMount([
    ...source.onDisk.map((each) => onDiskState(inputs, each)),
    ...source.leaked.map(subPathState),
    ...source.mappings.map(mappingState),
  ])
  // What is there of it is not what the pod would have.
  return { mounted: evidence !== undefined && found === 'VolumeMounted' ? 'VolumeMountUncertain' : found }
}

function worstMount(states: readonly VolumeMountState[]): VolumeMountState {
  if (states.includes('VolumeMountUncertain')) return 'VolumeMountUncertain'
  return states.includes('VolumeMounted') ? 'VolumeMounted' : 'VolumeNotMounted'
}

function onDiskState(inputs: ActualInputs, volume: PodVolume): VolumeMountState {
  const { plugin, name, target, layers, stateFile, markers, content, subPaths } = volume
  if (layers.length > 0) {
    if (plugin !== CSI_PLUGIN) return 'VolumeMounted'
    const { driverName: driver, volumeHandle: handle } = stateFile?.data ?? {}
    const claimed = { plugin, specName: name, ...omitUndefined({ driver, handle }) }
    const isProven = driver !== undefined && otherMounted(inputs, claimed, { path: target, staged: [] }) === undefined
    return isProven ? 'VolumeMounted' : 'VolumeMountUncertain'
  }
  if (stateFile !== undefined) return 'VolumeMountUncertain'
  if (markers.length > 0) return 'VolumeMounted'
  if (content.some(({ type }) => type !== 'dir')) return 'VolumeMountUncertain'
  return subPaths === undefined ? 'VolumeNotMounted' : subPathState(subPaths)
}

/** Sub-paths go before their volume (R440): where the volume is unmounted, they are left over. */
function subPathState({ leaves, foreign }: SubPaths): VolumeMountState {
  const isMounted = foreign.length > 0 || leaves.some(({ layers }) => layers.length > 0)
  return isMounted ? 'VolumeMountUncertain' : 'VolumeNotMounted'
}

function mappingState({ symlink, mapLayers, publishLayers }: BlockMapping): VolumeMountState {
  const isBound = mapLayers.length + publishLayers.length > 0
  return symlink !== undefined && isBound ? 'VolumeMounted' : 'VolumeMountUncertain'
}

/** Of the node's own mount or map of the volume; undefined: the volume has none. */
export function deviceOf(inputs: ActualInputs, volume: VolumeRow): DeviceMountState | undefined {
  const states = [...stagedStates(volume), ...globalStates(volume), ...mapStates(volume)]
  if (states.includes('DeviceMountUncertain')) return 'DeviceMountUncertain'
  if (states.includes('DeviceGloballyMounted')) return 'DeviceGloballyMounted'
  if (states.length === 0 && !isStagedWhenMounted(inputs, volume)) return undefined
  return placesUnseen(inputs) === undefined ? 'DeviceNotMounted' : 'DeviceMountUncertain'
}

/** An empty globalmount is what a driver without staging leaves (R025). */
function stagedStates({ staged, onDisk }: VolumeRow): DeviceMountState[] {
  const isPublished = onDisk.some(({ layers }) => layers.length > 0)
  return staged.flatMap(({ layers, foreign, stateFile }) => {
    if (layers.length + foreign.length === 0 && stateFile === undefined) return []
    // A driver may stage without a mount (C20).
    const isShown = stateFile?.data !== undefined && (layers.length > 0 || isPublished)
    return isShown ? 'DeviceGloballyMounted' : 'DeviceMountUncertain'
  })
}

function globalStates({ globals }: VolumeRow): DeviceMountState[] {
  return globals.map(({ layers, content }) =>
    layers.length > 0 ? 'DeviceGloballyMounted' : content.length > 0 ? 'DeviceMountUncertain' : 'DeviceNotMounted',
  )
}

function mapStates({ maps }: VolumeRow): DeviceMountState[] {
  return maps.map(({ block, mappings }) => {
    const isBound = mappings.some(({ mapLayers, publishLayers }) => mapLayers.length + publishLayers.length > 0)
    const isRecorded = block.plugin !== CSI_PLUGIN || block.stateFile?.data !== undefined
    if (isBound && isRecorded) return 'DeviceGloballyMounted'
    const parts = (block.staging?.mounts.length ?? 0) + mappings.length
    return isBound || parts > 0 || block.stateFile !== undefined ? 'DeviceMountUncertain' : 'DeviceNotMounted'
  })
}

function isStagedWhenMounted(inputs: ActualInputs, { wanted: [wanted], onDisk }: VolumeRow): boolean {
  if (wanted === undefined || !wanted.deviceMountable) return false
  if (pluginNamed(wanted.plugin).globalPath(wanted) === undefined) return false
  // A local volume that is a directory is bound into the pods as it is (P66).
  if (wanted.plugin !== CSI_PLUGIN || wanted.driver === undefined)
    return onDisk.every(({ layers }) => layers.length === 0)
  const driver = registeredDriver(inputs, wanted.driver)
  return driver === undefined || stages(driver)
}
