import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLoops } from '../../../src/core/linux/block/device-use.ts'
import { detachLoop } from '../detach-loops.ts'
import { bindMount, command, mountPointOf, mountsAt, unmountAll } from './mounts.ts'

export type BackendName = 'loop' | 'tmpfs' | 'bind'

/** Where a volume's data is kept, and how it is mounted on a path. */
export interface Backend {
  /**
   * Makes the volume if it does not exist yet.
   *
   * @param fsType ext4 if empty; the other backends have their own file systems
   */
  create(id: string, access: 'mount' | 'block', fsType: string): Promise<void>
  /** Mounts the file system at a directory. */
  mount(id: string, directory: string): Promise<void>
  /** Undoes `mount`, and releases the volume's device once nothing uses it. */
  unmount(id: string, directory: string): Promise<void>
  /** A file or device to bind-mount at a block target. */
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
  return name === 'loop' ? new LoopBackend(fileOf) : new DirectoryBackend(fileOf, name === 'tmpfs')
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

/** Directories, which work without loop devices: bind-mounted, or, to be disks of their own, each a tmpfs that is filled from one and saved to it. */
class DirectoryBackend implements Backend {
  readonly #fileOf: (id: string) => string
  readonly #isTmpfs: boolean

  constructor(fileOf: (id: string) => string, isTmpfs: boolean) {
    this.#fileOf = fileOf
    this.#isTmpfs = isTmpfs
  }

  async create(id: string, access: 'mount' | 'block'): Promise<void> {
    if (access === 'mount') mkdirSync(this.#fileOf(id), { recursive: true })
    else if (!existsSync(await this.openDevice(id))) makeImage(await this.openDevice(id), SIZE)
  }

  async mount(id: string, directory: string): Promise<void> {
    if (!this.#isTmpfs) return await bindMount(this.#fileOf(id), directory, false)
    await command('mount', '-t', 'tmpfs', '-o', `size=${SIZE},mode=0755`, 'volume', directory)
    await command('cp', '-a', `${this.#fileOf(id)}/.`, directory)
  }

  async unmount(id: string, directory: string): Promise<void> {
    if (this.#isTmpfs && mountsAt(directory) > 0) {
      const kept = this.#fileOf(id)
      await command('cp', '-a', directory, `${kept}.new`)
      rmSync(kept, { recursive: true, force: true })
      renameSync(`${kept}.new`, kept)
    }
    await unmountAll(directory)
  }

  async openDevice(id: string): Promise<string> {
    return `${this.#fileOf(id)}.img`
  }

  async closeDevice(): Promise<void> {}

  async expand(): Promise<void> {}
}

function makeImage(image: string, size: number): void {
  writeFileSync(image, '')
  truncateSync(image, size)
}
