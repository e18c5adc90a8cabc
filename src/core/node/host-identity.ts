import { release } from 'node:os'
import { readTextIfAny } from './read-text.ts'

/** Who this host is: what the kubelet writes into its Node object, read anew (S1). */
export interface HostIdentity {
  readonly machineID?: string
  readonly systemUUID?: string
  readonly bootID?: string
  /** RFC 3339. */
  readonly bootTime?: string
  readonly kernelVersion: string
}

const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id']

/** In the order in which the kubelet looks: PC firmware, then device trees, then the machine id. */
const SYSTEM_UUID_FILES = [
  '/sys/class/dmi/id/product_uuid',
  '/proc/device-tree/system-id',
  '/proc/device-tree/vm,uuid',
  '/etc/machine-id',
]

/** @param root prefix of the paths, for tests */
export function hostIdentity(root = ''): HostIdentity {
  const machineID = firstText(root, MACHINE_ID_FILES)
  const systemUUID = firstText(root, SYSTEM_UUID_FILES)
  const bootID = readTextIfAny(`${root}/proc/sys/kernel/random/boot_id`)
  const bootTime = bootTimeOf(readTextIfAny(`${root}/proc/stat`) ?? '')
  return {
    ...(machineID !== undefined && { machineID }),
    ...(systemUUID !== undefined && { systemUUID }),
    ...(bootID && { bootID }),
    ...(bootTime !== undefined && { bootTime }),
    kernelVersion: release(),
  }
}

/** The `btime` line of /proc/stat, as RFC 3339 in whole seconds. */
export function bootTimeOf(procStat: string): string | undefined {
  const seconds = /^btime (\d+)$/m.exec(procStat)?.[1]
  return seconds === undefined ? undefined : new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z')
}

/** Device-tree files end in a NUL. */
function firstText(root: string, files: readonly string[]): string | undefined {
  for (const file of files) {
    const text = readTextIfAny(root + file)?.replaceAll('\0', '')
    if (text) return text
  }
  return undefined
}
