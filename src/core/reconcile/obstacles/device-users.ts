/**
 * Whether a pod that must not be disturbed needs the device behind a global directory of iSCSI, FC or a flexVolume driver
 * (S5, R815, R817).
 */
import { baseName } from '../../actual/tree.ts'
import { isDeviceOf } from '../../devices/whose-device.ts'
import { escapeQualifiedName } from '../../names/volume-names.ts'
import type { PlanContext } from '../context/context.ts'
import { isLiving } from '../pods/volume-users.ts'

/**
 * By name: a pod wants exactly this target and LUN, WWN and LUN, WWID or flexVolume; or in doubt: a pod that must not be
 * disturbed has a volume of the plugin that could not be identified. Mounts are judged by device, in `referencesTo`.
 *
 * @param name of the global directory
 * @param mounted whether anything is mounted on it, so that its pods' mounts can be recognised
 */
export function isDeviceWanted(context: PlanContext, plugin: string, name: string, mounted: boolean): boolean {
  const wanted = context.ledger.wants.ofPlugin(plugin)
  if (wanted.some((volume) => isDeviceOf(volume, plugin, name))) return true
  return context.classes.all.some(
    (pod) => isLiving(pod) && hasUnidentifiedVolume(context, pod.uid, { plugin, name, mounted }),
  )
}

interface GlobalDirectory {
  readonly plugin: string
  readonly name: string
  readonly mounted: boolean
}

function hasUnidentifiedVolume(
  { inputs, ledger }: PlanContext,
  podUid: string,
  { plugin, name, mounted }: GlobalDirectory,
): boolean {
  return inputs.tree.children(`pods/${podUid}/volumes/${escapeQualifiedName(plugin)}`).some((directory) => {
    const specName = baseName(directory.path)
    // A flexVolume's global directory has the same name as the pod's.
    if (specName === name) return true
    if (ledger.wants.has(podUid, plugin, specName)) return false
    return !mounted || inputs.at(directory.path).length === 0
  })
}
