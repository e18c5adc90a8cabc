/** Block devices that a process has mapped into its memory, and that stay mapped when their descriptor is closed. */
import { statSync } from 'node:fs'
import { anyDeviceNumberOf } from '../block/device-use.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'
import { kernelText } from '../trust/kernel.ts'

export interface BlockQuestion {
  /** "major:minor" of the block devices in question. */
  readonly numbers: readonly string[]
  /** Their names, for files whose number cannot be read. */
  readonly names: readonly string[]
  /** "major:minor" of the file systems that contain device files: no others are examined. */
  readonly on: readonly string[]
}

/** As in parse-maps.ts, with the addresses, which name the kernel's link to the file (map_files). */
const LINE = /(?<![^\n])0*([0-9a-f]+)-0*([0-9a-f]+) \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) \d+ +(\/[^\n]*)/g

/** Paths as seen in the process's namespace. @throws what reading the maps fails with */
export function mappedBlocks(pid: number, { numbers, names, on }: BlockQuestion): string[] {
  const found = new Set<string>()
  for (const [, from, to, major = '', minor = '', path = ''] of kernelText(`/proc/${pid}/maps`).matchAll(LINE)) {
    if (!on.includes(`${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}`)) continue
    const number = numberAt(`/proc/${pid}/map_files/${from}-${to}`)
    const isOne =
      number === undefined
        ? names.includes(undeletedPath(path).split('/').at(-1) ?? '')
        : number !== NO_DEVICE && numbers.includes(number)
    if (isOne) found.add(path)
  }
  return [...found]
}

const NO_DEVICE = 'no device'

function numberAt(link: string): string | undefined {
  try {
    return anyDeviceNumberOf(statSync(link)) ?? NO_DEVICE
  } catch {
    return undefined
  }
}

export interface Mapper {
  readonly pid: number
  readonly process: string
  readonly path: string
}
