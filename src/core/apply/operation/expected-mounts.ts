/** Are the mounts still those that the operation was decided on (S18, S26, S27). */

import { OperationRefused } from '../../errors/operation-error.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import type { Operation } from '../../plan/plan.ts'
import type { Surroundings } from './surroundings.ts'

const HINT = 'Plan again, and look at what has changed.'
/** Steps after which the place is expected to be no mount point any more, and below which nothing may be mounted. */
const UNDOING = new Set([
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
 * Layers that are gone already are fine: undoing is idempotent. A layer that nobody decided on, on a path of the
 * operation or below it, refuses it.
 *
 * @throws OperationRefused
 */
export function requireExpectedMounts(operation: Operation, around: Surroundings): void {
  const expected = expectedIds(operation)
  for (const path of targetsOf(operation)) {
    const stranger = [...around.table.at(path), ...around.below(path)].find((mount) => !isExpected(mount, expected))
    if (stranger !== undefined) {
      throw new OperationRefused('ForeignMount', `${describeMount(stranger)} is not what the plan was made on`, {
        hint: HINT,
      })
    }
  }
}

export function expectedIds(operation: Operation): Map<number, { readonly dev: string; readonly root: string }> {
  const layers = (operation.expects ?? []).flatMap((expected) => expected.layers)
  return new Map(layers.map(({ id, dev, root }) => [id, { dev, root }]))
}

/** The id may be given again after an unmount; with device and root it is the mount that was meant (S27). */
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
