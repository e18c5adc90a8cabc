/**
 * A container runtime to test with: CRI v1 on a unix socket, answering from a JSON file that is read again at every call.
 * `pods` has the form of a snapshot's runtime section; `sandboxes` and `containers` are messages of the protocol.
 *
 *     node main.ts --socket PATH --data FILE
 *
 *     { "pods": [ { "uid", "namespace", "name", "state", "containers": [ { "name", "state" } ] } ],
 *       "sandboxes": [ … ], "containers": [ … ],
 *       "faults": { "ListContainers": "UNAVAILABLE", "ListPodSandbox": "HANG" } }
 *
 * Prints "ready" once it listens.
 */
import { readFileSync, rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { fromJson, type JsonValue } from '@bufbuild/protobuf'
import {
  type Container,
  ContainerSchema,
  type PodSandbox,
  PodSandboxSchema,
  RuntimeService,
} from '../../../src/core/grpc/gen/runtime/v1/runtime_pb.js'
import type { SandboxState } from '../../../src/core/model/snapshot.ts'
import { addService, listen, Server, StatusError, status } from '../grpc/serve.ts'
import { readyUntilEnd } from '../start-program.ts'

interface Data {
  readonly pods?: readonly SandboxState[]
  readonly sandboxes?: readonly JsonValue[]
  readonly containers?: readonly JsonValue[]
  readonly faults?: Readonly<Record<string, string>>
}

const { values } = parseArgs({ options: { socket: { type: 'string' }, data: { type: 'string' } } })
const { socket, data: file } = values
if (socket === undefined || file === undefined) throw new Error('--socket and --data are required')

function sandboxesOf({ pods = [], sandboxes = [] }: Data): PodSandbox[] {
  const fromPods = pods.map(({ uid, namespace = '', name = '', state }, index) =>
    fromJson(PodSandboxSchema, { id: `sandbox-${index}`, metadata: { uid, namespace, name }, state }),
  )
  return [...fromPods, ...sandboxes.map((json) => fromJson(PodSandboxSchema, json))]
}

function containersOf({ pods = [], containers = [] }: Data): Container[] {
  const fromPods = pods.flatMap((pod, index) =>
    pod.containers.map(({ name, state }, number) =>
      fromJson(ContainerSchema, {
        id: `container-${index}-${number}`,
        podSandboxId: `sandbox-${index}`,
        metadata: { name },
        state,
        labels: { 'io.kubernetes.pod.uid': pod.uid },
      }),
    ),
  )
  return [...fromPods, ...containers.map((json) => fromJson(ContainerSchema, json))]
}

const answers: Readonly<Record<string, (data: Data) => object>> = {
  ListPodSandbox: (data) => ({ items: sandboxesOf(data) }),
  ListContainers: (data) => ({ containers: containersOf(data) }),
}

const server = new Server()
addService(server, RuntimeService, (_request, _call, method) => {
  const data: Data = JSON.parse(readFileSync(file, 'utf8'))
  const fault = data.faults?.[method.name]
  if (fault === 'HANG') return new Promise(() => {})
  if (fault !== undefined) throw new StatusError(status[fault as keyof typeof status], `injected ${fault}`)
  const answer = answers[method.name]
  if (answer === undefined) throw new StatusError(status.UNIMPLEMENTED, method.name)
  return answer(data)
})
await listen(server, socket)
readyUntilEnd(() => rmSync(socket, { force: true }))
