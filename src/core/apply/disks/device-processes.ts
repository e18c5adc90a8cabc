/** Which processes use file systems, or have devices open or mapped: what cannot be seen counts as use (S3, S21). */
import type { BlockNode } from '../../block/block-tree.ts'
import { UsersUnknown } from '../../errors/operation-error.ts'
import type { ProcessSearch } from '../../holders/ask-processes.ts'
import type { Uses } from '../../holders/uses.ts'
import { processReaderOf } from '../operation/process-reader-of.ts'
import type { StepContext } from '../operation/step-context.ts'

/** The numbers under which a device can be open: its own, and those of its generic character devices. */
export function numbersOf({ dev, characters }: BlockNode): string[] {
  return [dev, ...characters]
}

/** @param what file systems or devices, as in ProcessSearch */
export function processesWith(what: Pick<ProcessSearch, 'fileSystems' | 'devices'>, run: StepContext): Promise<Uses> {
  const { host, around, context, waiting } = run
  const { table, others } = around
  return waiting.spend((ms) => host.askProcesses({ table, others, ...what }, processReaderOf(context, ms)))
}

/** @param what names of devices @throws StepFailed UsersUnknown, naming processes that could not be seen */
export function requireSeen({ unseen }: Uses, what: ReadonlySet<string>): void {
  const [unknown] = unseen
  if (unknown === undefined) return
  throw new UsersUnknown(
    `the processes that have ${[...what].join(', ')} open could not be determined: ${unknown.text}`,
    {
      hint: `${unknown.hint} Then plan again.`,
    },
  )
}
