/**
 * A CSI driver in the process that starts it: the Registration, Identity and Node services on unix sockets, doing the real thing with
 * loop devices or bind mounts. It holds its client to the CSI specification and notes every breach.
 */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type DescMethod, type Message, toJson } from '@bufbuild/protobuf'
import { isInUserNamespace } from '../../../src/core/linux/standing.ts'
import { errorMessage } from '../../../src/core/messages/findings.ts'
import { Identity, Node } from '../../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { Registration } from '../../../src/core/rpc/gen/pluginregistration/registration_pb.js'
import { detachLoops } from '../detach-loops.ts'
import { type Call, StatusError, serve, status } from '../grpc/serve.ts'
import type { BackendName } from './backend.ts'
import { Violation } from './checks.ts'
import { Faults } from './faults.ts'
import { NodeService } from './node-service.ts'

/** What kind of driver it is. */
export interface DriverOptions {
  /** Default: what this machine allows, loop devices or directories. */
  readonly backend?: BackendName
  /** Offers STAGE_UNSTAGE_VOLUME; default: true. */
  readonly stage?: boolean
  /** Mounts at the staging path; false: staging is only noted, as some drivers do. */
  readonly mountAtStage?: boolean
  /** Offers VOLUME_MOUNT_GROUP; default: false. */
  readonly mountGroup?: boolean
  /** Publishes only with the five keys of pod information; does nothing without PASSWORD among the secrets. */
  readonly strict?: boolean
}

export interface CsiDriverOptions extends DriverOptions {
  readonly name: string
  /** The kubelet's root directory. */
  readonly rootDir: string
  /** Of the images. */
  readonly stateDir: string
}

export interface LogEntry {
  readonly phase: 'begin' | 'end'
  readonly rpc: string
  readonly request: Readonly<Record<string, unknown>>
  /** The answer's code, at the end. */
  readonly code?: string
}

interface Breach {
  readonly rpc: string
  readonly text: string
  readonly request: Readonly<Record<string, unknown>>
}

export type CsiDriver = Awaited<ReturnType<typeof startCsiDriver>>

/** Whether loop devices can be made, and mounted, here: they need real root and the control device. */
export function loopDevicesWork(): boolean {
  if (!existsSync('/dev/loop-control') || isInUserNamespace()) return false
  try {
    // losetup finds a device for any user, but not everyone may open it.
    const device = execFileSync('losetup', ['--find'], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }).trim()
    accessSync(device, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Its mounts are made in the mount namespace of this process. */
export async function startCsiDriver(options: CsiDriverOptions) {
  const { name, rootDir, stateDir } = options
  const backend = options.backend ?? (loopDevicesWork() ? 'loop' : 'bind')
  const socketPath = join(rootDir, 'plugins', name, 'csi.sock')
  const registrationPath = join(rootDir, 'plugins_registry', `${name}-reg.sock`)
  mkdirSync(stateDir, { recursive: true })
  const faults = new Faults()
  const log: LogEntry[] = []
  const violations: Breach[] = []
  let node = new NodeService(options, backend)
  let ends: (() => void)[] = []

  /** As by SIGKILL: the sockets stay behind, with nobody listening. */
  const kill = async (): Promise<void> => {
    for (const end of ends.splice(0)) end()
  }
  /** Ends the driver as its deployment would: the sockets are removed. Mounts and loop devices stay. */
  const stop = async (): Promise<void> => {
    await kill()
    for (const path of [socketPath, registrationPath]) rmSync(path, { force: true })
  }
  const die = async (): Promise<never> => {
    await kill()
    return await new Promise(() => {})
  }
  const start = async (): Promise<void> => {
    /** By volume: one call at a time (C119). A second one is ABORTED, and a breach unless its client gave the first one up. */
    const pending = new Map<string, Call>()
    const alone = async (request: Message, call: Call, work: () => Promise<object>): Promise<object> => {
      const volume = 'volumeId' in request ? String(request.volumeId) : ''
      if (volume === '') return work()
      const other = pending.get(volume)
      const text = `another call for volume ${volume} is pending`
      if (other?.cancelled) throw new StatusError(status.ABORTED, text)
      if (other) throw new Violation(status.ABORTED, text)
      pending.set(volume, call)
      return await work().finally(() => pending.delete(volume))
    }
    const handle = async (request: Message, call: Call, { name: rpc, input }: DescMethod): Promise<object> => {
      const about = { rpc, request: toJson(input, request) as Record<string, unknown> }
      log.push({ phase: 'begin', ...about })
      try {
        const work = async (): Promise<object> => node.answer(rpc, request)
        const reply = await alone(request, call, () => faults.run(rpc, { call, work, die }))
        log.push({ phase: 'end', ...about, code: 'OK' })
        return reply
      } catch (error) {
        const { code, message } =
          error instanceof StatusError ? error : new StatusError(status.INTERNAL, errorMessage(error))
        if (error instanceof Violation) violations.push({ ...about, text: message })
        log.push({ phase: 'end', ...about, code: status[code] as string })
        throw new StatusError(code, message)
      }
    }
    const info = { type: 'CSIPlugin', name, endpoint: socketPath, supportedVersions: ['1.0.0'] }
    ends = [serve(socketPath, [Identity, handle], [Node, handle]), serve(registrationPath, [Registration, () => info])]
  }
  await start()
  return {
    name,
    rootDir,
    stateDir,
    backend,
    /** The driver's own socket. */
    socketPath,
    /** Replaces every fault at once, e.g. by `'fail NodeUnpublishVolume=INTERNAL:once'` (faults.ts). */
    setFaults: (...texts: string[]) => faults.set(texts),
    /** All calls to Identity and Node so far, restarts included: one entry when each begins, one when it ends. */
    log: () => [...log],
    /** `NodeUnpublishVolume`, … in the order in which they succeeded. */
    succeeded: () => log.flatMap(({ phase, rpc, code }) => (phase === 'end' && code === 'OK' ? [rpc] : [])),
    /** Every breach of the CSI specification by the client. */
    violations: () => [...violations],
    /** It no longer knows what was staged and published: a reboot has taken the mounts away. */
    forget: () => {
      node = new NodeService(options, backend)
    },
    stop,
    /** Starts it again, after stop or a fault that killed it. */
    restart: async () => {
      await stop()
      await start()
    },
    /** Ends it and detaches every loop device that it, or one of its block volumes, made; a mounted one with its mount. */
    dispose: async () => {
      await stop()
      if (backend === 'loop') detachLoops(rootDir, stateDir)
    },
  }
}
