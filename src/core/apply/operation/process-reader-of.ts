/** The child that reads what processes use; a test brings its own. */
import type { ProcessReader } from '../../holders/ask-processes.ts'
import { ownCommand } from '../../processes/own-child.ts'
import type { ApplyContext } from './ports.ts'

/** For all processes together; enough on a busy machine as well. What is not read until then may be in use. */
const DEADLINE_MS = 15_000

/** @param mostMs what is left of the operation's time */
export function processReaderOf({ processReader, signal }: ApplyContext, mostMs = DEADLINE_MS): ProcessReader {
  const command = processReader ?? ownCommand('process-reader')
  return { command, deadlineMs: Math.min(mostMs, DEADLINE_MS), signal }
}
