import { lstatSync } from 'node:fs'
import { release } from 'node:os'
import { kernelTextIfAny } from '../trust/kernel.ts'
import { obeyedTextIfAny } from './obeyed-text.ts'

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
  const bootID = kernelTextIfAny(`${root}/proc/sys/kernel/random/boot_id`)
  const bootTime = earlier(bootTimeOf(kernelTextIfAny(`${root}/proc/stat`) ?? ''), clockAtBoot(`${root}/dev/null`))
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
  return seconds === undefined ? undefined : rfc3339(Number(seconds))
}

/**
 * What the clock showed when the kernel made its device nodes. The boot time of /proc/stat is reckoned from the clock as
 * it is now: where that was set forward since, files of this boot would look older than it (S28).
 */
function clockAtBoot(device: string): string | undefined {
  try {
    return rfc3339(Math.floor(lstatSync(device).mtimeMs / 1000))
  } catch {
    return undefined
  }
}

function rfc3339(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}

function earlier(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one
  return other < one ? other : one
}

/** Device-tree files end in a NUL. */
function firstText(root: string, files: readonly string[]): string | undefined {
  for (const file of files) {
    // What is on a disk decides about S1: nobody else may have written it.
    const read = /^\/(proc|sys)\//.test(file) ? kernelTextIfAny : obeyedTextIfAny
    const text = read(root + file)
      ?.replaceAll('\0', '')
      .trim()
    if (text) return text
  }
  return undefined
}
