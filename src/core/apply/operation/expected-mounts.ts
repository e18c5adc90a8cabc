/** Checks that the mounts are still those that the operation was planned for (S18, S26, S27). */

import { OperationRefused } from '../../errors/operation-error.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import type { Operation, StepOp } from '../../plan/plan.ts'
import type { Surroundings } from './surroundings.ts'

const HINT = 'Plan again, and look at what has changed.'
/** After these steps the target must not be a mount point any more, and nothing may be mounted below it. */
const UNDOING: ReadonlySet<StepOp> = new Set([
  'umount',
  'rmdir',
  'unlink',
  'deleteContent',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'flexUnmount',
  'flexUnmountDevice',
])

/**
 * Mounts that are already gone are fine: unmounting is idempotent. A mount that was not there when the plan was made, on a
 * path of the operation or below it, refuses the operation.
 *
 * @throws OperationRefused
 */
export function requireExpectedMounts(operation: Operation, around: Surroundings): void {
  const expected = expectedIds(operation)
  for (const path of targetsOf(operation)) {
    const stranger = [...around.table.at(path), ...around.below(path)].find((mount) => !isExpected(mount, expected))
    if (stranger !== undefined) {
      throw new OperationRefused('ForeignMount', `${describeMount(stranger)} was not there when the plan was made`, {
        hint: HINT,
      })
    }
  }
}

export function expectedIds(operation: Operation): Map<number, { readonly dev: string; readonly root: string }> {
  const layers = (operation.expects ?? []).flatMap((expected) => expected.layers)
  return new Map(layers.map(({ id, dev, root }) => [id, { dev, root }]))
}

/** A mount id may be reused after an unmount, so device and root are compared as well (S27). */
export function isExpected(mount: MountInfo, expected: ReturnType<typeof expectedIds>): boolean {
  const layer = expected.get(mount.id)
  return layer !== undefined && layer.dev === mount.dev && layer.root === mount.root
}

export function describeMount(mount: MountInfo): string {
  return `${mount.fsType} mount ${mount.id} of ${mount.source || 'no source'} on ${mount.mountPoint}`
}

function targetsOf(operation: Operation): ReadonlySet<string> {
  const targets = operation.steps.filter(({ op }) => UNDOING.has(op)).map(({ target }) => target)
  return new Set([...targets, ...(operation.expects ?? []).map(({ path }) => path)])
}
