/**
 * Volumes that are set up outside the root directory (S8): staged or published below its former path, by a second kubelet, or
 * below a link. No phase decides on them, so they count as in use.
 */

import { append } from '../base/append.ts'
import { memoize } from '../base/memoize.ts'
import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import { escapeQualifiedName, sha256Hex } from '../facts/actual/volume-names.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { whoMounted } from '../linux/mount-words.ts'
import { isWithin } from '../linux/paths.ts'
import type { Obstacle } from '../plan/draft.ts'
import { podUidOf, type SoughtVolume, shapeMatcher, shapeOf, type VolumeShape } from '../volumes/volume-shapes.ts'
import type { Judge } from './rule.ts'

interface MountOutside {
  readonly mount: MountInfo
  readonly path: string
  readonly shape: VolumeShape
}

/** By the hash of the handle, every name, and the pod's UID. Few mounts outside the root directory have such a path. */
interface Index {
  readonly byKey: ReadonlyMap<string, readonly MountOutside[]>
  readonly byName: ReadonlyMap<string, readonly MountOutside[]>
  readonly byPod: ReadonlyMap<string, readonly Pick<MountOutside, 'mount' | 'path'>[]>
}

/** Anything that is mounted outside the root directory under a path of this volume. */
export const mountedOutside: Judge = (_, { sought }, { inputs }) => sought && mountOutside(inputs, sought)

function mountOutside(inputs: ActualInputs, sought: SoughtVolume): Obstacle | undefined {
  const { byKey, byName } = indexOf(inputs)
  if (byKey.size === 0 && byName.size === 0) return undefined
  const matches = shapeMatcher(sought)
  const found = [
    ...(sought.handle === undefined ? [] : (byKey.get(sha256Hex(sought.handle)) ?? [])),
    ...sought.names.flatMap((name) => byName.get(escapeQualifiedName(name)) ?? []),
  ].find(({ mount, shape }) => matches(shape) !== undefined && !goesWithRoot(inputs, mount))
  return (
    found && {
      code: 'HeldBy',
      message: `${found.path}, outside the root directory ${inputs.rootDir}, is a mount that has this volume's name`,
      hint: `Maybe a kubelet with another root directory mounted it. ${whoMounted(found.path)}`,
    }
  )
}

/**
 * Before a volume is set up a second time: volumes of the pod are mounted below another root directory, in which then all of it
 * lies, or this one is staged there for another pod.
 */
export const setUpOutside: Judge = (_, { wanted }, { inputs }) => {
  if (wanted === undefined) return undefined
  const { podUid, driver, handle, specName, deviceMountable } = wanted
  const found = indexOf(inputs)
    .byPod.get(podUid)
    ?.find(({ mount }) => !goesWithRoot(inputs, mount))
  if (found === undefined)
    return deviceMountable ? mountOutside(inputs, { driver, handle, names: [specName] }) : undefined
  return {
    code: 'HeldBy',
    message: `the pod has volumes outside the root directory ${inputs.rootDir}: ${found.path} is mounted`,
    hint: `If ${driver === undefined ? 'what mounts them' : `CSI driver ${driver}`} is configured with ${found.path.replace(/\/pods\/.*/, '')} as the kubelet's directory, configure it with ${inputs.rootDir}. If the root directory was moved while the pod runs, start the kubelet with the one that the pod's volumes are in, or delete the pod; then plan again.`,
  }
}

/** A copy by mount propagation, such as one in a container that shares the root directory, is judged with its original (R032). */
function goesWithRoot(inputs: ActualInputs, mount: MountInfo): boolean {
  return inputs.devices.leadersOf(mount).some(({ mountPoint }) => isWithin(inputs.plain(mountPoint), inputs.rootDir))
}

const indexOf = memoize((inputs: ActualInputs): Index => {
  const byKey = new Map<string, MountOutside[]>()
  const byName = new Map<string, MountOutside[]>()
  const byPod = new Map<string, Pick<MountOutside, 'mount' | 'path'>[]>()
  // Nearly all of a hundred thousand mounts are below the root directory.
  for (const mount of inputs.mounts.notBelow(inputs.rootDir)) {
    const path = inputs.plain(mount.mountPoint)
    const uid = podUidOf(path)
    if (uid !== undefined) append(byPod, uid, { mount, path })
    const shape = shapeOf(path)
    if (shape === undefined) continue
    const found = { mount, path, shape }
    if (shape.staged !== undefined) append(byKey, shape.staged.key, found)
    for (const name of shape.names) append(byName, name, found)
  }
  return { byKey, byName, byPod }
})
