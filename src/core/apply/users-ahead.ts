/**
 * Who uses what a plan would take away, asked before the plan calls it ready: by the conditions of apply, which asks them again right
 * before each operation (S26). What operations that come first take away is no use. One look at all processes serves all.
 */

import { errorMessage, VolctlError } from '../base/errors.ts'
import { lazy, memoize } from '../base/memoize.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { StepInterrupted } from '../base/operation-error.ts'
import type { InUse } from '../facts/actual/snapshot.ts'
import type { VolumeAttachment } from '../kube/api/objects.ts'
import type { BlockNode } from '../linux/block/block-tree.ts'
import { pause } from '../linux/deadline.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { linuxHost } from '../node/linux-host.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import { targetOf } from '../plan/operation-key.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import type { ContentLook } from '../users/content-look.ts'
import { describeProcesses, usingProcess } from '../users/describe-holders.ts'
import { fileSystemsAt, kernelFiles } from '../users/find-holders.ts'
import { hostPathsOf } from '../users/host-paths.ts'
import { loopFiles } from '../users/kernel-files.ts'
import { Uses } from '../users/uses.ts'
import { requireDetachable } from './detach/detach.ts'
import { disksToDetach, volumeInUse } from './disks/detach-devices.ts'
import { numbersOf } from './disks/disk-users.ts'
import { noteOverlays } from './disks/file-system-users.ts'
import { findDetachDevice, findStagedDevice } from './disks/find-volume-device.ts'
import { questionFor, takesDevice } from './disks/require-device-unused.ts'
import { VolumeRecords } from './disks/volume-records.ts'
import { fileSystemsToUnmount, requireNotBusy } from './mounts/busy-mounts.ts'
import { requireRemovable } from './mounts/remove.ts'
import { isEmptyDir } from './operation/empty-dir.ts'
import type { ApplyContext, Witness } from './operation/ports.ts'
import { unfinished } from './operation/preconditions.ts'
import { processReaderOf } from './operation/process-reader-of.ts'
import type { StepContext } from './operation/step-context.ts'
import { type Asking, Surroundings } from './operation/surroundings.ts'
import { WaitingBudget } from './operation/waiting-budget.ts'
import { requireNobody } from './require-nobody.ts'

/** As long as apply waits for who only passes by, and for a file system that has just left the table. */
const AGAIN_MS = 1000

/** For one operation: nothing here waits for a driver. */
const LIMIT_MS = 15_000

export interface Seen {
  /** Of the same look as the plan, as all of this is. */
  readonly witness: Witness
  /** Of this node. */
  readonly attachments: readonly VolumeAttachment[]
  readonly mounts: MountTable
}

/**
 * Nothing is read where the plan takes nothing away. Whoever is found is looked for once more a moment later: a program that only
 * lists files or devices is gone by then.
 *
 * @param blocked judge blocked operations, too: other flags may free them
 */
export async function checkInUse(
  plan: Plan,
  context: ApplyContext,
  seen: Seen,
  { blocked = false }: { readonly blocked?: boolean } = {},
): Promise<InUse[]> {
  const taking = plan.operations.filter((each) => TAKING_AWAY.has(each.kind) && (blocked || each.blocked === undefined))
  if (taking.length === 0) return []
  const first = await usersOf(taking, plan, context, seen)
  if (first.size === 0) return []
  await pause(AGAIN_MS, context.signal)
  const again = await usersOf(taking, plan, context, { ...seen, mounts: context.readMounts() }, first)
  return [...again.values()]
}

/** One look, as every operation sees it: nothing changes meanwhile, and processes are asked once for all. */
class OneLook extends Surroundings {
  #asked: Asked = { fileSystems: new Set(), devices: new Set() }

  override changed(): void {}

  /** What will be asked for. */
  expect(fileSystems: ReadonlySet<string>, devices: ReadonlySet<string>): void {
    this.#asked = { fileSystems, devices }
  }

