/** The device, or the directory, that a step mounts or maps (P66). */

import { StepFailed } from '../../base/operation-error.ts'
import { escapeQualifiedName } from '../../facts/actual/volume-names.ts'
import { nodeOf } from '../../linux/block/whole-disk.ts'
import { goesWith } from '../../linux/propagation.ts'
import type { Operation, Step } from '../../plan/plan.ts'
import { loopsOn } from '../../rules/disk-users.ts'
import { describeMount, describeMountIn } from '../../rules/expected-mounts.ts'
import { lookAtPath, resolvePath } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'

export interface FoundDevice {
  /** A device node, links resolved. */
  readonly path: string
  /** "major:minor" */
  readonly number: string
}

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
  return new StepFailed('InvalidPath', `${source === '' ? 'the device' : source} ${why}`)
}

// Whether a device is free to be mounted: nothing but this volume may use it (S22, S30).

/**
 * Pods of this node may still have the volume mounted although its global mount is gone (O31). Then mounting the file system
 * once more is safe.
 *
 * @returns whether the volume is mounted in a pod's directory
 * @throws StepFailed HeldBy, naming who has the device
 */
export async function requireIdle(device: FoundDevice, run: StepContext): Promise<boolean> {
  const { around, host, operation, plan } = run
  const mounts = around.table.ofDevice(device.number)
  const own = mounts.filter(({ mountPoint }) => isOwnPath(mountPoint, operation, plan.rootDir))
  const stranger = mounts.find((mount) => !own.some((each) => each === mount || goesWith(around.table, each, mount)))
  if (stranger !== undefined) throw deviceInUse(device, describeMount(stranger))
  if (mounts.length > 0) return true
  for (const other of around.others) {
    const [mount] = other.table.ofDevice(device.number)
    if (mount !== undefined) throw deviceInUse(device, describeMountIn(mount, other, run.context.nameOf))
  }
  const [loop] = await loopsOn([{ ...nodeOf(device.number, host.blockTree), on: device.path, isBelow: false }], run)
  if (loop !== undefined) throw deviceInUse(device, loop.who)
  const users = host.deviceUse(device.number).users
  if (users.length > 0) throw deviceInUse(device, users.join(', '))
  return false
}

/** True for a path of this volume in any pod, sub-paths included. */
function isOwnPath(path: string, { volume }: Operation, rootDir: string): boolean {
  const prefix = `${rootDir}/pods/`
  if (volume === undefined || !path.startsWith(prefix)) return false
  const [, kind, ...rest] = path.slice(prefix.length).split('/')
  if (kind === 'volume-subpaths') return rest[0] === volume.name
  return kind === 'volumes' && rest[0] === escapeQualifiedName(volume.plugin) && rest[1] === volume.name
}

export function deviceInUse({ path }: FoundDevice, who: string): StepFailed {
  return new StepFailed('HeldBy', `${path} is in use: ${who}`, {
    hint: 'Stop that use, or correct the PersistentVolume; then plan again.',
  })
}
