/**
 * Loop devices, and the file systems on them, are the machine's: a scenario sees those of its own, and none of another
 * test or of one that was killed, whose backing file may be out of sight, and so anybody's.
 */
import { readBackingFile } from '../../src/core/block/device-use.ts'
import type { Host } from '../../src/core/host/host.ts'

interface Loop {
  readonly backingFile?: string
}

/** Those on a file below a scenario's directory, or on such a loop device or a partition of it. */
export function ownLoops<T extends Loop>(loops: readonly T[], directory: string): T[] {
  const isOwn = (file = ''): boolean => {
    const [, below] = /^\/dev\/(loop\d+)/.exec(file) ?? []
    return file.startsWith(`${directory}/`) || (below !== undefined && isOwn(readBackingFile(below)))
  }
  return loops.filter(({ backingFile }) => isOwn(backingFile))
}

/** The host as it is but for what is not of this scenario. */
export function withOwnDevices(host: Host, directory: string): Host {
  const own: Partial<Host> = {
    loops: () => ownLoops(host.loops(), directory),
    hiddenFileSystems: (tables) =>
      host
        .hiddenFileSystems(tables)
        .filter(({ device }) => ownLoops([{ backingFile: readBackingFile(device) ?? '' }], directory).length > 0),
  }
  // Of a host that is a proxy itself nothing is asked before its time.
  return new Proxy(host, {
    get: (target, key, receiver) => Reflect.get(own, key) ?? Reflect.get(target, key, receiver),
  })
}
