/** One mount(8), and the check that the mount is there (P124, P125; S22, S27); and the ownership of what is mounted (P31, P32, P34). */

import { cannotHang, containingMount } from '../../linux/location.ts'
import { type MountInfo, placeOf, whoMounted } from '../../linux/mount-table.ts'
import { ownCommand } from '../../linux/own-child.ts'
import type { Ownership, OwnershipChange } from '../../linux/ownership.ts'
import { copiesOf } from '../../linux/propagation.ts'
import type { Undo } from '../../linux/undo.ts'
import { errorMessage, StepFailed, StepInterrupted, StepTimedOut, said, saidOfAny } from '../../messages/findings.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import type { Step } from '../../volumes/steps.ts'
import { command, firstLineOf, requireRulesOf, type StepContext } from '../operation/step.ts'
import { isStill, requireCopiesGone } from './umount-step.ts'

/** Flags that a bind mount inherits from its source, and loses in a remount that does not repeat them. */
const KEPT_FLAGS = new Set(['ro', 'nodev', 'noexec', 'nosuid', 'noatime', 'nodiratime'])

/** Mounts over an empty directory, or binds over an empty file. A bind mount with options takes a second call (P125). */
export async function mountStep(step: Step, run: StepContext): Promise<void> {
  const { target, fsType, options = [] } = step
  const source = sourceOf(step, run)
  await requireRulesOf('mount', { target: { path: target } }, run)
  const bind = options.filter((option) => option === 'bind' || option === 'rbind' || option === '_netdev')
  if (!options.includes('bind') && !options.includes('rbind')) {
    const type = fsType === undefined ? [] : ['-t', fsType]
    return mount(step, run, [...type, ...optionArguments(options), source, target])
  }
  await mount(step, run, ['-o', bind.join(','), source, target])
  const others = options.filter((option) => !['bind', 'rbind', 'remount'].includes(option))
  if (others.length === 0) return
  const flags = run.around.table.top(target)?.options.filter((option) => KEPT_FLAGS.has(option)) ?? []
  const all = ['bind', 'remount', ...new Set([...others, ...flags])]
  const result = await command(run, 'mount', [...optionArguments(all), source, target])
  run.around.changed()
  if (result.status !== 0) throw new MountFailed(step, firstLineOf(result))
}

function optionArguments(options: readonly string[]): string[] {
  return options.length === 0 ? [] : ['-o', options.join(',')]
}

/** The source to mount; never text that mount(8) would take for an option (P161). */
function sourceOf(step: Step, run: StepContext): string {
  const source = step.source ?? run.bringUp.source
  if (source === undefined || source === '' || source.startsWith('-'))
    throw new MountFailed(step, `${JSON.stringify(source ?? '')} is not a valid source`)
  return source
}

/**
 * One call of mount(8). The mount table decides: a helper that fails may still have mounted (P63). The new mount is the one
 * that the path leads to. Below a shared directory that is bind-mounted on itself the table shows copies of it, which go away
 * with it (O35).
 *
 * @throws StepFailed MountFailed, with nothing left mounted once what was made is taken back
 */
async function mount(step: Step, run: StepContext, args: readonly string[]): Promise<void> {
  const result = await command(run, 'mount', args)
  run.around.changed()
  const [layer, ...more] = run.around.table.reached(step.target)
  if (result.status !== 0) {
    const failure = new MountFailed(step, firstLineOf(result))
    if (layer === undefined) throw failure
    if (ANOTHER_WAS_FIRST.test(result.stderr) || more.length > 0) throw notOurs(step, layer, failure.message)
    run.made.push(undoOf(layer, run))
    throw failure
  }
  if (layer === undefined) throw nothingSeen(step, run)
  if (more.length > 0) throw notOurs(step, layer, `${step.target} has ${more.length + 1} mounts, but volctl made one`)
  run.made.push(undoOf(layer, run))
}

/** One call of mount(8), that fails where something else is there then. */
export async function mountAlone(
  step: Step,
  run: StepContext,
  args: readonly string[],
  isThere: () => boolean,
): Promise<void> {
  await mount(step, run, args)
  if (!isThere()) throw new MountFailed(step, 'something else is mounted there')
}

/** A new mount that another one hides cannot be undone, either, so it is named. */
function nothingSeen(step: Step, { around }: StepContext): StepFailed {
  const hidden = around.table.at(step.target).at(-1)
  const seen = hidden === undefined ? 'nothing is mounted there' : `another mount hides the ${describeMount(hidden)}`
  return new MountFailed(step, `mount(8) reported success, but ${seen}`)
}

/** What mount(8) prints if the same thing is mounted there already, or somebody else uses the device. */
const ANOTHER_WAS_FIRST = /already mounted|mount point busy/

