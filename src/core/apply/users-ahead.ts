/**
 * Who uses what a plan would take away, asked before the plan calls it ready: by the conditions of apply, which asks them again right
 * before each operation (S26). What operations that come first take away is no use. One look at all processes serves all.
 */
import type { BlockNode } from '../block/block-tree.ts'
import { errorMessage, VolctlError } from '../errors/errors.ts'
import { StepInterrupted } from '../errors/operation-error.ts'
import type { ProcessReader, ProcessSearch } from '../holders/ask-processes.ts'
import type { ContentLook, ContentSearch } from '../holders/content-look.ts'
import { describeProcesses, usingProcess } from '../holders/describe-holders.ts'
import { fileSystemsAt, type KernelFiles, kernelFiles } from '../holders/find-holders.ts'
import { hostPathsOf } from '../holders/host-paths.ts'
import { type LoopFiles, loopFiles } from '../holders/kernel-files.ts'
import { Uses } from '../holders/uses.ts'
import type { Host } from '../host/host.ts'
import { linuxHost } from '../host/linux-host.ts'
import { defined } from '../lang/defined.ts'
import type { VolumeAttachment } from '../model/objects.ts'
import type { InUse } from '../model/snapshot.ts'
import { placeOf } from '../mountinfo/linked-mounts.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import { targetOf } from '../plan/taken-by.ts'
import { pause } from '../processes/deadline.ts'
import type { OtherNamespace } from '../processes/mount-namespaces.ts'
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
import { Surroundings } from './operation/surroundings.ts'
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
export async function usersAhead(
  plan: Plan,
  context: ApplyContext,
  seen: Seen,
  { blocked = false }: { readonly blocked?: boolean } = {},
): Promise<InUse[]> {
  const taking = plan.operations.filter((each) => TAKING_AWAY.has(each.kind) && (blocked || each.blocked === undefined))
  if (taking.length === 0) return []
  const first = await usersOf(taking, new Ahead(plan, taking, context, seen, seen.mounts))
  if (first.size === 0) return []
  await pause(AGAIN_MS, context.signal)
  const again = await usersOf([...first.keys()], new Ahead(plan, taking, context, seen, context.readMounts()))
  return [...again.values()]
}

/** Those that are in use. */
async function usersOf(operations: readonly Operation[], ahead: Ahead): Promise<Map<Operation, InUse>> {
  const found = new Map<Operation, InUse>()
  await ahead.ask()
  for (const operation of operations) {
    const inUse = await ahead.judge(operation)
    if (inUse !== undefined) found.set(operation, inUse)
  }
  return found
}

/** One look, as every operation sees it. */
class Ahead {
  readonly #plan: Plan
  readonly #operations: readonly Operation[]
  readonly #seen: Seen
  readonly #context: ApplyContext
  readonly #real: Host
  readonly #host: Host
  readonly #table: MountTable
  readonly #around: Surroundings
  readonly #records: VolumeRecords
  readonly #begun = new Map<Operation, StepContext>()
  readonly #byId: ReadonlyMap<string, Operation>
  readonly #reader: ProcessReader
  /** "major:minor" of the file systems on which content would be deleted. */
  readonly #contentOn: readonly string[]
  readonly #others: () => readonly OtherNamespace[]
  #asked: Asked = { fileSystems: new Set(), devices: new Set() }
  #users: Promise<ContentLook> | undefined
  #loops: Promise<LoopFiles> | undefined
  #kernel: KernelFiles | undefined

