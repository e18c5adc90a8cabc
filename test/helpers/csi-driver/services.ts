import { type DescMethod, type Message, toJson } from '@bufbuild/protobuf'
import {
  Identity,
  Node,
  type NodeExpandVolumeRequest,
  type NodeGetVolumeStatsRequest,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
} from '../../../src/core/grpc/gen/csi/v1/csi_pb.js'
import { Registration } from '../../../src/core/grpc/gen/pluginregistration/registration_pb.js'
import { addRawMethod, addService, type Server, type ServerUnaryCall, StatusError, status } from '../grpc/serve.ts'
import { Violation } from './checks.ts'
import { Faults } from './faults.ts'
import { Journal } from './journal.ts'
import { NodeService } from './node-service.ts'
import type { DriverOptions } from './options.ts'

type Call = ServerUnaryCall<Message, Message>

/** Identity and Node on the driver's own socket: every call is logged, may be made to fail, and is held to the rules. */
export function addDriverServices(server: Server, options: DriverOptions): void {
  const journal = new Journal(options.stateDir)
  const faults = new Faults(options.stateDir)
  faults.seed(options.faults)
  const work = methods(options)
  const inFlight = new InFlight()
  let calls = 0

  const handle = async (request: Message, call: Call, method: DescMethod): Promise<object> => {
    const about = { call: ++calls, rpc: method.name, request: masked(request, method) }
    journal.log({ phase: 'begin', ...about })
    try {
      const one = work[method.name]
      if (one === undefined) throw new StatusError(status.UNIMPLEMENTED, method.name)
      const reply = await inFlight.run(request, call, () => faults.run(method.name, call, async () => one(request)))
      journal.log({ phase: 'end', ...about, code: 'OK' })
      return reply
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const code = error instanceof StatusError ? error.code : status.INTERNAL
      if (error instanceof Violation) journal.violation({ rpc: method.name, text: message, request: about.request })
      journal.log({ phase: 'end', ...about, code: status[code], message })
      throw new StatusError(code, message)
    }
  }
  addService(server, Identity, handle)
  addService(server, Node, handle)
}

/** The registrar's part, on a separate socket. Only the kubelet may report the outcome of the registration (C27). */
export function addRegistration(server: Server, options: DriverOptions): void {
  const journal = new Journal(options.stateDir)
  const faults = new Faults(options.stateDir)
  const info = {
    type: 'CSIPlugin',
    name: options.name,
    endpoint: options.endpoint,
    supportedVersions: [...options.versions],
  }
  addService(server, Registration, (_request, call) => faults.run('GetInfo', call, async () => info))
  addRawMethod(server, '/pluginregistration.Registration/NotifyRegistrationStatus', () => {
    journal.violation({ rpc: 'NotifyRegistrationStatus', text: 'only the kubelet may call this', request: {} })
  })
}

function methods(options: DriverOptions): Readonly<Record<string, (request: Message) => object | Promise<object>>> {
  const node = new NodeService(options)
  return {
    GetPluginInfo: () => ({ name: options.name, vendorVersion: '1.0.0-test' }),
    GetPluginCapabilities: () => ({ capabilities: [] }),
    Probe: () => ({ ready: true }),
    NodeGetCapabilities: () => ({
      capabilities: node.capabilities().map((type) => ({ type: { case: 'rpc', value: { type } } })),
    }),
    NodeGetInfo: () => ({ nodeId: options.nodeId }),
    NodeStageVolume: (request) => node.stage(request as NodeStageVolumeRequest),
    NodeUnstageVolume: (request) => node.unstage(request as NodeUnstageVolumeRequest),
    NodePublishVolume: (request) => node.publish(request as NodePublishVolumeRequest),
    NodeUnpublishVolume: (request) => node.unpublish(request as NodeUnpublishVolumeRequest),
    NodeExpandVolume: (request) => node.expand(request as NodeExpandVolumeRequest),
    NodeGetVolumeStats: (request) => node.stats(request as NodeGetVolumeStatsRequest),
  }
}

/** One call per volume at a time (C119): a second one is ABORTED, and a breach unless its client gave the first one up. */
class InFlight {
  readonly #calls = new Map<string, Call>()

  async run(request: Message, call: Call, work: () => Promise<object>): Promise<object> {
    const volume = 'volumeId' in request ? String(request.volumeId) : ''
    if (volume === '') return work()
    const other = this.#calls.get(volume)
    if (other !== undefined) {
      const text = `another call for volume ${volume} is pending`
      throw other.cancelled ? new StatusError(status.ABORTED, text) : new Violation(status.ABORTED, text)
    }
    this.#calls.set(volume, call)
    try {
      return await work()
    } finally {
      this.#calls.delete(volume)
    }
  }
}

function masked(request: Message, method: DescMethod): Readonly<Record<string, unknown>> {
  const json = toJson(method.input, request) as Record<string, unknown>
  return 'secrets' in json ? { ...json, secrets: '***' } : json
}
