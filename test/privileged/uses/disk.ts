/** The disks of the trials: loop devices on images, whole or in two partitions. */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { sh } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'
import { LINE } from './held.ts'

const MIB = 1024 * 1024
const SECTOR = 512
const HALF = 16 * MIB
/** Behind both halves. */
export const RAW_AT = 2 * HALF
const SIZE = RAW_AT + MIB

export interface Disk {
  /** The file that stands for it. */
  readonly image: string
  /** /dev/loopN */
  readonly device: string
  /** What the volume's file system is on: the disk, or its first partition. */
  readonly fileSystem: string
  /** The second partition, with a file system of its own. */
  readonly other?: string
  /** It is another machine's by now, though it can still be read here. */
  gone?: true
}

/**
 * An ext4 on the first half of a disk; behind both halves the mark, which nothing else touches.
 *
 * @param partitioned the halves are partitions, and the second has an ext4 as well
 */
export async function attachDisk(image: string, mark: string, partitioned: boolean): Promise<Disk> {
  writeFileSync(image, '')
  truncateSync(image, SIZE)
  const starts = partitioned ? [MIB, HALF] : [0]
  for (const start of starts) {
    const offset = start === 0 ? [] : ['-E', `offset=${start}`]
    sh('mkfs.ext4', '-q', '-F', '-m', '0', ...offset, image, `${(HALF - (start % HALF)) / 1024}k`)
  }
  const fd = openSync(image, 'r+')
  if (partitioned) writePartitions(fd, starts)
  writeSync(fd, mark, RAW_AT, 'latin1')
  closeSync(fd)
  const device = sh('losetup', '--find', '--show', image)
  if (!partitioned) return { image, device, fileSystem: device }
  // Not every kernel reads the table by itself; one that was another's may still have old ones.
  sh('partx', '--update', device)
  const other = `${device}p2`
  if (!(await until(() => existsSync(other)))) throw new Error(`${other} does not come`)
  return { image, device, fileSystem: `${device}p1`, other }
}

/** Each to the end of its half. */
function writePartitions(fd: number, starts: readonly number[]): void {
  for (const [index, start] of starts.entries()) {
    const entry = Buffer.alloc(16)
    entry[4] = 0x83
    entry.writeUInt32LE(start / SECTOR, 8)
    entry.writeUInt32LE((HALF - (start % HALF)) / SECTOR, 12)
    writeSync(fd, entry, 0, entry.length, 446 + 16 * index)
  }
  writeSync(fd, Buffer.from([0x55, 0xaa]), 0, 2, 510)
}

/** As a cloud takes a disk away, and gives it to another machine: whoever reads it here finds nothing. */
export function wipe(image: string): void {
  truncateSync(image, 0)
  truncateSync(image, SIZE)
}

/** Does the disk still have all that was on it? */
export function isWhole({ image, gone }: Disk, mark: string): boolean {
  if (gone) return false
  const fd = openSync(image, 'r')
  const bytes = Buffer.alloc(LINE)
  readSync(fd, bytes, 0, LINE, RAW_AT)
  closeSync(fd)
  return bytes.toString('latin1') === mark
}

export const holds = ({ image }: Disk, text: string): boolean => readFileSync(image).includes(text, 0, 'latin1')
