import { isAbsolute, join, relative } from 'node:path'
import { compareText, present } from '../base/text.ts'
import { errorMessage } from '../messages/findings.ts'
import { nodeCapabilities } from './csi-node-client.ts'
import type { CsiSocket } from './endpoints.ts'
import { Identity } from './gen/csi/v1/csi_pb.js'
import { type PluginInfo, Registration } from './gen/pluginregistration/registration_pb.js'
import { deadlineIn, GrpcError } from './grpc-status.ts'
import { type CallOptions, unaryCall } from './unary-call.ts'

/** An entry of the kubelet's directories. */
interface ListedEntry {
  readonly path: string
  readonly name: string
  readonly type: string
  readonly mtime?: number
  /** It may not be entered. */
  readonly onTop?: 'open' | 'closed'
  readonly error?: string
}

/** The kubelet waits a second for GetInfo, too (C25). */
const DEFAULT_DEADLINE_MS = 1000

/** A node has one or two sockets for each driver. All are asked at once, so their number is limited (S34). */
const MAX_SOCKETS = 256

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
 *
 * @param rootDir the kubelet's root directory
 * @param tree what is in it, as far as it was listed
 * @param deadlineMs for each call; all sockets are asked at once
 */
export async function discoverCsiSockets(
  rootDir: string,
  tree: readonly ListedEntry[],
  deadlineMs = DEFAULT_DEADLINE_MS,
): Promise<readonly CsiSocket[]> {
  const registrations = socketsOf(tree, REGISTRATION)
  const conventional = socketsOf(tree, CONVENTIONAL)
  const unread = [...registrations.unread, ...conventional.unread]
  const madeAt = new Map(registrations.sockets.map(({ path, mtime = 0 }) => [path, mtime]))
  const asked = await Promise.all(registrations.sockets.map(({ path }) => askRegistration(rootDir, path, deadlineMs)))
  const registered = resolveDuplicates(
    asked.filter((socket) => socket !== undefined),
    madeAt,
  )
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
 *
 * @param madeAt by path, in seconds since the epoch
 */
function resolveDuplicates(sockets: readonly CsiSocket[], madeAt: ReadonlyMap<string, number>): readonly CsiSocket[] {
  const age = ({ path }: CsiSocket): number => madeAt.get(path) ?? 0
  const highest = ({ versions = [] }: CsiSocket): string => highestSupportedVersion(versions) ?? ''
  const rivals = sockets
    .filter((socket) => highest(socket) !== '')
    .toSorted((a, b) => compareVersions(highest(b), highest(a)) || age(a) - age(b))
  return sockets.map((socket) => {
    const winner = rivals.find(({ driver }) => driver === socket.driver)
    if (winner === undefined || winner === socket || highest(socket) === '') return socket
    return {
      ...socket,
      registered: false,
      error: `${winner.path} announces ${winner.driver}, too, and is the one in use`,
    }
  })
}

// What one socket answers.

/** The registration type of CSI drivers; device and DRA plugins register in the same directory (C25). */
const CSI_PLUGIN = 'CSIPlugin'

/** Bytes of an answer, which names a driver and its capabilities. Many sockets may be asked at once (S34). */
const RECEIVE_LIMIT = 256 * 1024

/**
 * Repeats the first half of the kubelet's handshake on one registration socket, then asks the driver itself.
 * @returns undefined for a plugin that is not a CSI driver
 */
async function askRegistration(rootDir: string, path: string, deadlineMs: number): Promise<CsiSocket | undefined> {
  const socketPath = join(rootDir, path)
  let info: PluginInfo
  try {
    info = await unaryCall(socketPath, Registration.method.getInfo, {}, within(deadlineMs))
  } catch (error) {
    return { path, registered: false, error: `registration socket: ${failure(error)}` }
  }
  if (info.type !== CSI_PLUGIN) return undefined
  const { name: driver, supportedVersions: versions } = info
  const endpoint = info.endpoint === '' ? socketPath : info.endpoint
  const known = { path, driver, endpoint: recordedPath(rootDir, endpoint), versions }
  const unfit = whyUnfit(info, endpoint)
  if (unfit !== undefined) return { ...known, registered: false, error: unfit }
  try {
    return { ...known, registered: true, capabilities: await nodeCapabilities(endpoint, within(deadlineMs)) }
  } catch (error) {
    const state = `registered, but the driver at ${endpoint} ${stateOf(error)}`
    return { ...known, registered: false, error: `${state}: ${failure(error)}` }
  }
}

function within(deadlineMs: number): CallOptions {
  return { deadline: deadlineIn(deadlineMs), receiveLimit: RECEIVE_LIMIT }
}

/** The path in CsiSocket: relative if it is below the root directory, otherwise absolute. */
function recordedPath(rootDir: string, path: string): string {
  // Only an absolute one has a place that does not depend on volctl's own directory, which may be gone.
  if (!isAbsolute(path)) return path
  const inside = relative(rootDir, path)
  return inside === '' || inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? path : inside
}

function whyUnfit({ name, supportedVersions }: PluginInfo, endpoint: string): string | undefined {
  if (name === '') return 'announces no driver name'
  if (highestSupportedVersion(supportedVersions) === undefined)
    return `announces no CSI version 1.x (versions: ${supportedVersions.join(', ') || 'none'})`
  // The kubelet takes the endpoint as a plain path (C5).
  return isAbsolute(endpoint) ? undefined : `announces an endpoint that is not a path: ${endpoint}`
}

/** Only a driver that cannot be reached is dead: a busy one is late, another answers with its own error. */
function stateOf(error: unknown): string {
  const code = error instanceof GrpcError ? error.code : undefined
  if (code === 'UNAVAILABLE') return 'is dead'
  return code === 'DEADLINE_EXCEEDED' ? 'is slow, or hangs' : 'answers with an error'
}

/** Asks a socket that no registration names for its driver (C28). */
async function askPlugin(rootDir: string, path: string, deadlineMs: number): Promise<CsiSocket> {
  const options = within(deadlineMs)
  const socketPath = join(rootDir, path)
  let known: Pick<CsiSocket, 'path' | 'driver' | 'endpoint'> = { path }
  try {
    const { name: driver } = await unaryCall(socketPath, Identity.method.getPluginInfo, {}, options)
    known = { path, driver, endpoint: path }
    const capabilities = await nodeCapabilities(socketPath, options)
    const error =
      'found by its own socket; no registration socket announces this driver, so the kubelet does not know it'
    return { ...known, capabilities, registered: true, error }
  } catch (error) {
    return { ...known, registered: false, error: failure(error) }
  }
}

function failure(error: unknown): string {
  return error instanceof GrpcError ? `${error.code}: ${error.details}` : errorMessage(error)
}

// A plugin's version: at least two numbers, most significant first.

/** The CSI major version that the kubelet speaks (C1). */
const SUPPORTED_MAJOR = 1

/**
 * The highest CSI 1.x version that a driver announces, as announced; undefined if it announces none. Texts that are not a
 * version are skipped (C1, TestValidatePlugin).
 *
 * @see Kubernetes `csiPlugin.validateVersions`, pkg/volume/csi/csi_plugin.go
 */
export function highestSupportedVersion(announced: readonly string[]): string | undefined {
  const supported = announced.filter((text) => numbersIn(text)[0] === SUPPORTED_MAJOR)
  // The first of equal ones.
  return supported.toSorted((a, b) => compareVersions(b, a))[0]
}

/** Negative, zero or positive as `a` is lower than, equal to or higher than `b`; missing numbers count as zero. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersIn(a), numbersIn(b)]
  const length = Math.max(left.length, right.length)
  const differences = Array.from({ length }, (_, index) => (left[index] ?? 0) - (right[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}

/** Numbers joined by dots, after an optional "v" and before anything else; no leading zeros in the first three. Else none. */
function numbersIn(text: string): number[] {
  const components = /^\s*v?(\d+(?:\.\d+)+)/.exec(text)?.[1]?.split('.') ?? []
  return components.slice(0, 3).some((each) => /^0\d/.test(each)) ? [] : components.map(Number)
}
