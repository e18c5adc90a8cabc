/**
 * Where the bundle of volctl's own child processes begins: without the commands a child takes little longer to start than
 * Node.js itself. The launcher chooses the bundle (scripts/load-bundle.cjs).
 */
import { askedChild, type OwnChild, requestOfParent } from './core/linux/own-child.ts'
import { changeOwnership, type WalkMessage, walkRequest } from './core/linux/ownership.ts'
import { diskFailure } from './core/messages/disk-trouble.ts'
import { errorMessage, StepFailed } from './core/messages/findings.ts'
import { readProcessesForParent } from './core/users/process-reader.ts'

const CHILDREN: Readonly<Record<OwnChild, () => Promise<void>>> = {
  'ownership-walker': walkForParent,
  'process-reader': readProcessesForParent,
}

/** Does what the one argument asks for, and ends the process: a call that hangs on a dead mount would else keep it alive for ever. */
export async function runChild(): Promise<never> {
  // Who reads the message may be gone.
  process.stderr.on('error', () => undefined)
  try {
    const child = askedChild(process.argv.slice(2))
    if (child === undefined) throw new Error('this is no child of volctl')
    await CHILDREN[child]()
  } catch (error) {
    process.exitCode = 1
    process.stderr.write(`volctl: ${errorMessage(error)}\n`)
  }
  process.exit()
}

const SAY_EVERY_MS = 1000
/** Entries between two checks whether the parent still runs. */
const ENTRIES_BETWEEN_LOOKS = 100

/**
 * The walk of ownership.ts in its own process, for a file system that may hang: its parent can kill it, or
 * abandon it. It reads one request from its standard input, and writes its progress, and finally its result, to its standard
 * output.
 * Sets exit status 1, and touches nothing, where the input is not a request of this process's parent.
 */
export async function walkForParent(): Promise<void> {
  const request = await requestOfParent(walkRequest, 'ownership walker')
  if (request !== undefined) await say(await walk(request))
}

async function walk({ parent, path, mountId, ownership }: ReturnType<typeof walkRequest>): Promise<WalkMessage> {
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
    const failed = error instanceof StepFailed ? error : diskFailure(path, 'read', error)
    const { code, message, args, hint } = failed
    return { failed: { code, message, args, hint } }
  }
}

function say(message: WalkMessage): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()))
}