  /** Taken once more, of all, if more is asked for (a volume whose device is unknown). */
  override async uses({ fileSystems = [], devices = [] }: Asking): Promise<Uses> {
    const before = this.#asked
    const wanted = { fileSystems: new Set(fileSystems), devices: new Set(devices) }
    // What nobody can see is of no matter to who asks about nothing.
    if (wanted.fileSystems.size + wanted.devices.size === 0) return new Uses([], [this.table], [])
    if (!wanted.fileSystems.isSubsetOf(before.fileSystems) || !wanted.devices.isSubsetOf(before.devices))
      this.expect(before.fileSystems.union(wanted.fileSystems), before.devices.union(wanted.devices))
    this.#asked.uses ??= super.uses(this.#asked)
    return this.#asked.uses
  }
}

interface Asked {
  readonly fileSystems: ReadonlySet<string>
  readonly devices: ReadonlySet<string>
  uses?: Promise<Uses>
}

/**
 * Those that are in use, by the conditions of apply and facts as they will be.
 *
 * @param among judges these; what is known of a volume comes from all operations on it
 */
async function usersOf(
  operations: readonly Operation[],
  plan: Plan,
  given: ApplyContext,
  { witness, attachments, mounts }: Seen,
  among: { has(operation: Operation): boolean } = new Set(operations),
): Promise<Map<Operation, InUse>> {
  const { cluster, host = linuxHost } = given
  const known = new Map(attachments.map((attachment) => [attachment.metadata.name, attachment]))
  const getVolumeAttachment = async (name: string) => known.get(name) ?? cluster.getVolumeAttachment(name)
  const context: ApplyContext = { ...given, readMounts: () => mounts, cluster: { ...cluster, getVolumeAttachment } }
  const around = new OneLook(context, host, plan.rootDir)
  const records = new VolumeRecords(plan, host)
  // "major:minor" of the file systems on which content would be deleted.
  const contentOn = [...fileSystemsAt(mounts, operations.filter(deletesContent).flatMap(targetsOf))]
  const users = lazy(async (): Promise<ContentLook> => {
    const named = hostPathsOf(unfinished(witness))
    return host.lookForUsers({ ...(await around.toSearch(contentOn)), named, reader: processReaderOf(context) })
  })
  const begin = (operation: Operation): StepContext => ({
    ...{ operation, around, plan, context, host },
    journal: { write: () => {}, [Symbol.dispose]: () => {} },
    waiting: new WaitingBudget(LIMIT_MS),
    signal: ALREADY_ABORTED,
    record: records.of(operation, () => mounts),
    bringUp: {},
    users,
    say: () => {},
  })
  const runs = operations.map(begin)
  await askFor(runs, contentOn, witness, around)
  const byId = new Map(plan.operations.map((operation) => [operation.id, operation]))
  const kernel = lazy(() => kernelFiles(around.loops, mounts))
  const found = new Map<Operation, InUse>()
  for (const run of runs.filter(({ operation }) => among.has(operation))) {
    try {
      await requireNotBusy(run, kernel)
      const before = allBefore(run.operation, byId)
      const whole = after(run, before)
      requireRemovable(whole)
      if (run.operation.kind === 'DetachVolume') await requireDetachableAfter(whole, before)
      else await requireNobody(whole.operation, whole, witness)
    } catch (error) {
      if (error instanceof StepInterrupted) throw error
      found.set(run.operation, inUseBy(run.operation, error))
    }
  }
  return found
}

/** Asks once for all that these operations would ask for. */
async function askFor(
  runs: readonly StepContext[],
  contentOn: readonly string[],
  witness: Witness,
  around: OneLook,
): Promise<void> {
  const fileSystems = new Set(contentOn)
  const devices = new Set<string>()
  for (const run of runs) {
    for (const dev of fileSystemsToUnmount(run)) fileSystems.add(dev)
    // What cannot be found out is a finding when the operation is judged.
    const disks = await disksOf(run, witness).catch(() => NO_DISKS)
    for (const dev of disks.fileSystems) fileSystems.add(dev)
    for (const node of disks.nodes) for (const dev of numbersOf(node)) devices.add(dev)
  }
  around.expect(fileSystems, devices)
}

