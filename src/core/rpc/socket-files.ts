import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { compareText } from '../base/compare-text.ts'
import { errorMessage, isMissing } from '../base/errors.ts'
import type { CsiSocket } from '../facts/actual/snapshot.ts'

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

/** Where sockets are looked for. */
export interface SocketWalk {
  /** The kubelet's root directory. */
  readonly rootDir: string
  /** Directories, relative to the root directory, that are mount points: they are not entered, since they may hang. */
  readonly isMountPoint?: (path: string) => boolean
  /** Where a directory was when its links were followed. @param path absolute */
  readonly placeOf?: (path: string) => string
  /**
   * Why a link in place of a directory (relative to the root directory) is not followed: the user who made the link may have made
   * sockets, too (S8, S33).
   */
  readonly unknownLink?: (path: string) => string | undefined
}

function placeIn({ rootDir, placeOf = (path) => path }: SocketWalk, path: string): string {
  return placeOf(join(rootDir, path))
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
    entries = readdirSync(placeIn(walk, directory), { withFileTypes: true })
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
    if (entry.isDirectory() && depth > 0 && entry.name !== 'kubernetes.io' && !walk.isMountPoint?.(path)) {
      const below = socketsBelow(walk, path, depth - 1)
      sockets.push(...below.sockets)
      unread.push(...below.unread)
    }
  }
  return { sockets, unread }
}

/** Empty if the socket was removed since the directory was listed. */
function socketFile(walk: SocketWalk, path: string): SocketFile[] {
  const stat = lstatSync(placeIn(walk, path), { throwIfNoEntry: false })
  return stat === undefined ? [] : [{ path, madeAt: stat.mtimeMs }]
}

/** The path in CsiSocket: relative if it is below the root directory, otherwise absolute. */
export function recordedPath(rootDir: string, path: string): string {
  const inside = relative(rootDir, path)
  return inside === '' || inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? path : inside
}

/** The path of the driver's own socket; undefined where no registration names it. */
export function endpointPath(rootDir: string, { endpoint }: Pick<CsiSocket, 'endpoint'>): string | undefined {
  return endpoint === undefined || isAbsolute(endpoint) ? endpoint : join(rootDir, endpoint)
}

/** The path of a `unix:` endpoint (C117), or of a plain path (C5); undefined for any other scheme. */
export function unixSocketPath(endpoint: string): string | undefined {
  if (endpoint.startsWith('/')) return endpoint
  return /^unix:(?:\/\/)?(\/.*)$/.exec(endpoint)?.[1]
}
