import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import type { SandboxState } from '../../src/core/rpc/endpoints.ts'
import {
  ContainerSchema,
  ContainerState,
  PodSandboxSchema,
  PodSandboxState,
} from '../../src/core/rpc/gen/runtime/v1/runtime_pb.js'
import { sandboxStates } from '../../src/core/rpc/read-runtime.ts'

type Sandbox = MessageInitShape<typeof PodSandboxSchema>
type Container = MessageInitShape<typeof ContainerSchema>

const metadata = { uid: 'uid-1', namespace: 'ns', name: 'pod' }
const labels = {
  'io.kubernetes.pod.uid': 'uid-1',
  'io.kubernetes.pod.namespace': 'ns',
  'io.kubernetes.pod.name': 'pod',
  'io.kubernetes.container.name': 'c',
}
const pod = { uid: 'uid-1', namespace: 'ns', name: 'pod' }

interface Case {
  readonly name: string
  readonly sandboxes?: readonly Sandbox[]
  readonly containers?: readonly Container[]
  readonly states: readonly SandboxState[]
}

const cases: readonly Case[] = [
  {
    name: 'a sandbox without containers',
    sandboxes: [{ id: 's', metadata, state: PodSandboxState.SANDBOX_NOTREADY }],
    states: [{ ...pod, state: 'SANDBOX_NOTREADY', containers: [] }],
  },
  {
    name: 'a sandbox with its containers in every state, by name',
    sandboxes: [{ id: 's', metadata }],
    containers: (['CREATED', 'RUNNING', 'EXITED', 'UNKNOWN'] as const).map((state) => ({
      id: state,
      podSandboxId: 's',
      metadata: { name: `c-${state}` },
      state: ContainerState[`CONTAINER_${state}`],
    })),
    states: [
      {
        ...pod,
        state: 'SANDBOX_READY',
        containers: [
          { name: 'c-CREATED', state: 'CONTAINER_CREATED', id: 'CREATED' },
          { name: 'c-EXITED', state: 'CONTAINER_EXITED', id: 'EXITED' },
          { name: 'c-RUNNING', state: 'CONTAINER_RUNNING', id: 'RUNNING' },
          { name: 'c-UNKNOWN', state: 'CONTAINER_UNKNOWN', id: 'UNKNOWN' },
        ],
      },
    ],
  },
  {
    name: 'one pod with a dead and a living sandbox: both',
    sandboxes: [
      { id: '1', metadata, state: PodSandboxState.SANDBOX_NOTREADY },
      { id: '2', metadata: { ...metadata, attempt: 1 } },
    ],
    containers: [{ id: 'c', podSandboxId: '2', metadata: { name: 'c' }, state: ContainerState.CONTAINER_RUNNING }],
    states: [
      { ...pod, state: 'SANDBOX_NOTREADY', containers: [] },
      { ...pod, state: 'SANDBOX_READY', containers: [{ name: 'c', state: 'CONTAINER_RUNNING', id: 'c' }] },
    ],
  },
  {
    name: 'states that have no name here',
    sandboxes: [{ id: 's', metadata, state: 7 as PodSandboxState }],
    containers: [{ id: 'c', podSandboxId: 's', metadata: { name: 'c' }, state: 9 as ContainerState }],
    states: [{ ...pod, state: 'UNKNOWN', containers: [{ name: 'c', state: 'UNKNOWN', id: 'c' }] }],
  },
  {
    name: 'a container whose sandbox is not listed still speaks for its pod',
    containers: [
      { id: 'c', podSandboxId: 'gone', metadata: { name: 'c' }, state: ContainerState.CONTAINER_RUNNING, labels },
    ],
    states: [{ ...pod, state: 'UNKNOWN', containers: [{ name: 'c', state: 'CONTAINER_RUNNING', id: 'c' }] }],
  },
  {
    name: 'containers of several pods that name no sandbox',
    containers: [
      { id: '1', labels, state: ContainerState.CONTAINER_RUNNING },
      { id: '2', labels: { 'io.kubernetes.pod.uid': 'uid-2' }, metadata: { name: 'd' } },
    ],
    states: [
      { uid: 'uid-2', state: 'UNKNOWN', containers: [{ name: 'd', state: 'CONTAINER_CREATED', id: '2' }] },
      { ...pod, state: 'UNKNOWN', containers: [{ name: 'c', state: 'CONTAINER_RUNNING', id: '1' }] },
    ],
  },
  {
    name: 'without metadata the labels tell the pod',
    sandboxes: [{ id: 's', labels }],
    states: [{ ...pod, state: 'SANDBOX_READY', containers: [] }],
  },
  {
    name: 'what belongs to no pod is left out',
    sandboxes: [{ id: 's', metadata: { name: 'by-hand' } }],
    containers: [{ id: 'c', podSandboxId: 'x' }],
    states: [],
  },
]

test.each(cases)('$name', ({ sandboxes = [], containers = [], states }) => {
  const made = sandboxes.map((sandbox) => create(PodSandboxSchema, sandbox))
  const madeContainers = containers.map((container) => create(ContainerSchema, container))
  expect(sandboxStates(made, madeContainers)).toEqual(states)
  // The runtime's order is a map's: it must not matter.
  expect(sandboxStates(made.toReversed(), madeContainers.toReversed())).toEqual(states)
})
