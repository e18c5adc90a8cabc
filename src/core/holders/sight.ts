/** Which processes volctl cannot see at all: nobody is ruled out as a holder where there may be some. */

import type { MountTable } from '../mountinfo/mount-table.ts'
import { processIds } from '../processes/mount-namespaces.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'

const CAP_SYS_PTRACE = 1n << 19n

/** What procfs leaves out; the values are numbers before Linux 5.8. (Of 1, noaccess, each process is still there to be counted.) */
const HIDING = /^hidepid=(?:[24]|invisible|ptraceable)$/

/** @param table of our own mount namespace @returns in words; empty: every process of this PID namespace is listed */
export function hiddenProcesses(table: MountTable, proc = '/proc'): string[] {
  // There is always a first process, whose rights are the highest.
  const isFirstListed = processIds(proc).includes(1)
  const isHiding =
    table
      .at('/proc')
      .at(-1)
      ?.superOptions.some((option) => HIDING.test(option)) === true
  if (isFirstListed && (!isHiding || mayTrace(proc))) return []
  return [
    '/proc hides processes of others (its option hidepid): what these hold cannot be seen; ask as root, with CAP_SYS_PTRACE',
  ]
}

function mayTrace(proc: string): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(kernelTextIfAny(`${proc}/self/status`) ?? '')?.[1] ?? '0'
  return (BigInt(`0x${effective}`) & CAP_SYS_PTRACE) !== 0n
}
