import type { CsiSocket } from '../facts/actual/snapshot.ts'
import type { RegistrationAnswer } from './ask-socket.ts'
import { compareVersions, highestSupportedVersion } from './ask-socket.ts'
import { conventionalSockets, registrationSockets, type SocketFiles, type SocketWalk } from './socket-files.ts'

/** The kubelet waits a second for GetInfo, too (C25). */
const DEFAULT_DEADLINE_MS = 1000

/** A node has one or two sockets for each driver. All are asked at once, so their number is limited (S34). */
const MAX_SOCKETS = 256

export interface DiscoverOptions extends SocketWalk {
  /** For each call; all sockets are asked at once. */
  readonly deadlineMs?: number
}

/**
 * Asks every CSI driver's socket on this node: first the registration sockets; then, for drivers that no registration names,
 * the sockets in plugins that drivers have by convention (C24 to C28, R045). Only read-only calls are made, never
 * NotifyRegistrationStatus (C27). Plugins of other types are left out.
 *
 * If `registered` is true, the driver itself answered and can be called at `endpoint`; with an `error` as well, the kubelet
 * does not know the driver. If `registered` is false, `error` says why: nobody answers on the registration socket, a
 * registered driver is dead, no version fits, another socket has the same driver name, or a directory that may contain
 * sockets could not be read.
 */
export async function discoverCsiSockets(options: DiscoverOptions): Promise<readonly CsiSocket[]> {
  const { rootDir, deadlineMs = DEFAULT_DEADLINE_MS } = options
  const registrations = firstOf(registrationSockets(options), 'plugins_registry')
  const conventional = firstOf(conventionalSockets(options), 'plugins')
  // Without a single socket, neither gRPC nor its messages are loaded.
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
  const error = `${sockets.length} sockets, of these only the first ${MAX_SOCKETS} are asked`
  return { sockets: sockets.slice(0, MAX_SOCKETS), unread: [...unread, { path, error }] }
}

/** Directories that could not be read, and may contain more sockets. */
function unreadable(...walks: readonly { readonly unread: readonly { path: string; error: string }[] }[]): CsiSocket[] {
  return walks.flatMap(({ unread }) => unread.map(({ path, error }) => ({ path, registered: false, error })))
}

/**
 * If several sockets announce the same driver, the kubelet keeps the one with the highest version, or the one that registered
 * first (C26). Only the kubelet knows the order of registration, so the age of the socket files is used instead. The other
 * sockets stay in the list as not registered, and name the socket that is kept.
 */
function resolveDuplicates(answers: readonly RegistrationAnswer[]): readonly CsiSocket[] {
  const winners = new Map<string, RegistrationAnswer>()
  for (const answer of answers) {
    const { driver } = answer.socket
    if (driver === undefined || highest(answer) === undefined) continue
    const other = winners.get(driver)
    if (other === undefined || beats(answer, other)) winners.set(driver, answer)
  }
  return answers.map((answer) => {
    const winner = winners.get(answer.socket.driver ?? '')
    if (winner === undefined || winner === answer || highest(answer) === undefined) return answer.socket
    return {
      ...answer.socket,
      registered: false,
      error: `${winner.socket.path} announces ${winner.socket.driver}, too, and is the one in use`,
    }
  })
}

function beats(a: RegistrationAnswer, b: RegistrationAnswer): boolean {
  const byVersion = compareVersions(highest(a) ?? '', highest(b) ?? '')
  return byVersion === 0 ? a.madeAt < b.madeAt : byVersion > 0
}

function highest({ socket }: RegistrationAnswer): string | undefined {
  return highestSupportedVersion(socket.versions ?? [])
}
