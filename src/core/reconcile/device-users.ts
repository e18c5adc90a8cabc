/** Does a living pod need the device behind a global directory of iSCSI, FC or a flexVolume driver (S5, R815, R817)? */
import { baseName } from '../actual/tree.ts'
import type { VolumeSpec } from '../desired/desired-state.ts'
import { deviceSourceOf, isDeviceOf } from '../desired/device-source.ts'
import { escapeQualifiedName } from '../names.ts'
import type { PlanContext } from './context.ts'
import { isLiving } from './volume-users.ts'

/**
 * By name: a pod wants exactly this target and LUN, WWN and LUN, WWID or flexVolume; or in doubt: a living pod has a
 * volume of the plugin of which nobody can say what it is. What is mounted is judged by device, by `referencesTo`.
 *
 * @param name of the global directory
 * @param mounted whether anything is mounted on it, so that its pods' mounts can be recognised
 */
export function isDeviceWanted(context: PlanContext, plugin: string, name: string, mounted: boolean): boolean {
  const { desired } = context
  const isIt = (volume: VolumeSpec): boolean =>
    volume.plugin === plugin && isDeviceOf(deviceSourceOf(volume), plugin, name)
  if (desired.volumes.some(isIt)) return true
  return context.classes.all.some((pod) => isLiving(pod) && hasUnknownVolume(context, pod.uid, plugin, name, mounted))
}

function hasUnknownVolume(
  { inputs, desired }: PlanContext,
  podUid: string,
  plugin: string,
  name: string,
  mounted: boolean,
): boolean {
  const isResolved = (specName: string): boolean =>
    desired.volumes.some((each) => each.podUid === podUid && each.plugin === plugin && each.specName === specName)
  return inputs.tree.children(`pods/${podUid}/volumes/${escapeQualifiedName(plugin)}`).some((directory) => {
    const specName = baseName(directory.path)
    // A flexVolume's global directory bears the same name as the pod's.
    if (specName === name) return true
    if (isResolved(specName)) return false
    return !mounted || inputs.at(directory.path).length === 0
  })
}
