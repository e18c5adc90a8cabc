/**
 * Where the bundle of volctl's own child processes begins: without the commands a child takes little longer to start than
 * Node.js itself. The launcher chooses the bundle (scripts/load-bundle.cjs).
 */
import { errorMessage } from './core/errors/errors.ts'
import { readProcessesForParent } from './core/holders/process-reader.ts'
import { walkForParent } from './core/host/ownership-walker.ts'
import { askedChild, type OwnChild } from './core/processes/own-child.ts'

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
