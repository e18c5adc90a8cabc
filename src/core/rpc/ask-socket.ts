import { isAbsolute, join, relative } from 'node:path'
import { errorMessage } from '../base/errors.ts'
import type { CsiSocket, TreeEntry } from '../facts/actual/snapshot.ts'
import { nodeCapabilities } from './csi-node-client.ts'
import { Identity } from './gen/csi/v1/csi_pb.js'
import { type PluginInfo, Registration } from './gen/pluginregistration/registration_pb.js'
import { deadlineIn, GrpcError } from './grpc-status.ts'
import { unaryCall } from './unary-call.ts'

/** The registration type of CSI drivers; device and DRA plugins register in the same directory (C25). */
const CSI_PLUGIN = 'CSIPlugin'

/** Bytes of an answer, which names a driver and its capabilities. Many sockets may be asked at once (S34). */
const RECEIVE_LIMIT = 256 * 1024

/** A registration socket's answer, with when it was made, which decides between two sockets of one driver (C26). */
export interface RegistrationAnswer {
  readonly socket: CsiSocket
  /** In seconds since the epoch. */
  readonly madeAt: number
}

/**
 * Repeats the first half of the kubelet's handshake on one registration socket, then asks the driver itself.
 * @returns undefined for a plugin that is not a CSI driver
 */
export async function askRegistration(
  rootDir: string,
  { path, mtime: madeAt = 0 }: TreeEntry,
  deadlineMs: number,
): Promise<RegistrationAnswer | undefined> {
  const socketPath = join(rootDir, path)
  let info: PluginInfo
  try {
    const deadline = deadlineIn(deadlineMs)
    info = await unaryCall(socketPath, Registration.method.getInfo, {}, { deadline, receiveLimit: RECEIVE_LIMIT })
  } catch (error) {
    return { madeAt, socket: { path, registered: false, error: `registration socket: ${failure(error)}` } }
  }
  if (info.type !== CSI_PLUGIN) return undefined
  const endpoint = info.endpoint === '' ? socketPath : info.endpoint
  const known = {
    path,
    driver: info.name,
    endpoint: recordedPath(rootDir, endpoint),
    versions: info.supportedVersions,
  }
  return { madeAt, socket: { ...known, ...(await judge(info, endpoint, deadlineMs)) } }
}

/** The path in CsiSocket: relative if it is below the root directory, otherwise absolute. */
function recordedPath(rootDir: string, path: string): string {
  const inside = relative(rootDir, path)
  return inside === '' || inside === '..' || inside.startsWith('../') || isAbsolute(inside) ? path : inside
}

type Judgement = Pick<CsiSocket, 'registered' | 'capabilities' | 'error'>

async function judge(info: PluginInfo, endpoint: string, deadlineMs: number): Promise<Judgement> {
  if (info.name === '') return { registered: false, error: 'announces no driver name' }
  if (highestSupportedVersion(info.supportedVersions) === undefined) {
    const announced = info.supportedVersions.join(', ') || 'none'
    return { registered: false, error: `announces no CSI version 1.x (versions: ${announced})` }
  }
  // The kubelet takes the endpoint as a plain path (C5).
  if (!isAbsolute(endpoint))
    return { registered: false, error: `announces an endpoint that is not a path: ${endpoint}` }
  try {
    const options = { deadline: deadlineIn(deadlineMs), receiveLimit: RECEIVE_LIMIT }
    return { registered: true, capabilities: await nodeCapabilities(endpoint, options) }
  } catch (error) {
    return {
      registered: false,
      error: `registered, but the driver at ${endpoint} ${stateOf(error)}: ${failure(error)}`,
    }
  }
}

/** Only a driver that cannot be reached is dead: a busy one is late, another answers with its own error. */
function stateOf(error: unknown): string {
  const code = error instanceof GrpcError ? error.code : undefined
  if (code === 'UNAVAILABLE') return 'is dead'
  return code === 'DEADLINE_EXCEEDED' ? 'is slow, or hangs' : 'answers with an error'
}

/** Asks a socket that no registration names for its driver (C28). */
export async function askPlugin(rootDir: string, path: string, deadlineMs: number): Promise<CsiSocket> {
  const options = { deadline: deadlineIn(deadlineMs), receiveLimit: RECEIVE_LIMIT }
  const socketPath = join(rootDir, path)
  let driver: string
  try {
    driver = (await unaryCall(socketPath, Identity.method.getPluginInfo, {}, options)).name
  } catch (error) {
    return { path, registered: false, error: failure(error) }
  }
  const known = { path, driver, endpoint: path }
  try {
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
