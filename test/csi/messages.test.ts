/** Field numbers and types against bytes made by hand from the tables of the specification (C112 to C116). */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import {
  GetPluginInfoResponseSchema,
  NodeExpandVolumeRequestSchema,
  NodeGetCapabilitiesResponseSchema,
  NodeGetInfoResponseSchema,
  NodeGetVolumeStatsResponseSchema,
  NodePublishVolumeRequestSchema,
  NodeStageVolumeRequestSchema,
  NodeUnpublishVolumeRequestSchema,
  NodeUnstageVolumeRequestSchema,
  ProbeResponseSchema,
} from '../../src/core/grpc/gen/csi/v1/csi_pb.js'
import { PluginInfoSchema } from '../../src/core/grpc/gen/pluginregistration/registration_pb.js'
import {
  ListContainersResponseSchema,
  ListPodSandboxResponseSchema,
} from '../../src/core/grpc/gen/runtime/v1/runtime_pb.js'

/** One field with a length: text, or what is inside it. */
function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
}

/** One small number. */
function number(field: number, value: number): Buffer {
  return Buffer.from([field << 3, value])
}

function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields)
}

function entry(key: string, value: string): Buffer {
  return message(field(1, key), field(2, value))
}

const CAPABILITY = message(field(2, message(field(1, 'ext4'), field(2, 'ro'), field(3, '27'))), field(3, number(1, 7)))

test.each([
  [
    NodeStageVolumeRequestSchema,
    {
      volumeId: 'v',
      publishContext: { a: 'b' },
      stagingTargetPath: '/s',
      volumeCapability: {
        accessType: { case: 'mount', value: { fsType: 'ext4', mountFlags: ['ro'], volumeMountGroup: '27' } },
        accessMode: { mode: 7 },
      },
      secrets: { c: 'd' },
      volumeContext: { e: 'f' },
    },
    message(
      field(1, 'v'),
      field(2, entry('a', 'b')),
      field(3, '/s'),
      field(4, CAPABILITY),
      field(5, entry('c', 'd')),
      field(6, entry('e', 'f')),
    ),
  ],
  [
    NodePublishVolumeRequestSchema,
    {
      volumeId: 'v',
      publishContext: { a: 'b' },
      stagingTargetPath: '/s',
      targetPath: '/t',
      volumeCapability: { accessType: { case: 'block', value: {} }, accessMode: { mode: 1 } },
      readonly: true,
      secrets: { c: 'd' },
      volumeContext: { e: 'f' },
    },
    message(
      field(1, 'v'),
      field(2, entry('a', 'b')),
      field(3, '/s'),
      field(4, '/t'),
      field(5, message(field(1, ''), field(3, number(1, 1)))),
      number(6, 1),
      field(7, entry('c', 'd')),
      field(8, entry('e', 'f')),
    ),
  ],
  [NodeUnpublishVolumeRequestSchema, { volumeId: 'v', targetPath: '/t' }, message(field(1, 'v'), field(2, '/t'))],
  [NodeUnstageVolumeRequestSchema, { volumeId: 'v', stagingTargetPath: '/s' }, message(field(1, 'v'), field(2, '/s'))],
  [
    NodeExpandVolumeRequestSchema,
    {
      volumeId: 'v',
      volumePath: '/p',
      capacityRange: { requiredBytes: 5n, limitBytes: 9n },
      stagingTargetPath: '/s',
      secrets: { c: 'd' },
    },
    message(
      field(1, 'v'),
      field(2, '/p'),
      field(3, message(number(1, 5), number(2, 9))),
      field(4, '/s'),
      field(6, entry('c', 'd')),
    ),
  ],
] as const)('%s goes out as the specification says', (schema, init, bytes) => {
  const encoded = toBinary(schema, create(schema as typeof NodeStageVolumeRequestSchema, init as object))
  expect(Buffer.from(encoded).toString('hex')).toBe(bytes.toString('hex'))
})

test.each([
  [GetPluginInfoResponseSchema, message(field(1, 'n'), field(2, '1')), { name: 'n', vendorVersion: '1' }],
  [ProbeResponseSchema, field(1, number(1, 1)), { ready: true }],
  [
    NodeGetCapabilitiesResponseSchema,
    message(field(1, field(1, number(1, 1))), field(1, '')),
    { capabilities: [{ type: { case: 'rpc', value: { type: 1 } } }, { type: { case: undefined } }] },
  ],
  [
    NodeGetInfoResponseSchema,
    message(field(1, 'n'), number(2, 16), field(3, field(1, entry('zone', 'a')))),
    { nodeId: 'n', maxVolumesPerNode: 16n, accessibleTopology: { segments: { zone: 'a' } } },
  ],
  [
    NodeGetVolumeStatsResponseSchema,
    message(
      field(1, message(number(1, 1), number(2, 3), number(3, 2), number(4, 1))),
      field(2, message(number(1, 1), field(2, 'bad'))),
    ),
    { usage: [{ available: 1n, total: 3n, used: 2n, unit: 1 }], volumeCondition: { abnormal: true, message: 'bad' } },
  ],
  [
    PluginInfoSchema,
    message(field(1, 'CSIPlugin'), field(2, 'd'), field(3, '/e'), field(4, '1.0.0')),
    { type: 'CSIPlugin', name: 'd', endpoint: '/e', supportedVersions: ['1.0.0'] },
  ],
  [
    ListPodSandboxResponseSchema,
    field(
      1,
      message(
        field(1, 'id'),
        field(2, message(field(1, 'n'), field(2, 'u'), field(3, 'ns'), number(4, 2))),
        number(3, 1),
        field(5, entry('k', 'v')),
        field(7, 'runc'),
      ),
    ),
    {
      items: [
        {
          id: 'id',
          metadata: { name: 'n', uid: 'u', namespace: 'ns', attempt: 2 },
          state: 1,
          labels: { k: 'v' },
          runtimeHandler: 'runc',
        },
      ],
    },
  ],
  [
    ListContainersResponseSchema,
    field(
      1,
      message(
        field(1, 'id'),
        field(2, 'sb'),
        field(3, field(1, 'c')),
        // The image, which volctl does not read.
        field(4, field(1, 'img')),
        field(5, 'ref'),
        number(6, 1),
        field(8, entry('k', 'v')),
      ),
    ),
    { containers: [{ id: 'id', podSandboxId: 'sb', metadata: { name: 'c' }, state: 1, labels: { k: 'v' } }] },
  ],
] as const)('%s is read as the specification says', (schema, bytes, expected) => {
  expect(fromBinary(schema as typeof ProbeResponseSchema, bytes)).toMatchObject(expected)
})