  constructor(plan: Plan, operations: readonly Operation[], context: ApplyContext, seen: Seen, table: MountTable) {
    const host = context.host ?? linuxHost
    let others: readonly OtherNamespace[] | undefined
    let loops: ReturnType<Host['loops']> | undefined
    this.#others = () => {
      others ??= host.otherNamespaces()
      return others
    }
    this.#contentOn = [...fileSystemsAt(table, operations.filter(deletesContent).flatMap(targetsOf))]
    this.#real = host
    this.#plan = plan
    this.#operations = operations
    this.#seen = seen
    this.#table = table
    this.#reader = processReaderOf(context)
    this.#host = Object.assign(Object.create(host) as Host, {
      otherNamespaces: this.#others,
      loops: () => {
        loops ??= host.loops()
        return loops
      },
      // A link among the kubelet's directories may lead anywhere by now (S36).
      lstat: (path, view) => host.lstat(view === undefined ? placeOf(table, path) : path, view),
      readSmallFile: (path) => host.readSmallFile(placeOf(table, path)),
      askProcesses: (search: Asking) => this.#askProcesses(search),
      lookForUsers: async (search: ContentSearch) =>
        host.lookForUsers({ ...search, others: this.#others(), processes: await this.#askProcesses(search) }),
    } satisfies Partial<Host>)
    this.#context = {
      ...context,
      host: this.#host,
      readMounts: () => table,
      cluster: { ...context.cluster, getVolumeAttachment: (name) => this.#attachment(name, context) },
    }
    this.#around = new Surroundings(this.#context, this.#host, plan.rootDir)
    this.#records = new VolumeRecords(plan, this.#host)
    this.#byId = new Map(plan.operations.map((operation) => [operation.id, operation]))
  }

  /** Asks once for all that these operations would ask for. */
  async ask(): Promise<void> {
    const fileSystems = new Set(this.#contentOn)
    const devices = new Set<string>()
    for (const operation of this.#operations) {
      const run = this.#begin(operation)
      for (const dev of fileSystemsToUnmount(run)) fileSystems.add(dev)
      // What cannot be found out is a finding when the operation is judged.
      const disks = await this.#disksOf(run).catch(() => NO_DISKS)
      for (const dev of disks.fileSystems) fileSystems.add(dev)
      for (const node of disks.nodes) for (const dev of numbersOf(node)) devices.add(dev)
    }
    this.#asked = { fileSystems, devices }
  }

  async #disksOf(run: StepContext): Promise<Disks> {
    const { operation } = run
    noteOverlays(run)
    if (operation.kind === 'DetachVolume' && operation.attachment !== undefined) {
      await findDetachDevice(run, operation.attachment)
      const { nodes, fileSystems, directories } = disksToDetach(run)
      return { nodes, fileSystems: [...nodes, ...fileSystems, ...directories].map(({ dev }) => dev) }
    }
    if (!takesDevice(operation)) return NO_DISKS
    await findStagedDevice(run)
    return { nodes: questionFor(run, this.#seen.witness).nodes, fileSystems: [] }
  }

  async judge(operation: Operation): Promise<InUse | undefined> {
    try {
      const run = this.#begin(operation)
      await requireNotBusy(run, () => (this.#kernel ??= kernelFiles(this.#host.loops(), this.#table)))
      const before = this.#before(operation)
      const whole = this.#after(run, before)
      requireRemovable(whole)
      if (operation.kind === 'DetachVolume') await this.#requireDetachable(whole, before)
      else await requireNobody(whole.operation, whole, this.#seen.witness)
      return undefined
    } catch (error) {
      if (error instanceof StepInterrupted) throw error
      return inUseBy(operation, error)
    }
  }

  async #requireDetachable(run: StepContext, before: readonly Operation[]): Promise<void> {
    const bound = run.operation.attachment
    if (bound === undefined) return
    if (before.some(({ steps }) => steps.some(({ op }) => op === 'NodeUnstageVolume'))) run.record.unstaged = true
    if (before.length > 0) await this.#requireNobodyOn(run)
    await requireDetachable(run, bound, () => run.context.cluster.getVolumeAttachment(bound.name))
  }

  /**
   * After the last unmount the kernel says whether a file system on the disk is still alive, but not for whom. This names
   * those who will keep it alive without a mount that anybody sees.
   */
  async #requireNobodyOn(run: StepContext): Promise<void> {
    const devices = disksToDetach(run).nodes.map(({ dev }) => dev)
    const uses = await this.#askProcesses({ fileSystems: devices })
    const [process] = uses.detached(devices)
    if (process !== undefined)
      throw volumeInUse(run.operation, {
        who: describeProcesses([process], run.context.nameOf).join(),
        users: [usingProcess(process)],
      })
    this.#loops ??= loopFiles()
    const loop = (await this.#loops).loops.find(({ file }) => file !== undefined && devices.includes(file.dev))
    if (loop !== undefined) throw volumeInUse(run.operation, { who: `${loop.device}, backed by ${loop.backingFile}` })
  }

  #begin(operation: Operation): StepContext {
    const known = this.#begun.get(operation)
    if (known !== undefined) return known
    const around = this.#around
    const run: StepContext = {
      operation,
      around,
      plan: this.#plan,
      context: this.#context,
      host: this.#host,
      journal: { write: () => {}, [Symbol.dispose]: () => {} },
      waiting: new WaitingBudget(LIMIT_MS),
      signal: NOBODY_IS_WAITED_FOR,
      record: this.#records.of(operation, () => this.#table),
      bringUp: {},
      users: () => this.#lookForUsers(),
      say: () => {},
    }
    this.#begun.set(operation, run)
    return run
  }

  /** As it will be once these have run. */
  #after(run: StepContext, before: readonly Operation[]): StepContext {
    if (before.length === 0) return run
    const { operation } = run
    const released = new Set(
      before.flatMap(({ steps }) => steps.flatMap(({ op, target }) => (op === 'losetup -d' ? [target] : []))),
    )
    const host = Object.assign(Object.create(this.#host) as Host, {
      loops: () => this.#host.loops().filter(({ device }) => !released.has(device)),
      // While the volume is mounted or mapped, an exclusive open says nothing; the operations before have asked for the others.
      ...(operation.kind === 'DetachVolume' && { deviceUse: () => ({ exists: true, users: [] }) }),
    } satisfies Partial<Host>)
    const expects = [...(operation.expects ?? []), ...before.flatMap((each) => each.expects ?? [])]
    return { ...run, host, operation: { ...operation, expects } }
  }

  /** All that come first, those before them included. */
  #before({ after }: Operation): Operation[] {
    const found = new Set<Operation>()
    const left = [...after]
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const operation = this.#byId.get(id)
      if (operation === undefined || found.has(operation)) continue
      found.add(operation)
      left.push(...operation.after)
    }
    return [...found]
  }

  async #attachment(name: string, { cluster }: ApplyContext): Promise<VolumeAttachment | undefined> {
    return this.#seen.attachments.find(({ metadata }) => metadata.name === name) ?? cluster.getVolumeAttachment(name)
  }

  /** From the one look. It is taken once more, of all, if more is asked for (a volume whose device is unknown). */
  #askProcesses({ fileSystems = [], devices = [] }: Asking): Promise<Uses> {
    const before = this.#asked
    const wanted = { fileSystems: new Set(fileSystems), devices: new Set(devices) }
    // What nobody can see is of no matter to who asks about nothing.
    if (wanted.fileSystems.size + wanted.devices.size === 0) return Promise.resolve(new Uses([], [this.#table], []))
    if (!wanted.fileSystems.isSubsetOf(before.fileSystems) || !wanted.devices.isSubsetOf(before.devices))
      this.#asked = {
        fileSystems: before.fileSystems.union(wanted.fileSystems),
        devices: before.devices.union(wanted.devices),
      }
    const asked = this.#asked
    asked.uses ??= this.#real.askProcesses({ table: this.#table, others: this.#others(), ...asked }, this.#reader)
    return asked.uses
  }

  /** For all content that would be deleted. */
  #lookForUsers(): Promise<ContentLook> {
    this.#users ??= this.#host.lookForUsers({
      table: this.#table,
      fileSystems: this.#contentOn,
      named: hostPathsOf(unfinished(this.#seen.witness)),
      reader: this.#reader,
    })
    return this.#users
  }
}

/** Whoever is found is asked for once more, with all others. */
const NOBODY_IS_WAITED_FOR = AbortSignal.abort()

type Asking = Pick<ProcessSearch, 'fileSystems' | 'devices'>

interface Asked {
  readonly fileSystems: ReadonlySet<string>
  readonly devices: ReadonlySet<string>
  uses?: Promise<Uses>
}

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
    return { ...about, code: code as InUse['code'], message, ...defined({ hint }), ...(users.length > 0 && { users }) }
  }
  return {
    ...about,
    code: 'UsersUnknown',
    message: `who uses ${about.target} could not be determined: ${errorMessage(error)}`,
    hint: 'Plan again; volctl takes nothing away that may be in use.',
  }
}
