/**
 * How much of what the kernel limits is used. Mounts, containers and drivers need all of it, and fail with errors that do not
 * name the limit: ENFILE, EMFILE, ENOSPC, EAGAIN.
 *
 * Not among them: max_loop, which does not limit loop devices that are made through /dev/loop-control, and fs.nr_open, which
 * only caps the limits of processes.
 *
 * @see proc_sys_fs(5), proc_sys_user(5), proc_sys_kernel(5), inotify(7)
 */
import { processIds } from '../../processes/mount-namespaces.ts'
import { kernelTextIfAny, linkIfAny, listIfAny, namespaceOf, statusField } from '../../trust/kernel.ts'
import type { KernelLimit, LimitName } from '../facts.ts'

/** Looking at a descriptor takes microseconds; with more of them than this, inotify is not counted. */
const MOST_FILES = 50_000

/** Those of which both sides can be read. @param kubelet its pid, where it runs */
export function kernelLimits(kubelet: number | undefined, proc = '/proc'): KernelLimit[] {
  const setting = (path: string): number => numberIn(kernelTextIfAny(`${proc}/sys/${path}`))
  const processes = processIds(proc)
  const threads = numberIn(/ \d+\/(\d+) /.exec(kernelTextIfAny(`${proc}/loadavg`) ?? '')?.[1])
  const namespaces = new Set(processes.flatMap((pid) => namespaceOf(pid, 'mnt', proc) ?? []))
  const inotify = inotifyOfRoot(processes, proc)
  const found: readonly (readonly [LimitName, used: number, most: number])[] = [
    ['fs.file-max', setting('fs/file-nr'), setting('fs/file-max')],
    ['LimitNOFILE', ...(kubelet === undefined ? UNKNOWN : openFiles(kubelet, proc))],
    ['fs.aio-max-nr', setting('fs/aio-nr'), setting('fs/aio-max-nr')],
    ['user.max_mnt_namespaces', namespaces.size, setting('user/max_mnt_namespaces')],
    ['fs.inotify.max_user_instances', inotify?.instances ?? Number.NaN, setting('fs/inotify/max_user_instances')],
    ['fs.inotify.max_user_watches', inotify?.watches ?? Number.NaN, setting('fs/inotify/max_user_watches')],
    ['kernel.pid_max', threads, setting('kernel/pid_max')],
    ['kernel.threads-max', threads, setting('kernel/threads-max')],
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

/** Of all processes that run as root, the kubelet and the container runtime among them; undefined: there are too many files. */
function inotifyOfRoot(
  processes: readonly number[],
  proc: string,
): { readonly instances: number; readonly watches: number } | undefined {
  let files = 0
  let instances = 0
  let watches = 0
  for (const pid of processes) {
    const names = listIfAny(`${proc}/${pid}/fd`)
    files += names.length
    if (files > MOST_FILES) return undefined
    const own = names.filter((name) => linkIfAny(`${proc}/${pid}/fd/${name}`) === 'anon_inode:inotify')
    if (own.length === 0 || !isRoot(pid, proc)) continue
    instances += own.length
    for (const name of own)
      watches += kernelTextIfAny(`${proc}/${pid}/fdinfo/${name}`)?.match(/^inotify wd:/gm)?.length ?? 0
  }
  return { instances, watches }
}

function isRoot(pid: number, proc: string): boolean {
  return statusField(kernelTextIfAny(`${proc}/${pid}/status`) ?? '', 'Uid')?.startsWith('0\t') === true
}
