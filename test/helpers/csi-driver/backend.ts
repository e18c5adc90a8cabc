import { existsSync, mkdirSync, realpathSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLoops } from '../../../src/core/linux/block/device-use.ts'
import { detachLoop } from '../detach-loops.ts'
import { bindMount, command, mountPointOf, unmountAll } from './mounts.ts'

export type BackendName = 'loop' | 'bind'

/** Where a volume's data is kept, and how it is mounted on a path. */
export interface Backend {
  /**
   * Makes the volume if it does not exist yet.
   *
   * @param fsType ext4 if empty; a directory has that of the node
   */
  create(id: string, access: 'mount' | 'block', fsType: string): Promise<void>
  /** Mounts the file system at a directory. */
  mount(id: string, directory: string): Promise<void>
  /** Undoes `mount`, and releases the volume's device once nothing uses it. */
  unmount(id: string, directory: string): Promise<void>
  /** A device to bind-mount at a block target. */
  openDevice(id: string): Promise<string>
  closeDevice(id: string): Promise<void>
  expand(id: string, size: number): Promise<void>
}

/** Of a new volume, in bytes. */
const SIZE = 16 * 1024 * 1024

export function createBackend(name: BackendName, stateDir: string): Backend {
  const directory = join(stateDir, 'volumes')
  mkdirSync(directory, { recursive: true })
  // A handle may hold slashes, and be long.
  const fileOf = (id: string): string => join(directory, Buffer.from(id).toString('hex').slice(0, 200))
  return name === 'loop' ? new LoopBackend(fileOf) : directories(fileOf)
}

/** mkfs.xfs makes none below 300 MiB. */
const SMALLEST_XFS = 300 * 1024 * 1024

/** An ext4 or xfs file system in an image file, or the bare image as a block device, through a loop device. */
class LoopBackend implements Backend {
  readonly #fileOf: (id: string) => string

  constructor(fileOf: (id: string) => string) {
    this.#fileOf = fileOf
  }

  async create(id: string, access: 'mount' | 'block', fsType: string): Promise<void> {
    const image = this.#image(id)
    if (existsSync(image)) return
    makeImage(`${image}.new`, fsType === 'xfs' ? SMALLEST_XFS : SIZE)
    if (access === 'mount' && fsType === 'xfs') await command('mkfs.xfs', '-q', `${image}.new`)
    else if (access === 'mount') await command('mkfs.ext4', '-q', '-F', '-m', '0', `${image}.new`)
    renameSync(`${image}.new`, image)
  }

  async mount(id: string, directory: string): Promise<void> {
    await command('mount', '--', await this.openDevice(id), directory)
  }

  async unmount(id: string, directory: string): Promise<void> {
    await unmountAll(directory)
    await this.closeDevice(id)
  }

  async openDevice(id: string): Promise<string> {
    const [device] = this.#devices(id)
    return device ?? (await command('losetup', '--find', '--show', this.#image(id)))
  }

  /** Detaching a loop device that is still mounted somewhere takes effect when the last mount goes. */
  async closeDevice(id: string): Promise<void> {
    for (const device of this.#devices(id)) detachLoop(device)
  }

  async expand(id: string, size: number): Promise<void> {
    truncateSync(this.#image(id), Math.max(size, statSync(this.#image(id)).size))
    for (const device of this.#devices(id)) {
      await command('losetup', '--set-capacity', device)
      const mounted = mountPointOf(device)
      const fsType = await command('blkid', '-p', '-s', 'TYPE', '-o', 'value', device).catch(() => '')
      if (fsType === 'ext4') await command('resize2fs', device)
      if (fsType === 'xfs' && mounted !== undefined) await command('xfs_growfs', mounted)
    }
  }

  /** By sysfs: losetup opens every loop device of the machine, and so delays a detach by another test. */
  #devices(id: string): string[] {
    const image = realpathSync(this.#image(id))
    return readLoops().flatMap(({ device, backingFile }) => (backingFile === image ? [device] : []))
  }

  #image(id: string): string {
    return `${this.#fileOf(id)}.img`
  }
}

/** Directories, which work without loop devices. */
const directories = (fileOf: (id: string) => string): Backend => ({
  create: async (id) => void mkdirSync(fileOf(id), { recursive: true }),
  mount: (id, directory) => bindMount(fileOf(id), directory, false),
  unmount: (_, directory) => unmountAll(directory),
  openDevice: () => Promise.reject(new Error('a directory is no device')),
  closeDevice: async () => undefined,
  expand: async () => undefined,
})

function makeImage(image: string, size: number): void {
  writeFileSync(image, '')
  truncateSync(image, size)
}