async function disksOf(run: StepContext, witness: Witness): Promise<Disks> {
  const { operation } = run
  noteOverlays(run)
  if (operation.kind === 'DetachVolume' && operation.attachment !== undefined) {
    await findDetachDevice(run, operation.attachment)
    const { nodes, fileSystems, directories } = disksToDetach(run)
    return { nodes, fileSystems: [...nodes, ...fileSystems, ...directories].map(({ dev }) => dev) }
  }
  if (!takesDevice(operation)) return NO_DISKS
  await findStagedDevice(run)
  return { nodes: questionFor(run, witness).nodes, fileSystems: [] }
}

async function requireDetachableAfter(run: StepContext, before: readonly Operation[]): Promise<void> {
  const bound = run.operation.attachment
  if (bound === undefined) return
  if (before.some(({ steps }) => steps.some(({ op }) => op === 'NodeUnstageVolume'))) run.record.unstaged = true
  if (before.length > 0) await requireNobodyOn(run)
  await requireDetachable(run, bound, () => run.context.cluster.getVolumeAttachment(bound.name))
}

/**
 * After the last unmount the kernel says whether a file system on the disk is still alive, but not for whom. This names
 * those who will keep it alive without a mount that anybody sees.
 */
async function requireNobodyOn(run: StepContext): Promise<void> {
  const devices = disksToDetach(run).nodes.map(({ dev }) => dev)
  const uses = await run.around.uses({ fileSystems: devices })
  const [process] = uses.detached(devices)
  if (process !== undefined)
    throw volumeInUse(run.operation, {
      who: describeProcesses([process], run.context.nameOf).join(),
      users: [usingProcess(process)],
    })
  const { loops } = await loopFilesOf(run.around)
  const loop = loops.find(({ file }) => file !== undefined && devices.includes(file.dev))
  if (loop !== undefined) throw volumeInUse(run.operation, { who: `${loop.device}, backed by ${loop.backingFile}` })
}

const loopFilesOf = memoize((_: Surroundings) => loopFiles())

/** As it will be once these have run. While the volume is mounted or mapped, an exclusive open of its device says nothing. */
function after(run: StepContext, before: readonly Operation[]): StepContext {
  if (before.length === 0) return run
  const { expects = [], steps } = run.operation
  const released = before.flatMap((each) => each.steps.filter(({ op }) => op === 'losetup -d'))
  const operation = {
    ...run.operation,
    steps: [...released, ...steps],
    expects: [...expects, ...before.flatMap((each) => each.expects ?? [])],
  }
  return { ...run, operation, isAhead: true }
}

/** All that come first, those before them included. */
function allBefore({ after: ids }: Operation, byId: ReadonlyMap<string, Operation>): readonly Operation[] {
  const found = new Set<Operation>()
  const left = [...ids]
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const operation = byId.get(id)
    if (operation === undefined || found.has(operation)) continue
    found.add(operation)
    left.push(...operation.after)
  }
  return [...found]
}

/** Whoever is found is asked for once more, with all others. */
const ALREADY_ABORTED = AbortSignal.abort()

interface Disks {
  readonly nodes: readonly BlockNode[]
  readonly fileSystems: readonly string[]
}

const NO_DISKS: Disks = { nodes: [], fileSystems: [] }

/** Whoever has a name in it counts, too (S12). */
function deletesContent(operation: Operation): boolean {
  return isEmptyDir(operation) || operation.steps.some(({ op }) => op === 'deleteContent')
}

const targetsOf = ({ steps }: Operation): string[] =>
  steps.flatMap(({ target }) => (target.startsWith('/') ? [target] : []))

const CODES: readonly string[] = ['HeldBy', 'UsersUnknown', 'DeviceUnknown'] satisfies InUse['code'][]

/** What could not be asked counts as in use (S3). */
function inUseBy(operation: Operation, error: unknown): InUse {
  const about = { kind: operation.kind, target: targetOf(operation) }
  if (error instanceof VolctlError && CODES.includes(error.code)) {
    const { code, message, hint, users } = error
    return {
      ...about,
      code: code as InUse['code'],
      message,
      ...omitUndefined({ hint }),
      ...(users.length > 0 && { users }),
    }
  }
  return {
    ...about,
    code: 'UsersUnknown',
    message: `who uses ${about.target} could not be determined: ${errorMessage(error)}`,
    hint: 'Plan again; volctl takes nothing away that may be in use.',
  }
}
