/** Asks a SCSI host to look for LUNs (P74, P80). */
import { command } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * The result is read from sysfs by the caller; the exit status says nothing.
 *
 * @param host as the kernel calls it: host3
 * @param what "CHANNEL TARGET LUN", `-` for any
 */
export async function scanHost(host: string, what: string, run: StepContext): Promise<void> {
  const file = run.host.blockTree.scanPath(host)
  run.say(`writing ${what} to ${file}`)
  // In a child: the write ends when the host has finished the scan.
  await command(run, 'tee', ['--', file], what)
}
