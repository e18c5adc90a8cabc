/** Does a living pod need the device behind a global directory of iSCSI, FC or a flexVolume driver (S5, R815, R817)? */
import { baseName } from '../actual/tree.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
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
  const wanted = wantedOf(context, plugin)
  if (wanted.volumes.some((volume) => isDeviceOf(deviceSourceOf(volume), plugin, name))) return true
  return context.classes.all.some(
    (pod) => isLiving(pod) && hasUnknownVolume(context, wanted, pod.uid, { plugin, name, mounted }),
  )
}

interface Wanted {
  readonly volumes: readonly VolumeToMount[]
  /** "pod UID/spec name" of each. */
  readonly keys: ReadonlySet<string>
}

const wantedByPlugin = new WeakMap<PlanContext, Map<string, Wanted>>()

/** What pods want of one plugin: worked out once, for there may be hundreds of global directories. */
function wantedOf(context: PlanContext, plugin: string): Wanted {
  const byPlugin = wantedByPlugin.get(context) ?? new Map<string, Wanted>()
  wantedByPlugin.set(context, byPlugin)
  const known = byPlugin.get(plugin)
  if (known !== undefined) return known
  const volumes = context.desired.volumes.filter((volume) => volume.plugin === plugin)
  const wanted = { volumes, keys: new Set(volumes.map(({ podUid, specName }) => `${podUid}/${specName}`)) }
  byPlugin.set(plugin, wanted)
  return wanted
}

interface GlobalDirectory {
  readonly plugin: string
  readonly name: string
  readonly mounted: boolean
}

function hasUnknownVolume(
  { inputs }: PlanContext,
  { keys }: Wanted,
  podUid: string,
  { plugin, name, mounted }: GlobalDirectory,
): boolean {
  return inputs.tree.children(`pods/${podUid}/volumes/${escapeQualifiedName(plugin)}`).some((directory) => {
    const specName = baseName(directory.path)
    // A flexVolume's global directory bears the same name as the pod's.
    if (specName === name) return true
    if (keys.has(`${podUid}/${specName}`)) return false
    return !mounted || inputs.at(directory.path).length === 0
  })
}
