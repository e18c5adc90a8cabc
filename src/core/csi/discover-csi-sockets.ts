import type { CsiSocket } from '../model/snapshot.ts'
import { resolveDuplicates } from './resolve-duplicates.ts'
import { conventionalSockets, registrationSockets, type SocketFiles } from './socket-files.ts'

/** GetInfo is answered within a second, or the kubelet gives the plugin up (C25, C135). */
const DEFAULT_DEADLINE_MS = 1000

/** A node has a socket or two for each of its drivers; all are asked at once, and each may answer at length (S34). */
const MAX_SOCKETS = 256

export interface DiscoverOptions {
  /** The kubelet's root directory. */
  readonly rootDir: string
  /** For each question to a socket; all sockets are asked at once. */
  readonly deadlineMs?: number
  /** Directories, relative to the root directory, that are mount points: they are not entered, since they may hang. */
  readonly isMountPoint?: (path: string) => boolean
  /** Why a link in place of a directory, relative to the root directory, is not gone through. */
  readonly unknownLink?: (path: string) => string | undefined
}

/**
 * Every CSI driver's socket on this node, asked just now: first the registration sockets, then, for drivers that no
 * registration names, the sockets by convention in plugins (C24 to C28, R045). Only read-only questions are asked;
 * NotifyRegistrationStatus is never called (C27). Plugins of other types are left out.
 *
 * `registered` is true where the driver itself answered and can be called at `endpoint`. Where `error` is set beside
 * it, the driver can be called but the kubelet does not know it. Where `registered` is false, `error` says why:
 * nobody behind the registration socket, a driver that is registered but dead, no version that fits, another socket that
 * wins the name, or a directory that could not be read, in which there may be more.
 */
export async function discoverCsiSockets(options: DiscoverOptions): Promise<readonly CsiSocket[]> {
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS
  const { rootDir, isMountPoint = () => false } = options
  const walk = { rootDir, isMountPoint, ...(options.unknownLink && { unknownLink: options.unknownLink }) }
  const registrations = firstOf(registrationSockets(walk), 'plugins_registry')
  const conventional = firstOf(conventionalSockets(walk), 'plugins')
  // A node without a single socket needs neither gRPC nor its messages.
  if (registrations.sockets.length + conventional.sockets.length === 0) return unreadable(registrations, conventional)
  const { askPlugin, askRegistration } = await import('./ask-socket.ts')
  const asked = await Promise.all(registrations.sockets.map((file) => askRegistration(rootDir, file, deadlineMs)))
  const registered = resolveDuplicates(asked.filter((answer) => answer !== undefined))
  const named = new Set(registered.map(({ endpoint }) => endpoint))
  const others = await Promise.all(
    conventional.sockets.filter(({ path }) => !named.has(path)).map(({ path }) => askPlugin(rootDir, path, deadlineMs)),
  )
  const names = new Set(registered.filter((socket) => socket.registered).map(({ driver }) => driver))
  return [
    ...registered,
    ...others.filter((socket) => socket.driver === undefined || !names.has(socket.driver)),
    ...unreadable(registrations, conventional),
  ]
}

/** @param path of the directory */
function firstOf({ sockets, unread }: SocketFiles, path: string): SocketFiles {
  if (sockets.length <= MAX_SOCKETS) return { sockets, unread }
  const error = `${sockets.length} sockets: only the first ${MAX_SOCKETS} are asked`
  return { sockets: sockets.slice(0, MAX_SOCKETS), unread: [...unread, { path, error }] }
}

/** Directories that could not be read, in which there may be more sockets. */
function unreadable(...walks: readonly { readonly unread: readonly { path: string; error: string }[] }[]): CsiSocket[] {
  return walks.flatMap(({ unread }) => unread.map(({ path, error }) => ({ path, registered: false, error })))
}
