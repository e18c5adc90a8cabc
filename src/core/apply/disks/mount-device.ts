/** A device's global mount: the file system is identified, checked and mounted, and never formatted (P66, P67, P128; S15). */

import { type MountInfo, whoMounted } from '../../linux/mount-table.ts'
import { isStuck } from '../../linux/undo.ts'
import { StepFailed, said } from '../../messages/findings.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import type { Host } from '../../rules/host.ts'
import type { FoundDevice } from '../../rules/machine-facts.ts'
import { perRun } from '../../trust/run.ts'
import type { Step, StepOf } from '../../volumes/steps.ts'
import { MountFailed, mountAlone } from '../mounts/mount-step.ts'
import { makeDirectory } from '../operation/make-directory.ts'
import { lookAtPath, requireRulesOf, resolvePath, type StepContext } from '../operation/step.ts'
import { orTakeBack } from '../operation/take-back.ts'
import { checkFileSystem, fileSystemOn } from './probe-device.ts'

const DEFAULT_TYPE = 'ext4'

/**
 * Mounts the step's device on `target`; if it is already mounted there, that mount is used. A directory as source needs no mount.
 * `bringUp.source` is then the source of the pod's bind mount.
 */
export async function mountDevice(step: StepOf<'mountDevice'>, run: StepContext): Promise<void> {
  const source = sourceOf(step, run)
  const found = await lookAtSource(source, run)
  if (found === 'directory') {
    run.bringUp.source = source
    return
  }
  run.bringUp.device = found.path
  run.bringUp.source = step.target
  await oneAtATime(found.number, run, async () => {
    if (isThere(step.target, found, run)) return
    makeDirectory({ op: 'mkdir', target: step.target }, run)
    await requireRulesOf('mount', { target: { path: step.target } }, run)
    await mountChecked(step, found, run)
  })
}

/** @throws StepFailed ForeignMount if anything else is mounted there */
function isThere(target: string, device: FoundDevice, { around, host }: StepContext): boolean {
  const layers = around.table.reached(target)
  const stranger = layers.find((layer) => !isOfDevice(layer, device, host))
  if (stranger === undefined) return layers.length > 0
  throw isInstead(stranger, device, target)
}

/** Something else is mounted where the device should be. */
export function isInstead(stranger: MountInfo, { path }: FoundDevice, target: string): StepFailed {
  const hint = whoMounted(target)
  return new StepFailed(said('ForeignMount.instead', { mount: describeMount(stranger), path }), { hint })
}

/** True for a mount of this device. Btrfs and the like have their own device number, and a device as source. */
export function isOfDevice({ dev, root, source }: MountInfo, { number }: FoundDevice, host: Host): boolean {
  if (root !== '/') return false
  return dev === number || (dev.startsWith('0:') && source.startsWith('/dev/') && host.deviceNumber(source) === number)
}

async function mountChecked(step: StepOf<'mountDevice'>, device: FoundDevice, run: StepContext): Promise<void> {
  const { fsType: wanted = DEFAULT_TYPE, options = [] } = step
  await requireRulesOf('device', { device }, run)
  // Pods of this node may still have the volume mounted although its global mount is gone (O31).
  const isShared = run.around.table.ofDevice(device.number).length > 0
  const there = await fileSystemOn(device.path, wanted, run)
  if (there !== wanted) run.say(`${device.path} has a ${there} file system, but the volume asks for ${wanted}`)
  // A mounted file system must not be checked.
  const checked = options.includes('ro') || isShared ? undefined : await checkFileSystem(device.path, run)
  if (checked !== undefined) run.say(checked)
  const whole = { ...step, source: device.path, fsType: wanted }
  try {
    const args = ['-t', wanted, '-o', [...options, 'defaults'].join(','), device.path, step.target]
    await mountAlone(whole, run, args, () => isThere(step.target, device, run))
  } catch (error) {
    if (there === wanted || !(error instanceof MountFailed)) throw error
    const hint = `If the data on it is the volume's, set fsType ${there} in the PersistentVolume; then plan again.`
    throw new StepFailed(said('FilesystemUnfit.other', { message: error.message, path: device.path, there, wanted }), {
      cause: error,
      hint,
    })
  }
}

// One operation at a time on a device: volumes of several names may share it (S30).

/** The last work on each device, by its number; resolves to whether a call of it may still be running. */
const lastCalls = perRun(() => new Map<string, Promise<boolean>>())

/**
 * Does the work once no other work of this run is on the device, so that checked facts do not change meanwhile.
 *
 * @param number "major:minor"
 * @throws StepFailed StillAtWork if an earlier call was abandoned; errors of the work
 */
export async function oneAtATime<T>(number: string, run: StepContext, work: () => Promise<T>): Promise<T> {
  const last = lastCalls()
  const before = last.get(number)
  const mine = (async () => {
    if (await before) {
      throw new StepFailed(said('StillAtWork.device', { number }), {
        stuck: true,
      })
    }
    if (before !== undefined) run.around.changed()
    // Before the next comes to the device.
    return await orTakeBack(run, work)
  })()
  const ended = mine.then(() => false, isStuck)
  last.set(number, ended)
  // A call that may still be running is remembered until the apply ends.
  if (!(await ended) && last.get(number) === ended) last.delete(number)
  return mine
}

// The device, or the directory, that a step mounts or maps (P66).

/** The source that the step names, otherwise the device that an earlier step has found; empty: there is neither. */
export function sourceOf({ source }: Step, { bringUp }: StepContext): string {
  return source ?? bringUp.device ?? ''
}

/** @throws StepFailed InvalidPath if it is neither a device nor a directory, TimedOut */
export async function lookAtSource(source: string, run: StepContext): Promise<FoundDevice | 'directory'> {
  if (!source.startsWith('/')) throw unusable(source, 'is not an absolute path')
  const found = await lookAtPath(source, run)
  if (found === undefined) throw unusable(source, 'does not exist')
  if (found.type === 'dir') return 'directory'
  if (found.type !== 'block') throw unusable(source, 'is neither a directory nor a block device')
  return { path: await resolvePath(source, run), number: found.device }
}

/** @throws StepFailed InvalidPath if it is not a device, TimedOut */
export async function deviceOfSource(source: string, run: StepContext): Promise<FoundDevice> {
  const found = await lookAtSource(source, run)
  if (found === 'directory') throw unusable(source, 'is a directory, but the volume needs a block device')
  return found
}

function unusable(source: string, why: string): StepFailed {
  return new StepFailed(said('InvalidPath.device', { source: source === '' ? 'the device' : source, why }))
}
