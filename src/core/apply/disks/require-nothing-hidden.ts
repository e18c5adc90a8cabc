/**
 * Hidden file systems: still alive, but in no mount table, because somebody unmounted them lazily while a file was open (S20,
 * S21). Nothing shows any more which volume they belong to, so each may be any volume whose device is unknown.
 */

import type { HiddenFileSystem } from '../../block/hidden-file-systems.ts'
import { wholeDisk } from '../../block/whole-disk.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import { pause } from '../../processes/deadline.ts'
import type { StepContext } from '../operation/step-context.ts'
import { applyWith, NO_DEVICE } from './find-volume-device.ts'
import { nodesOwn } from './node-stack.ts'

/** A file system that is being unmounted leaves the table first, and looks hidden for a moment. */
const TRIES = 10
const PAUSE_MS = 100

/**
 * Refuses to touch a volume with an unknown device while a hidden file system may be that volume's. If the device was found
 * by name, only hidden file systems on that disk count.
 *
 * @throws OperationRefused HeldBy
 */
export async function requireNothingHidden(run: StepContext): Promise<void> {
  const { devices, found } = run.record
  if (devices.size > found.size) return
  const ofOthers = devicesOf(run)
  const mayBe = mayBeOn(run)
  for (let tries = 1; ; tries++) {
    const { table, others } = run.around
    const hidden = run.host
      .hiddenFileSystems([table, ...others.map((other) => other.table)])
      .find(({ dev }) => !ofOthers.has(dev) && mayBe(dev))
    if (hidden === undefined) return
    if (tries === TRIES || run.signal?.aborted) throw mayBeIts(run, hidden)
    await run.waiting.spend(() => pause(PAUSE_MS, run.signal))
    run.around.changed()
  }
}

function mayBeOn({ record, host, around, plan }: StepContext): (dev: string) => boolean {
  if (record.found.size === 0) return () => true
  const own = nodesOwn(around, plan.rootDir, host).devices
  const devices = new Set(wholeDisk(record.found, host.blockTree, { own, throughLvm: false }).map(({ dev }) => dev))
  return (dev) => devices.has(dev)
}

/** Devices of the plan's other operations: these may still be unmounting. */
function devicesOf({ plan }: StepContext): ReadonlySet<string> {
  const layers = plan.operations.flatMap(({ expects = [] }) => expects.flatMap((each) => each.layers))
  return new Set(layers.map(({ dev }) => dev))
}

function mayBeIts({ operation }: StepContext, { device, fsType }: HiddenFileSystem): OperationRefused {
  const volume = operation.volume?.name ?? 'the volume'
  return new OperationRefused(
    'HeldBy',
    `the ${fsType} file system on /dev/${device} is still in use but mounted nowhere, and may be that of ${volume}`,
    {
      hint: `It was unmounted lazily: end the process that has a file of it open, or mount /dev/${device} and unmount it again.${operation.kind === 'DetachVolume' ? ` If it is not this volume's: ${applyWith(operation, NO_DEVICE)}` : ''}`,
    },
  )
}
