/** The child that reads what processes use; a test brings its own. */

import { ownCommand } from '../../linux/own-child.ts'
import { SCAN_MS } from '../../linux/scan-limits.ts'
import type { ProcessReader } from '../../users/ask-processes.ts'
import type { ApplyContext } from './ports.ts'

/** @param mostMs what is left of the operation's time */
export function processReaderOf(
  { processReader, signal }: ApplyContext,
  mostMs: number = SCAN_MS.beforeTaking,
): ProcessReader {
  const command = processReader ?? ownCommand('process-reader')
  return { command, deadlineMs: Math.min(mostMs, SCAN_MS.beforeTaking), signal }
}
