/** The children that read what processes use; a test brings its own. */
import type { ProcessReader } from '../../holders/ask-processes.ts'
import { ReaderChildren } from '../../holders/reader-children.ts'
import { LOOK_MS } from '../../processes/look-bounds.ts'
import { ownCommand } from '../../processes/own-child.ts'
import type { ApplyContext } from './ports.ts'

/** To be kept as long as there are operations to look for (`readerChildren`). */
export function readerChildrenOf(context: ApplyContext): ReaderChildren {
  return new ReaderChildren(commandOf(context))
}

/** @param mostMs what is left of the operation's time */
export function processReaderOf(context: ApplyContext, mostMs: number = LOOK_MS.beforeTaking): ProcessReader {
  const { readerChildren: children, signal } = context
  return { command: commandOf(context), deadlineMs: Math.min(mostMs, LOOK_MS.beforeTaking), signal, children }
}

function commandOf({ processReader }: ApplyContext): readonly string[] {
  return processReader ?? ownCommand('process-reader')
}
