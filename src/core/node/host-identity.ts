import { existsSync, lstatSync } from 'node:fs'
import { release } from 'node:os'
import { rfc3339 } from '../base/text.ts'
import { obeyedTextIfAny } from '../trust/files.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'
import type { KubeletFlags } from './kubelet/kubelet-flags.ts'

const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id']

/** In the order in which the kubelet looks: PC firmware, then device trees, then the machine id. */
const SYSTEM_UUID_FILES = [
  '/sys/class/dmi/id/product_uuid',
  '/proc/device-tree/system-id',
  '/proc/device-tree/vm,uuid',
  '/etc/machine-id',
]

const BOOT_ID_FILES = ['/proc/sys/kernel/random/boot_id']

/**
 * What the kubelet writes into its Node object, read from the same files (S1), and since when the machine runs.
 *
 * @param root prefix of the paths, for tests
 * @param flags the kubelet's flags, which may name other files
 */
export function hostIdentity(root = '', flags: KubeletFlags = new Map()) {
  return {
    machineID: firstText(root, filesOf(flags, 'machine-id-file') ?? MACHINE_ID_FILES),
    systemUUID: firstText(root, SYSTEM_UUID_FILES),
    bootID: firstText(root, filesOf(flags, 'boot-id-file') ?? BOOT_ID_FILES),
    bootTime: bootTimeOf(kernelTextIfAny(`${root}/proc/stat`) ?? '', `${root}/dev/null`),
    kernelVersion: release(),
  }
}

/**
 * The `btime` line of /proc/stat, or the clock's time when the kernel created its device nodes, if that is earlier. /proc/stat
 * computes the boot time from the present clock: if the clock was set forward since, files of this boot would seem older than
 * the boot (S28).
 */
function bootTimeOf(procStat: string, device: string): string | undefined {
  const seconds = /^btime (\d+)$/m.exec(procStat)?.[1]
  if (seconds === undefined) return undefined
  const madeMs = lstatSync(device, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
  return rfc3339(Math.min(Number(seconds), Math.floor(madeMs / 1000)) * 1000)
}

/** Comma-separated. */
function filesOf(flags: KubeletFlags, name: string): readonly string[] | undefined {
  const files = (flags.get(name) ?? '').split(',').filter((file) => file.startsWith('/'))
  return files.length === 0 ? undefined : files
}

/**
 * The text of the first file that is not empty. Device-tree files end in a NUL. If a file exists but may not be read (only
 * root may read the firmware's UUID), the value is unknown: the next file has another value than the kubelet reported.
 */
function firstText(root: string, files: readonly string[]): string | undefined {
  for (const file of files) {
    // Files on disk decide about S1, so only root may have been able to write them.
    const read = /^\/(proc|sys)\//.test(file) ? kernelTextIfAny : obeyedTextIfAny
    const text = read(root + file)
      ?.replaceAll('\0', '')
      .trim()
    if (text) return text
    if (text === undefined && read === kernelTextIfAny && existsSync(root + file)) return undefined
  }
  return undefined
}
