/**
 * Volumes that are set up outside the root directory (S8): staged or published below its former path, by a second kubelet, or
 * below a link. No phase decides on them, so they count as in use.
 */

import { memoize } from '../base/memoize.ts'
import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { whoMounted } from '../linux/mount-words.ts'
import { isWithin } from '../linux/paths.ts'
import type { Obstacle } from '../plan/draft.ts'
import { type SoughtVolume, shapedMounts, shapeMatcher } from '../volumes/volume-shapes.ts'
import type { Judge } from './rule.ts'

/** Anything that is mounted outside the root directory under a path of this volume. */
export const mountedOutside: Judge = (_, { sought }, { inputs }) => sought && mountOutside(inputs, sought)

function mountOutside(inputs: ActualInputs, sought: SoughtVolume): Obstacle | undefined {
  const matches = shapeMatcher(sought)
  const all = outside(inputs).filter(({ mount, shape }) => shape && matches(shape) && !goesWithRoot(inputs, mount))
  const found = all.find(({ shape }) => shape && matches(shape) === 'handle') ?? all[0]
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
  const found = outside(inputs).find((each) => each.podUid === podUid && !goesWithRoot(inputs, each.mount))
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

/** Nearly all of a hundred thousand mounts are below the root directory, and few of the others have such a path. */
const outside = memoize((inputs: ActualInputs) => shapedMounts(inputs.mounts.notBelow(inputs.rootDir)))
