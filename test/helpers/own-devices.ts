/**
 * Loop devices, and the file systems on them, are the machine's: a scenario sees only its own, and none of another test or of
 * a killed one, whose backing file may not be visible, so that it may be anyone's.
 */
import { readBackingFile } from '../../src/core/linux/block/device-use.ts'
import type { Host } from '../../src/core/node/host.ts'

interface Loop {
  readonly backingFile?: string
}

/** Loop devices on a file below a scenario's directory, or on such a loop device or its partition. */
export function ownLoops<T extends Loop>(loops: readonly T[], directory: string): T[] {
  const isOwn = (file = ''): boolean => {
    const [, below] = /^\/dev\/(loop\d+)/.exec(file) ?? []
    return file.startsWith(`${directory}/`) || (below !== undefined && isOwn(readBackingFile(below)))
  }
  return loops.filter(({ backingFile }) => isOwn(backingFile))
}

/** The real host, without the devices of other scenarios. */
export function withOwnDevices(host: Host, directory: string): Host {
  const own: Partial<Host> = {
    loops: () => ownLoops(host.loops(), directory),
    hiddenFileSystems: (tables) =>
      host
        .hiddenFileSystems(tables)
        .filter(({ device }) => ownLoops([{ backingFile: readBackingFile(device) ?? '' }], directory).length > 0),
  }
  // Properties of a host that is itself a proxy are only read when used.
  return new Proxy(host, {
    get: (target, key, receiver) => Reflect.get(own, key) ?? Reflect.get(target, key, receiver),
  })
}
