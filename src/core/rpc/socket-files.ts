import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { compareText } from '../base/compare-text.ts'
import { errorMessage, isMissing } from '../base/errors.ts'

/** A unix socket below the root directory. */
export interface SocketFile {
  /** Relative to the root directory. */
  readonly path: string
  /** Modification time, in milliseconds since the epoch. */
  readonly madeAt: number
}

/** A socket or directory that could not be read, so there may be more sockets (S3). */
interface Unread {
  readonly path: string
  readonly error: string
}

export interface SocketFiles {
  readonly sockets: readonly SocketFile[]
  readonly unread: readonly Unread[]
}

interface SocketWalk {
  /** Where a path relative to the root directory is. */
  readonly placeOf: (path: string) => string
  /** Directories, relative to the root directory, that must not be entered: mount points may hang. */
  readonly isMountPoint: (path: string) => boolean
  /**
   * Why a link in place of such a directory is not followed: the user who made the link may have made sockets, too (S8, S33).
   */
  readonly unknownLink?: (path: string) => string | undefined
}

/** Registration sockets: anywhere below plugins_registry, with names that do not begin with a dot (C24, R045). */
export function registrationSockets(walk: SocketWalk): SocketFiles {
  return socketsBelow(walk, 'plugins_registry', Number.POSITIVE_INFINITY)
}

/** Sockets in plugins/DRIVER, where drivers listen by convention; not in the kubelet's own directories (C28). */
export function conventionalSockets(walk: SocketWalk): SocketFiles {
  return socketsBelow(walk, 'plugins', 1)
}

function socketsBelow(walk: SocketWalk, directory: string, depth: number): SocketFiles {
  const sockets: SocketFile[] = []
  const unread: Unread[] = []
  let entries: readonly Dirent[] = []
  const unknown = walk.unknownLink?.(directory)
  if (unknown !== undefined) return { sockets, unread: [{ path: directory, error: unknown }] }
  try {
    entries = readdirSync(walk.placeOf(directory), { withFileTypes: true })
  } catch (error) {
    if (!isMissing(error)) unread.push({ path: directory, error: errorMessage(error) })
  }
  for (const entry of entries.toSorted((a, b) => compareText(a.name, b.name))) {
    const path = `${directory}/${entry.name}`
    if (entry.isSocket() && !entry.name.startsWith('.')) {
      try {
        sockets.push(...socketFile(walk, path))
      } catch (error) {
        unread.push({ path, error: errorMessage(error) })
      }
    }
    if (entry.isDirectory() && depth > 0 && entry.name !== 'kubernetes.io' && !walk.isMountPoint(path)) {
      const below = socketsBelow(walk, path, depth - 1)
      sockets.push(...below.sockets)
      unread.push(...below.unread)
    }
  }
  return { sockets, unread }
}

/** Empty if the socket was removed since the directory was listed. */
function socketFile({ placeOf }: SocketWalk, path: string): SocketFile[] {
  const stat = lstatSync(placeOf(path), { throwIfNoEntry: false })
  return stat === undefined ? [] : [{ path, madeAt: stat.mtimeMs }]
}
