/**
 * Who uses what a plan would take away, asked before the plan calls it ready: by the rules of the machine, of which apply asks most
 * again right before each operation (S26). What operations that come first take away is no use. One look at all processes serves all.
 */

import { lazy } from '../base/collections.ts'
import type { VolumeAttachment } from '../kube/api/objects.ts'
import { pause } from '../linux/deadline.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { remedyOf } from '../messages/codes.ts'
import { errorMessage, StepInterrupted, said } from '../messages/findings.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import { targetOf } from '../plan/plan-id.ts'
import { ifAny } from '../trust/kernel.ts'
import type { ContentLook } from '../users/content-look.ts'
import { fileSystemsAt } from '../users/find-holders.ts'
import { hostPathsOf } from '../users/mount-uses.ts'
import { Uses } from '../users/uses.ts'
import type { InUse } from '../volumes/snapshot.ts'
import { unfinished } from './api-now.ts'
import { isEmptyDir } from './content-in-use.ts'
import { pathsOf } from './expected-mounts.ts'
import { noteOverlays } from './file-system-users.ts'
import { IN_USE } from './foreign-mounts.ts'
import { type Host, linuxHost } from './host.ts'
import { type MachineFacts, type Questions, type Verdict, WaitingBudget, type Witness } from './machine-facts.ts'
import { allBefore, VolumeRecords } from './node-stack.ts'
import { verdictOf } from './rules.ts'
import { type ProcessScan, Surroundings } from './surroundings.ts'

/** How long apply waits for short-lived openers (udev, lsblk), and for a file system that has just left the table. */
const AGAIN_MS = 1000

/** For one operation: nothing here waits for a driver. */
const LIMIT_MS = 15_000

interface Given extends Questions {
  /** Of the same look as the plan, as are attachments and mounts. */
  readonly witness: Witness
  /** Of this node. */
  readonly attachments: readonly VolumeAttachment[]
  readonly mounts: MountTable
  /** Default: this host's. */
  readonly host?: Host
}

/**
 * Whoever is found is looked for once more a moment later: a program that only lists files or devices is gone by then.
 *
 * @param taking the plan's operations that take something away
 */
export async function checkInUse(taking: readonly Operation[], plan: Plan, given: Given): Promise<InUse[]> {
  const first = await usersOf(taking, plan, given)
  if (first.size === 0) return []
  await pause(AGAIN_MS, given.signal)
  const again = await usersOf(taking, plan, { ...given, mounts: given.readMounts() }, first)
  return [...again.values()]
}

/** One look, as every operation sees it: nothing changes meanwhile, and processes are asked once for all. */
class OneLook extends Surroundings {
  /** What is asked for is only noted, as if nobody were there. */
  isNoting = true
  readonly #asked = { fileSystems: new Set<string>(), devices: new Set<string>() }
  #uses: Promise<Uses> | undefined

  override changed(): void {}

  /** Taken once more, of all, if more is asked for (a volume whose device is unknown). */
  override async uses({ fileSystems = [], devices = [] }: ProcessScan): Promise<Uses> {
    const { fileSystems: seen, devices: opened } = this.#asked
    const before = seen.size + opened.size
    const wanted = [...fileSystems, ...devices]
    for (const dev of fileSystems) seen.add(dev)
    for (const dev of devices) opened.add(dev)
    // What nobody can see is of no matter to who asks about nothing.
    if (this.isNoting || wanted.length === 0) return new Uses([], [this.table], [])
    if (seen.size + opened.size > before) this.#uses = undefined
    this.#uses ??= super.uses(this.#asked)
    return this.#uses
  }
}

/**
 * Those that are in use, by facts as they will be.
 *
 * @param among judges these; what is known of a volume comes from all operations on it
 */
