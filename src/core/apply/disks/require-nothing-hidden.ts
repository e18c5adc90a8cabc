/**
 * File systems that live and that no mount table shows: detached lazily by somebody, with a file still open (S20, S21).
 * Whose they are nothing tells any more, so that they may be any volume's whose device is not known.
 */

import type { HiddenFileSystem } from '../../block/hidden-file-systems.ts'
import { wholeDisk } from '../../block/whole-disk.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import { pause } from '../../processes/deadline.ts'
import type { StepContext } from '../operation/step-context.ts'
import { nodesOwn } from './node-stack.ts'

/** A file system that is being unmounted just now has left the table, and is not hidden for long. */
const TRIES = 10
const PAUSE_MS = 100

/**
 * A volume of which nothing is mounted any more, so that its device is not known, is left alone while there is a file
 * system that may be its own: where the device was found by name, one that is on that disk.
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

/** Devices that the plan's other operations are about, which take as long as they take to go. */
function devicesOf({ plan }: StepContext): ReadonlySet<string> {
  const layers = plan.operations.flatMap(({ expects = [] }) => expects.flatMap((each) => each.layers))
  return new Set(layers.map(({ dev }) => dev))
}

function mayBeIts({ operation }: StepContext, { device, fsType }: HiddenFileSystem): OperationRefused {
  const volume = operation.volume?.name ?? 'the volume'
  return new OperationRefused(
    'HeldBy',
    `an ${fsType} file system on ${device} is mounted nowhere and still in use, and may be that of ${volume}`,
    {
      hint: `It was detached lazily: end what has files of it open, or mount ${device} and unmount it again.${operation.kind === 'DetachVolume' ? ` If it is not this volume's, give --device ${volume}=none.` : ''}`,
    },
  )
}
