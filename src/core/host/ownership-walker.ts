/**
 * The walk of change-ownership.ts as a process of its own, on a file system that may not answer: who started it can kill
 * it, or leave it behind. It takes one request on its standard input, and says on its standard output how far it is, and
 * last how it ended (walker-messages.ts).
 */

import { changeOwnership } from '../files/change-ownership.ts'
import { requestOfParent } from '../processes/parent-request.ts'
import { failureOf, type WalkRequest, walkRequest } from './walker-messages.ts'

const SAY_EVERY_MS = 1000
/** Between two looks at whether somebody still waits for this. */
const ENTRIES_BETWEEN_LOOKS = 100

/** Sets the exit status: 1 where the request is none, or not of this process's parent; nothing is touched then. */
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
