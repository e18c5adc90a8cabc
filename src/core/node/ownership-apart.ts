/** The walk of ownership.ts in a child of this process, which is killed at its deadline, or abandoned. */

import type { ChangeOwnershipOptions, OwnershipChange, WalkMessage } from '../linux/ownership.ts'
import { StepFailed, StepInterrupted, StepTimedOut, said } from '../messages/findings.ts'
import { type CommandResult, leftText, runCommand } from '../trust/programs.ts'

export interface Apart {
  /** Command line of the child (src/child.ts). */
  readonly command: readonly string[]
  readonly deadlineMs: number
}

/**
 * @returns as changeOwnership
 * @throws StepFailed as changeOwnership, and TimedOut; `stuck` if the child could not be killed
 */
export async function changeOwnershipApart(
  path: string,
  { mountId, ownership, onEntry, signal }: ChangeOwnershipOptions,
  { command: [program = '', ...args], deadlineMs }: Apart,
): Promise<OwnershipChange> {
  let last: WalkMessage = {}
  const onLine = (line: string): void => {
    last = messageIn(line)
    if (last.entries !== undefined) onEntry?.(last.entries)
  }
  const request = JSON.stringify({ parent: process.pid, path, mountId, ownership })
  const result = await runCommand(program, args, deadlineMs, request, { onLine, signal })
  if (result.timedOut) throw givenUp(path, result, deadlineMs, signal?.aborted === true)
  if (last.done !== undefined) return last.done
  if (last.failed !== undefined) throw new StepFailed(last.failed, last.failed)
  const output = result.stderr.trim().split('\n').at(-1)
  throw new StepFailed(said('WriteFailed.walkEnded', { path, gid: ownership.gid, output }), {
    hint: 'Plan again: the next apply walks the volume again.',
  })
}

function givenUp(path: string, result: CommandResult, deadlineMs: number, interrupted: boolean): StepFailed {
  const stuck = result.abandonedPid !== undefined
  const left = leftText(result)
  if (interrupted)
    return new StepInterrupted(said('Interrupted.ownership', { path, left }), {
      hint: 'Plan again: the next apply changes the remaining files.',
      stuck,
    })
  const seconds = Math.round(deadlineMs / 100) / 10
  return new StepTimedOut(said('TimedOut.ownership', { path, seconds, left }), {
    hint: stuck
      ? 'Bring back what the file system lies on, a server or a disk; then plan again.'
      : 'If the server answers, give a longer --timeout: files that are done keep their group.',
    stuck,
  })
}

/** Empty where it is none. */
function messageIn(line: string): WalkMessage {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}
