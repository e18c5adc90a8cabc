/** Disks of the tests: loop devices, each for as long as the work takes. */
import { detachLoop } from '../helpers/detach-loops.ts'
import { sh } from '../helpers/scenario.ts'

export async function withLoop<T>(image: string, work: (device: string) => Promise<T>): Promise<T> {
  const device = sh('losetup', '-f', '--show', image)
  try {
    return await work(device)
  } finally {
    detachLoop(device)
  }
}

/** On a sparse image; undefined: with nothing on it. */
export async function withDisk<T>(
  directory: string,
  type: 'ext4' | 'xfs' | undefined,
  work: (device: string) => Promise<T>,
): Promise<T> {
  const image = `${directory}/disk-${type ?? 'empty'}.img`
  sh('truncate', '-s', '300M', image)
  if (type !== undefined) sh(`mkfs.${type}`, type === 'xfs' ? '-q' : '-qF', image)
  return await withLoop(image, work)
}
