/** The child that reads what processes use; a test brings its own. */
import type { ProcessReader } from '../../holders/ask-processes.ts'
import { LOOK_MS } from '../../processes/look-bounds.ts'
import { ownCommand } from '../../processes/own-child.ts'
import type { ApplyContext } from './ports.ts'

/** @param mostMs what is left of the operation's time */
export function processReaderOf(
  { processReader, signal }: ApplyContext,
  mostMs: number = LOOK_MS.beforeTaking,
): ProcessReader {
  const command = processReader ?? ownCommand('process-reader')
  return { command, deadlineMs: Math.min(mostMs, LOOK_MS.beforeTaking), signal }
}
