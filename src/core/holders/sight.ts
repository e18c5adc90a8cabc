/** Whether there are processes that /proc does not list for volctl: then anything may be in use. */

import type { MountTable } from '../mountinfo/mount-table.ts'
import { processIds, type Unseen } from '../processes/mount-namespaces.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'

const CAP_SYS_PTRACE = 1n << 19n

/** What to do where the right to look is missing. */
export const SEE_ALL = 'Run volctl as root of the host with CAP_SYS_PTRACE, where /proc shows every process.'

/** Options of procfs that hide processes; the values are numbers before Linux 5.8. (With 1, noaccess, processes are still listed.) */
const HIDING = /^hidepid=(?:[24]|invisible|ptraceable)$/

/** @param table of our own mount namespace @returns empty: every process of this PID namespace is listed */
export function hiddenProcesses(table: MountTable, proc = '/proc'): Unseen[] {
  // Process 1 always exists, and would be hidden first.
  const isFirstListed = processIds(proc).includes(1)
  const isHiding =
    table
      .at('/proc')
      .at(-1)
      ?.superOptions.some((option) => HIDING.test(option)) === true
  if (isFirstListed && (!isHiding || mayTrace(proc))) return []
  const text = '/proc hides processes of other users (mount option hidepid), so their open files cannot be read'
  return [{ text, hint: SEE_ALL }]
}

function mayTrace(proc: string): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(kernelTextIfAny(`${proc}/self/status`) ?? '')?.[1] ?? '0'
  return (BigInt(`0x${effective}`) & CAP_SYS_PTRACE) !== 0n
}
