/**
 * How much of what the kernel limits is used. Mounts, containers and drivers need all of it, and fail with errors that do not
 * name the limit: ENFILE, EMFILE, ENOSPC.
 *
 * @see proc_sys_fs(5), proc_sys_user(5)
 */
import { processIds } from '../../processes/mount-namespaces.ts'
import { kernelTextIfAny, listIfAny, namespaceOf } from '../../trust/kernel.ts'
import type { KernelLimit, LimitName } from '../facts.ts'

/** Those of which both sides can be read. @param kubelet its pid, where it runs */
export function kernelLimits(kubelet: number | undefined, proc = '/proc'): KernelLimit[] {
  const setting = (path: string): number => numberIn(kernelTextIfAny(`${proc}/sys/${path}`))
  const namespaces = new Set(processIds(proc).flatMap((pid) => namespaceOf(pid, 'mnt', proc) ?? []))
  const found: readonly (readonly [LimitName, used: number, most: number])[] = [
    ['fs.file-max', setting('fs/file-nr'), setting('fs/file-max')],
    ['LimitNOFILE', ...(kubelet === undefined ? UNKNOWN : openFiles(kubelet, proc))],
    ['user.max_mnt_namespaces', namespaces.size, setting('user/max_mnt_namespaces')],
  ]
  return found.flatMap(([name, used, most]) => (used >= 0 && most > 0 ? { name, used, most } : []))
}

const UNKNOWN = [Number.NaN, Number.NaN] as const

/** The first number of a file that may have several; NaN where there is none. */
function numberIn(text: string | undefined): number {
  return Number.parseInt(text ?? '', 10)
}

/** Of one process, and its soft limit. */
function openFiles(pid: number, proc: string): readonly [used: number, most: number] {
  const limit = /^Max open files +(\d+)/m.exec(kernelTextIfAny(`${proc}/${pid}/limits`) ?? '')?.[1]
  const files = listIfAny(`${proc}/${pid}/fd`).length
  return [files === 0 ? Number.NaN : files, numberIn(limit)]
}
