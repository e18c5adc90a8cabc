/**
 * Who keeps mounts busy, before anyone tries to unmount them. The kernel refuses while anything has the mount itself, or a copy
 * that goes with it: whoever uses the same file system through another mount is no holder here.
 */
import type { VolctlErrorOptions } from '../../base/errors.ts'
import { StepFailed } from '../../base/operation-error.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { goesWith } from '../../linux/propagation.ts'
import type { Operation, StepOp } from '../../plan/plan.ts'
import { shownVolume } from '../../plan/plan-names.ts'
import { podName } from '../../plan/pod-name.ts'
import { userAmong } from '../../users/describe-holders.ts'
import { heldByKernel, type KernelFiles, together } from '../../users/find-holders.ts'
import { expectedIds, isReleased } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

const UNMOUNTING: ReadonlySet<StepOp> = new Set<StepOp>([
  'umount',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'flexUnmount',
  'flexUnmountDevice',
])

/** "major:minor" of the file systems that an operation unmounts. */
export function fileSystemsToUnmount(run: StepContext): string[] {
  return layersToUnmount(run).map(({ dev }) => dev)
}

/**
 * Processes, loop devices and swap files that keep what is to be unmounted. What else keeps a mount (a bound socket), umount(8) finds: it
 * changes nothing that is busy.
 *
 * @param kernel for all operations of a look
 * @throws StepFailed HeldBy
 */
export async function requireNotBusy(run: StepContext, kernel: () => KernelFiles): Promise<void> {
  const layers = layersToUnmount(run)
  if (layers.length === 0) return
  const { around, context, operation } = run
  const fileSystems = new Set(layers.map(({ dev }) => dev))
  const uses = await around.uses({ fileSystems })
  const processes = uses.keeping((id) => goesWithOne(id, layers, run))
  const files = kernel()
  const held = heldByKernel(
    layers.map(({ mountPoint }) => mountPoint),
    { ...files, loops: files.loops.filter((loop) => !isReleased(loop, operation)) },
  )
  const user = userAmong(together([{ processes }, held]), context.nameOf)
  if (user !== undefined && 'who' in user) throw inUse(operation, user.who, user)
}

/** @param who for messages; empty: nobody was found */
export function inUse(
  operation: Operation,
  who: string,
  given: Pick<VolctlErrorOptions, 'users'> & { readonly hint?: string | undefined },
): StepFailed {
  const { hint, users = [] } = given
  const { volume, pod, paths } = operation
  const what = volume === undefined ? (paths[0] ?? '') : shownVolume(operation)
  const name = pod === undefined || volume === undefined ? what : `${what} of ${podName(pod)}`
  return new StepFailed('HeldBy', `${name} is in use${who === '' ? '' : ` by ${who}`}`, { hint, users })
}

/** As the plan expects them. What a forced umount cuts off shows only afterwards who still has it. */
function layersToUnmount({ operation, around }: StepContext): MountInfo[] {
  const targets = new Set(
    operation.steps.flatMap(({ op, target, detail }) => (UNMOUNTING.has(op) && detail !== 'force' ? [target] : [])),
  )
  const expected = expectedIds(operation)
  return [...targets].flatMap((path) => around.table.at(path).filter(({ id }) => expected.has(id)))
}

/** The mount is one of these, or goes away with one. Ids are the kernel's, one for a mount in whichever namespace. */
function goesWithOne(id: number, layers: readonly MountInfo[], { around: { table, others } }: StepContext): boolean {
  if (layers.some((layer) => layer.id === id)) return true
  return [table, ...others.map((other) => other.table)].some((of) => {
    const mount = of.byId(id)
    return mount !== undefined && layers.some((layer) => goesWith(table, layer, mount, of))
  })
}