/** Nothing was mounted there right before, so somebody else has mounted this meanwhile: it is left alone. */
function notOurs({ target }: Step, layer: MountInfo, what: string): StepFailed {
  return new StepFailed(saidOfAny('ForeignMount', 'remains', { why: what, remains: describeMount(layer) }), {
    hint: whoMounted(target),
  })
}

/** Unmounts this very mount, and nothing that somebody mounted over it. Its copies go away with it (O35), or are named. */
function undoOf(made: MountInfo, run: StepContext): Undo {
  const { around, waiting, host } = run
  const { id, mountPoint, fsType } = made
  return {
    what: `the mount on ${mountPoint}`,
    back: async () => {
      around.changed()
      if (!isStill(made, run)) return
      const top = around.table.top(mountPoint)
      if (top?.id !== id) throw new Error(`${top === undefined ? 'another mount' : describeMount(top)} hides it`)
      const copies = copiesOf(around.table, top)
      const how = cannotHang(fsType) ? 'plain' : 'careful'
      const result = await waiting.spend((ms) => host.umount([mountPoint], how, ms))
      around.changed()
      if (isStill(made, run)) {
        const output = result.timedOut ? 'it did not end' : firstLineOf(result)
        throw new StepFailed(said('UnmountFailed', { output }), { stuck: result.timedOut })
      }
      requireCopiesGone(copies, run)
    },
  }
}

/** What is mounted all the same, is taken back. */
export class MountFailed extends StepFailed {
  /** @param why what mount(8) printed, or what is wrong with the result */
  constructor({ target, source }: Step, why: string) {
    const what = source === undefined ? target : `${source} on ${target}`
    super(said('MountFailed.mount', { mount: what, why: why.replace(/^mount: /, '') }))
  }
}

// fsGroup: gives the volume and everything in it to the pod's group (P31, P32, P34).

/** Share of --timeout for the walk; the rest is for undoing the mount. */
const WALK_SHARE = 0.9

/**
 * Cannot be undone: like the kubelet, volctl does not remember the former groups. Changes already made are right for the next
 * attempt.
 */
export async function setOwnership({ target, ownership }: Step, run: StepContext): Promise<void> {
  if (ownership === undefined) throw new StepFailed(said('WriteFailed.noGroup', { target }))
  try {
    const { failed, mounts } = await change(target, ownership, run)
    const { gid } = ownership
    if (failed > 0) run.say(`${target}: the file system did not give ${failed} files to group ${gid}`)
    const others = mounts.length === 1 ? '' : ` and ${mounts.length - 1} more`
    if (mounts.length > 0) run.say(`${mounts[0]}${others}: not given to group ${gid}, since another mount is there`)
  } catch (error) {
    // These end the step even if errors of the walk are ignored (P34).
    const isOver = error instanceof StepInterrupted || error instanceof StepTimedOut
    if (isOver || !ownership.ignoreErrors) throw error
    run.say(`${target} was only partly given to group ${ownership.gid}: ${errorMessage(error)}`)
  }
}

async function change(target: string, ownership: Ownership, run: StepContext): Promise<OwnershipChange> {
  const { around, context, host, signal, waiting } = run
  const mount = containingMount(around.table, target)
  if (mount === undefined) throw new StepFailed(saidOfAny('WriteFailed', 'unplaced', { target }))
  const options = {
    mountId: mount.id,
    ownership,
    onEntry: progressReport((entries) =>
      run.say(`giving ${target} to group ${ownership.gid}: ${entries} files so far`),
    ),
    signal,
  }
  const place = placeOf(around.table, target)
  // This process must never wait for a server. The root directory's own file system has been read before, so it answers.
  if (cannotHang(mount.fsType) || mount.id === containingMount(around.table, run.plan.rootDir)?.id)
    return host.changeOwnership(place, options)
  const command = context.walker ?? ownCommand('ownership-walker')
  return waiting.spend((ms) => host.changeOwnership(place, options, { command, deadlineMs: ms * WALK_SHARE }))
}

/** Reports the progress of long work: first after 30 s, then every 60 s (P32). */
const FIRST_MS = 30_000
const NEXT_MS = 60_000

/**
 * @param say called with the count whenever it is time
 * @param now a monotonic clock, in milliseconds
 * @returns a function to call with the count so far, as often as one likes
 */
export function progressReport(
  say: (count: number) => void,
  now: () => number = () => performance.now(),
): (count: number) => void {
  let due = now() + FIRST_MS
  return (count) => {
    const at = now()
    if (at < due) return
    due = at + NEXT_MS
    say(count)
  }
}
