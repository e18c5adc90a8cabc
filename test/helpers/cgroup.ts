/** Real cgroups for tests, without controllers: only to be shown in /proc/PID/cgroup of the processes in them. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'

/** Where a hierarchy may be mounted; any that can be written will do. */
const HIERARCHIES = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/pids', '/sys/fs/cgroup/systemd']

const hierarchy = HIERARCHIES.find(isWritable)

/** Why no cgroup can be made here; undefined: it can. */
export const noCgroups = hierarchy === undefined ? 'this machine lets nobody make cgroups' : undefined

/**
 * A process's cgroup under this path, and its missing parents; removed with its last process.
 *
 * @param path such as `/docker/ID/kubelet`; never of a pod of the machine itself, which other tests would see
 */
export function moveInto(path: string, pid: number): Disposable {
  const made: string[] = []
  for (let at = path.indexOf('/', 1); ; at = path.indexOf('/', at + 1)) {
    const directory = `${hierarchy}${at === -1 ? path : path.slice(0, at)}`
    if (!existsSync(directory)) {
      mkdirSync(directory)
      made.unshift(directory)
    }
    if (at === -1) break
  }
  writeFileSync(`${hierarchy}${path}/cgroup.procs`, String(pid))
  return {
    [Symbol.dispose]: () => {
      for (const directory of made) rmdirSync(directory)
    },
  }
}

/** The directory of a cgroup. */
export function placeOf(path: string): string {
  return `${hierarchy}${path}`
}

function isWritable(directory: string): boolean {
  if (!existsSync(`${directory}/cgroup.procs`)) return false
  const trial = `${directory}/volctl-trial-${process.pid}`
  try {
    mkdirSync(trial)
    rmdirSync(trial)
    return true
  } catch {
    return false
  }
}
