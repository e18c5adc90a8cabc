/**
 * The walk of change-ownership.ts as a process of its own, for a file system that may hang: its parent can kill it, or
 * abandon it. It reads one request from its standard input, and writes its progress, and finally its result, to its standard
 * output (walker-messages.ts).
 */

import { changeOwnership } from '../files/change-ownership.ts'
import { requestOfParent } from '../processes/parent-request.ts'
import { failureOf, type WalkRequest, walkRequest } from './walker-messages.ts'

const SAY_EVERY_MS = 1000
/** Entries between two checks whether the parent still runs. */
const ENTRIES_BETWEEN_LOOKS = 100

/** Sets exit status 1, and touches nothing, where the input is not a request of this process's parent. */
export async function walkForParent(): Promise<void> {
  const request = await requestOfParent(walkRequest, 'ownership walker')
  if (request !== undefined) await say(await walk(request))
}

async function walk({ parent, path, mountId, ownership }: WalkRequest): Promise<object> {
  let due = performance.now() + SAY_EVERY_MS
  const onEntry = (entries: number): void => {
    if (entries % ENTRIES_BETWEEN_LOOKS === 0 && process.ppid !== parent) process.exit(1)
    if (performance.now() < due) return
    due = performance.now() + SAY_EVERY_MS
    void say({ entries })
  }
  try {
    return { done: await changeOwnership(path, { mountId, ownership, onEntry }) }
  } catch (error) {
    return { failed: failureOf(error, path) }
  }
}

function say(message: object): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()))
}
