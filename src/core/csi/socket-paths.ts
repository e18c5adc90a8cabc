import { isAbsolute, join, relative } from 'node:path'
import type { CsiSocket } from '../model/snapshot.ts'

/** Where the kubelet's root directory is, and how to reach the host's files from here. */
export interface SocketRoot {
  /** The kubelet's root directory, as the host names it. */
  readonly rootDir: string
  /** The host's root file system, where that is mounted elsewhere. */
  readonly hostRoot?: string
}

/** A path as the host names it, as it can be reached from here. */
export function reachable({ hostRoot }: SocketRoot, hostPath: string): string {
  return hostRoot === undefined || hostRoot === '/' ? hostPath : join(hostRoot, hostPath)
}

/** Relative to the root directory where the path lies below it, else as it is: the form of CsiSocket. */
export function recordedPath({ rootDir }: SocketRoot, hostPath: string): string {
  const inside = relative(rootDir, hostPath)
  return inside === '' || inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? hostPath : inside
}

/** The driver's own socket, as it can be reached from here; undefined where no registration told it. */
export function endpointPath(root: SocketRoot, socket: Pick<CsiSocket, 'endpoint'>): string | undefined {
  if (socket.endpoint === undefined) return undefined
  return reachable(root, isAbsolute(socket.endpoint) ? socket.endpoint : join(root.rootDir, socket.endpoint))
}
