/** fsGroup: gives the volume and everything in it to the pod's group (P31, P32, P34). */

import { errorMessage } from '../../base/errors.ts'
import { StepFailed, StepInterrupted, StepTimedOut } from '../../base/operation-error.ts'
import type { OwnershipChange } from '../../linux/change-ownership.ts'
import { cannotHang } from '../../linux/file-systems.ts'
import { containingMount } from '../../linux/location.ts'
import { placeOf } from '../../linux/mount-table.ts'
import { ownCommand } from '../../linux/own-child.ts'
import type { Ownership } from '../../linux/ownership-bits.ts'
import type { Step } from '../../plan/plan.ts'
import type { StepContext } from '../operation/ports.ts'

/** Share of --timeout for the walk; the rest is for undoing the mount. */
const WALK_SHARE = 0.9

/**
 * Cannot be undone: like the kubelet, volctl does not remember the former groups. Changes already made are right for the next
 * attempt.
 */
export async function setOwnership({ target, ownership }: Step, run: StepContext): Promise<void> {
  if (ownership === undefined) throw new StepFailed('WriteFailed', `${target}: no group is given`)
  try {
    report(target, ownership, await change(target, ownership, run), run)
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
  if (mount === undefined) throw new StepFailed('WriteFailed', `the mount table does not show where ${target} is`)
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

function report(target: string, { gid }: Ownership, { failed, mounts }: OwnershipChange, run: StepContext): void {
  if (failed > 0) run.say(`${target}: the file system did not give ${failed} files to group ${gid}`)
  const [first] = mounts
  if (first !== undefined) {
    const others = mounts.length === 1 ? '' : ` and ${mounts.length - 1} more`
    run.say(`${first}${others}: not given to group ${gid}, since another mount is there`)
  }
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
