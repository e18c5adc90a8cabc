/** csi: volumes of CSI drivers, migrated in-tree volumes included (C10, C31-C35, C133, C134). */
import { present } from '../base/text.ts'
import type { CsiPersistentVolumeSource } from '../kube/api/objects.ts'
import { csiSetUp, takesLabel } from './csi-set-up.ts'
import { type Attachability, csiPlaces, VOLUME_DATA, type VolumeToMount } from './desired-state.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import { type SpecContext, specNameOf, type VolumePlugin } from './plugin.ts'
import { CSI_PLUGIN, inlineCsiHandle } from './volume-names.ts'

/** Only a PersistentVolume's source has a handle. */
export const csi: VolumePlugin<Partial<CsiPersistentVolumeSource>> = {
  name: CSI_PLUGIN,
  source: 'csi',
  about: {
    tearDown: 'by its driver, with the identity that its state files prove',
    setUp: 'staged and published by its driver',
  },
  block: true,
  reconstructs: true,
  tearDown: 'csi',
  facts: ({ driver, volumeHandle: handle }, spec, context) => {
    if (spec.persistentVolume === undefined)
      // Inline volumes are never attached or staged, whatever the CSIDriver says (C35).
      return { driver, handle: inlineCsiHandle(context.podUid, specNameOf(spec)) }
    // Without both the volume has no staging directory, and the driver cannot be called for it (C10, C52).
    if (!driver || !handle) return { error: 'its csi source names no driver or no volumeHandle' }
    return { shared: `${driver}^${handle}`, attachability: attachabilityOf(driver, context.lookup), driver, handle }
  },
  globalPath: (volume) => csiPlaces(volume).stagingPath,
  /** What the driver made at the target (C17, C20): a mount point, a link or a device. */
  whyMissing: (inputs, volume) => {
    const target = csiPlaces(volume).target
    const type = inputs.tree.get(target)?.type
    const isThere = inputs.top(target) !== undefined || type === 'link' || type === 'block'
    return isThere ? undefined : 'nothing is mounted on its directory'
  },
  takesLabel,
  setUp: csiSetUp,
}

/** Only an explicit `attachRequired: false` makes the attach unnecessary; a missing CSIDriver does not (R012, C35). */
export function attachabilityOf(driver: string, lookup: SpecContext['lookup']): Attachability {
  const found = lookup.csiDriver(driver)
  if (found.state === 'Unknown') return 'unknown'
  const required = found.state === 'Absent' || found.object.spec.attachRequired !== false
  return required ? 'attachable' : 'notAttachable'
}

/** A state file that a kubelet needs for what is mounted: an empty or broken one counts as none (C93, C94, O5). */
export function lostStateFile(inputs: ActualInputs, volume: VolumeToMount): string | undefined {
  const needed = present(csiPlaces(volume).stateFile, stagedStateFile(inputs, volume))
  return needed.find((path) => inputs.tree.stateFile(path)?.data === undefined)
}

/** Where that of the staged file system is or should be; undefined: none is staged. */
export function stagedStateFile(inputs: ActualInputs, volume: VolumeToMount): string | undefined {
  const directory = volume.mode === 'Block' ? undefined : csiPlaces(volume).stagingDir
  const isStaged = directory !== undefined && inputs.top(`${directory}/globalmount`) !== undefined
  return isStaged ? `${directory}/${VOLUME_DATA}` : undefined
}
