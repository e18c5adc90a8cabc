import { compareText } from '../base/compare-text.ts'
import { present } from '../base/take.ts'
import type { CsiSocket } from '../facts/actual/snapshot.ts'
import type { ListedEntry } from '../facts/actual/tree.ts'
import type { RegistrationAnswer } from './ask-socket.ts'
import { compareVersions, highestSupportedVersion } from './ask-socket.ts'

/** The kubelet waits a second for GetInfo, too (C25). */
const DEFAULT_DEADLINE_MS = 1000

/** A node has one or two sockets for each driver. All are asked at once, so their number is limited (S34). */
const MAX_SOCKETS = 256

export interface DiscoverOptions {
  /** The kubelet's root directory. */
  readonly rootDir: string
  /** What is in it, as far as it was listed. */
  readonly tree: readonly ListedEntry[]
  /** For each call; all sockets are asked at once. */
  readonly deadlineMs?: number
}

/** Registration sockets: anywhere below this directory (C24, R045). */
const REGISTRATION = { top: 'plugins_registry', within: /^plugins_registry(?:\/|$)/ }
/** Sockets in plugins/DRIVER, where drivers listen by convention; not in the kubelet's own directories (C28). */
const CONVENTIONAL = { top: 'plugins', within: /^plugins(?:\/(?!kubernetes\.io(?:\/|$))[^/]+){0,2}$/ }

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
  const { rootDir, tree, deadlineMs = DEFAULT_DEADLINE_MS } = options
  const registrations = socketsOf(tree, REGISTRATION)
  const conventional = socketsOf(tree, CONVENTIONAL)
  const unread = [...registrations.unread, ...conventional.unread]
  // Without a single socket, neither gRPC nor its messages are loaded.
  if (registrations.sockets.length + conventional.sockets.length === 0) return unread
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
    ...unread,
  ]
}

/** With directories and sockets that could not be read, so that there may be more (S3). */
function socketsOf(tree: readonly ListedEntry[], { top, within }: typeof REGISTRATION) {
  const order = ({ path }: ListedEntry): string => path.replaceAll('/', '\0')
  const found = tree.filter(({ path }) => within.test(path)).toSorted((a, b) => compareText(order(a), order(b)))
  const sockets = found.filter(({ type, name, error }) => type === 'socket' && !name.startsWith('.') && !error)
  const more = `${sockets.length} sockets, of these only the first ${MAX_SOCKETS} are asked`
  const unread = [
    ...found.flatMap(({ path, type, error, onTop }) => {
      const isClosed = path === top && onTop === 'closed'
      const [why] = present(type !== 'file' && error, isClosed && 'what is mounted there may hang, and is not entered')
      return why === undefined ? [] : { path, registered: false, error: why }
    }),
    ...(sockets.length > MAX_SOCKETS ? [{ path: top, registered: false, error: more }] : []),
  ]
  return { sockets: sockets.slice(0, MAX_SOCKETS), unread }
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