async function usersOf(
  operations: readonly Operation[],
  plan: Plan,
  given: Given,
  among: { has(operation: Operation): boolean } = new Set(operations),
): Promise<Map<Operation, InUse>> {
  const { witness, attachments, mounts, cluster, host = linuxHost } = given
  const known = new Map(attachments.map((attachment) => [attachment.metadata.name, attachment]))
  const context: Questions = {
    ...given,
    readMounts: () => mounts,
    cluster: {
      getVolumeAttachment: async (name) => known.get(name) ?? cluster.getVolumeAttachment(name),
      listVolumeAttachments: lazy(() => cluster.listVolumeAttachments()),
    },
  }
  const around = new OneLook(context, host, plan.rootDir)
  const records = new VolumeRecords(plan, host)
  // "major:minor" of the file systems on which content would be deleted.
  const contentOn = fileSystemsAt(
    mounts,
    // Whoever has a name in it counts, too (S12).
    operations.flatMap((each) =>
      isEmptyDir(each) || each.steps.some(({ op }) => op === 'deleteContent') ? pathsOf(each) : [],
    ),
  )
  const look = lazy(() => around.contentLook(contentOn, hostPathsOf(unfinished(witness))))
  const users = async (): Promise<ContentLook> => {
    if (!around.isNoting) return look()
    await around.uses({ fileSystems: contentOn })
    throw new Error('not looked at yet')
  }
  const each = operations.map((operation) => ({
    ...{ operation, around, plan, context, host, users, witness },
    waiting: new WaitingBudget(LIMIT_MS),
    signal: ALREADY_ABORTED,
    record: records.of(operation, () => mounts),
  }))
  const all = each.filter(({ operation }) => among.has(operation))
  const judge = async (facts: MachineFacts): Promise<Verdict | undefined> => {
    const { kind, attachment: bound } = facts.operation
    const isDetach = kind === 'DetachVolume'
    const attachment = isDetach && bound ? await context.cluster.getVolumeAttachment(bound.name) : undefined
    // It is detached already.
    if (isDetach && attachment === undefined) return undefined
    return verdictOf({ ...after(facts, [...allBefore(facts.operation, plan)]), attachment }, 'plan')
  }
  for (const facts of each) {
    // What cannot be found out is a finding once it is asked in earnest.
    ifAny(() => noteOverlays(facts))
  }
  for (const facts of all) await judge(facts).catch(() => undefined)
  around.isNoting = false
  const found = new Map<Operation, InUse>()
  for (const facts of all) {
    const { operation } = facts
    try {
      const verdict = await judge(facts)
      if (verdict !== undefined) found.set(operation, inUseBy(operation, verdict))
    } catch (error) {
      if (error instanceof StepInterrupted) throw error
      found.set(operation, inUseBy(operation, { code: 'Unexpected', message: errorMessage(error) }))
    }
  }
  return found
}

/** As it will be once these have run. */
function after(facts: MachineFacts, before: readonly Operation[]): MachineFacts {
  if (before.length === 0) return facts
  const { expects = [], steps } = facts.operation
  const released = before.flatMap((each) => each.steps.filter(({ op }) => op === 'losetup -d'))
  const operation = {
    ...facts.operation,
    steps: [...released, ...steps],
    expects: [...expects, ...before.flatMap((each) => each.expects ?? [])],
  }
  return { ...facts, operation, before }
}

/** Whoever is found is asked for once more, with all others. */
const ALREADY_ABORTED = AbortSignal.abort()

/** What could not be asked counts as in use (S3). */
function inUseBy(operation: Operation, { code, message, hint = remedyOf(code), users = [] }: Verdict): InUse {
  const about = { kind: operation.kind, target: targetOf(operation) }
  const known = IN_USE.find((each) => each === code)
  if (known !== undefined) return { ...about, code: known, message, hint, ...(users.length > 0 && { users }) }
  return {
    ...about,
    code: 'UsersUnknown',
    message: said('UsersUnknown.who', { target: about.target, why: message }).message,
    hint: 'Plan again; volctl takes nothing away that may be in use.',
  }
}
