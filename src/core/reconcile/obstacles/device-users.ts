/**
 * Whether a pod that must not be disturbed needs the device behind a global directory of iSCSI, FC or a flexVolume driver
 * (S5, R815, R817).
 */
import { baseName } from '../../actual/tree.ts'
import type { VolumeSpec } from '../../desired/volume-spec.ts'
import { isDeviceOf } from '../../devices/whose-device.ts'
import { onceFor } from '../../lang/once-for.ts'
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
  const wanted = wantedOf(context, plugin)
  if (wanted.volumes.some((volume) => isDeviceOf(volume, plugin, name))) return true
  return context.classes.all.some(
    (pod) => isLiving(pod) && hasUnidentifiedVolume(context, wanted, pod.uid, { plugin, name, mounted }),
  )
}

interface Wanted {
  /** Including volumes that cannot be used as their pods ask (S4). */
  readonly volumes: readonly VolumeSpec[]
  /** "pod UID/spec name" of each. */
  readonly keys: ReadonlySet<string>
}

const NOTHING: Wanted = { volumes: [], keys: new Set() }

/** Computed once, since there may be hundreds of global directories. */
const wantedByPlugin = onceFor(({ desired }: PlanContext): ReadonlyMap<string, Wanted> => {
  const known = desired.unresolved.flatMap(({ podUid, mayBe }) =>
    mayBe.of === 'itself' ? [{ ...mayBe.volume, podUid }] : [],
  )
  const plugins = Map.groupBy([...desired.volumes, ...known], ({ plugin }) => plugin)
  return new Map(
    [...plugins].map(([plugin, volumes]) => {
      const keys = new Set(volumes.map(({ podUid, specName }) => `${podUid}/${specName}`))
      return [plugin, { volumes, keys }]
    }),
  )
})

/** What pods want of one plugin. */
function wantedOf(context: PlanContext, plugin: string): Wanted {
  return wantedByPlugin(context).get(plugin) ?? NOTHING
}

interface GlobalDirectory {
  readonly plugin: string
  readonly name: string
  readonly mounted: boolean
}

function hasUnidentifiedVolume(
  { inputs }: PlanContext,
  { keys }: Wanted,
  podUid: string,
  { plugin, name, mounted }: GlobalDirectory,
): boolean {
  return inputs.tree.children(`pods/${podUid}/volumes/${escapeQualifiedName(plugin)}`).some((directory) => {
    const specName = baseName(directory.path)
    // A flexVolume's global directory has the same name as the pod's.
    if (specName === name) return true
    if (keys.has(`${podUid}/${specName}`)) return false
    return !mounted || inputs.at(directory.path).length === 0
  })
}
