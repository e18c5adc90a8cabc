import { join } from 'node:path'
import type { Message, MessageInitShape } from '@bufbuild/protobuf'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { VolctlError } from '../../src/core/base/errors.ts'
import { CsiNodeClient } from '../../src/core/rpc/csi-node-client.ts'
import { Identity, Node, type VolumeCapabilitySchema } from '../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { deadlineIn, GrpcError } from '../../src/core/rpc/grpc-status.ts'
import { type Handler, StatusError, serve, status } from '../helpers/grpc/serve.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let directory = ''
let end: () => void
let client: CsiNodeClient
let calls: { method: string; request: Message; timeout: unknown }[] = []
let answer: (method: string) => object | Promise<object> = () => ({})

beforeEach(() => {
  directory = temporaryDirectory()
  calls = []
  answer = () => ({})
  const handle: Handler = (request, call, method) => {
    const left = Number(call.getDeadline()) - Date.now()
    calls.push({ method: method.name, request, timeout: left })
    return answer(method.name)
  }
  client = new CsiNodeClient('loop.test', join(directory, 'csi.sock'))
  end = serve(client.socketPath, [Identity, handle], [Node, handle])
})
afterEach(() => end())

const capability: MessageInitShape<typeof VolumeCapabilitySchema> = {
  accessType: { case: 'mount', value: { fsType: 'ext4', mountFlags: ['password=hunter22'] } },
  accessMode: { mode: 1 },
}

test('every operation sends what it was given', async () => {
  const volumeId = 'vol/1'
  await client.nodeStageVolume({ volumeId, stagingTargetPath: '/s', volumeCapability: capability })
  await client.nodePublishVolume({ volumeId, stagingTargetPath: '/s', targetPath: '/t', volumeCapability: capability })
  await client.nodeUnpublishVolume({ volumeId, targetPath: '/t' })
  await client.nodeUnstageVolume({ volumeId, stagingTargetPath: '/s' })
  await client.nodeGetVolumeStats({ volumeId, volumePath: '/t' })
  answer = () => ({ capacityBytes: 5n })
  await expect(
    client.nodeExpandVolume({ volumeId, volumePath: '/t', capacityRange: { requiredBytes: 5n } }),
  ).resolves.toBe(5n)
  expect(calls.map(({ method, request }) => ({ method, ...request }))).toMatchObject([
    { method: 'NodeStageVolume', volumeId, stagingTargetPath: '/s', volumeCapability: capability },
    { method: 'NodePublishVolume', volumeId, stagingTargetPath: '/s', targetPath: '/t' },
    { method: 'NodeUnpublishVolume', volumeId, targetPath: '/t' },
    { method: 'NodeUnstageVolume', volumeId, stagingTargetPath: '/s' },
    { method: 'NodeGetVolumeStats', volumeId, volumePath: '/t' },
    { method: 'NodeExpandVolume', volumeId, volumePath: '/t', capacityRange: { requiredBytes: 5n } },
  ])
})

test('capabilities come by name; entries without one are skipped (C7)', async () => {
  const rpc = (type: number) => ({ type: { case: 'rpc', value: { type } } })
  answer = () => ({ capabilities: [rpc(1), {}, rpc(0), rpc(6), rpc(99)] })
  await expect(client.nodeGetCapabilities()).resolves.toEqual([
    'STAGE_UNSTAGE_VOLUME',
    'VOLUME_MOUNT_GROUP',
    'CAPABILITY_99',
  ])
})

test.each([
  [{}, true],
  [{ ready: true }, true],
  [{ ready: false }, false],
])('a Probe that answers %j means ready: %s (C112)', async (reply, ready) => {
  answer = () => reply
  await expect(client.probe()).resolves.toBe(ready)
})

test.each([
  ['NodeUnpublishVolume: volumeId', () => client.nodeUnpublishVolume({ volumeId: '', targetPath: '/t' })],
  ['NodeUnpublishVolume: targetPath', () => client.nodeUnpublishVolume({ volumeId: 'v', targetPath: '' })],
  ['NodeUnstageVolume: volumeId', () => client.nodeUnstageVolume({ volumeId: '', stagingTargetPath: '/s' })],
  ['NodeUnstageVolume: stagingTargetPath', () => client.nodeUnstageVolume({ volumeId: 'v', stagingTargetPath: '' })],
  [
    'NodeStageVolume: volumeId',
    () => client.nodeStageVolume({ stagingTargetPath: '/s', volumeCapability: capability }),
  ],
  ['NodeStageVolume: stagingTargetPath', () => client.nodeStageVolume({ volumeId: 'v', volumeCapability: capability })],
  ['NodeStageVolume: volumeCapability', () => client.nodeStageVolume({ volumeId: 'v', stagingTargetPath: '/s' })],
  ['NodePublishVolume: volumeId', () => client.nodePublishVolume({ targetPath: '/t', volumeCapability: capability })],
  ['NodePublishVolume: targetPath', () => client.nodePublishVolume({ volumeId: 'v', volumeCapability: capability })],
  ['NodeGetVolumeStats: volumeId', () => client.nodeGetVolumeStats({ volumeId: '', volumePath: '/t' })],
  ['NodeGetVolumeStats: volumePath', () => client.nodeGetVolumeStats({ volumeId: 'v', volumePath: '' })],
  ['NodeExpandVolume: volumeId', () => client.nodeExpandVolume({ volumePath: '/t' })],
  ['NodeExpandVolume: volumePath', () => client.nodeExpandVolume({ volumeId: 'v' })],
])('an empty %s never reaches the driver', async (name, call) => {
  const [method = '', field = ''] = name.split(': ')
  const error: unknown = await call().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(VolctlError)
  expect(error).toMatchObject({ code: 'InvalidVolume', message: expect.stringContaining(`${field} is empty`) })
  expect((error as Error).message).toContain(method)
  expect(calls).toEqual([])
})

test('a negative size never reaches the driver (C100)', async () => {
  const request = { volumeId: 'v', volumePath: '/t', capacityRange: { requiredBytes: -1n } }
  await expect(client.nodeExpandVolume(request)).rejects.toMatchObject({ message: expect.stringMatching(/negative/) })
  expect(calls).toEqual([])
})

test('what a driver says of its node comes whole, and a failure without anything', async () => {
  const told = { nodeId: 'node-a', maxVolumesPerNode: 16n, accessibleTopology: { segments: { zone: 'a' } } }
  answer = () => told
  await expect(client.nodeGetInfo()).resolves.toMatchObject(told)
  answer = () => {
    throw new StatusError(status.INTERNAL, 'grpc error')
  }
  await expect(client.nodeGetInfo()).rejects.toMatchObject({ code: 'INTERNAL' })
})

test('what the driver answers is the failure, once', async () => {
  answer = () => {
    throw new StatusError(status.INVALID_ARGUMENT, 'no such file system')
  }
  await expect(client.nodeUnpublishVolume({ volumeId: 'v', targetPath: '/t' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('NodeUnpublishVolume'),
  })
  expect(calls).toHaveLength(1)
})

test('a call of its own has two minutes; several share the deadline they are given (C6)', async () => {
  await client.nodeUnpublishVolume({ volumeId: 'v', targetPath: '/t' })
  expect(calls[0]?.timeout).toSatisfy((ms: number) => ms > 110_000 && ms <= 121_000)

  const deadline = deadlineIn(3_000)
  await client.nodeGetCapabilities({ deadline })
  answer = () => new Promise(() => {})
  const error: unknown = await client
    .nodeUnpublishVolume({ volumeId: 'v', targetPath: '/t' }, { deadline })
    .catch((e) => e)
  expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  expect(deadline.remainingMs()).toBe(0)
  await expect(client.probe({ deadline })).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  expect(calls.map(({ method }) => method)).not.toContain('Probe')
})

test('no secret of a request is left in the words of its failure (C118)', async () => {
  answer = () => {
    throw new StatusError(
      status.INTERNAL,
      'mount -o password=hunter22 failed for key s3cr3t-key with s3cr3t (token eyJabc of eyJvault)',
    )
  }
  const tokens = '{"":{"token":"eyJabc"},"vault":{"token":"eyJvault"}}'
  const error: unknown = await client
    .nodePublishVolume({
      volumeId: 'v',
      targetPath: '/t',
      volumeCapability: capability,
      secrets: { a: 's3cr3t', b: 's3cr3t-key', c: '' },
      volumeContext: { 'csi.storage.k8s.io/serviceAccount.tokens': tokens, zone: 'failed' },
    })
    .catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(GrpcError)
  expect(error).toMatchObject({
    code: 'INTERNAL',
    message: 'NodePublishVolume: INTERNAL: mount -o *** failed for key *** with *** (token *** of ***)',
  })
  expect((error as Error).cause).toBeUndefined()
})

test('nor the beginning of one, where the words are cut', async () => {
  answer = () => {
    throw new StatusError(status.INTERNAL, `${'x'.repeat(1996)}s3cr3t-key and more${'y'.repeat(100)}`)
  }
  const request = { volumeId: 'v', targetPath: '/t', volumeCapability: capability, secrets: { a: 's3cr3t-key' } }
  const error: unknown = await client.nodePublishVolume(request).catch((reason: unknown) => reason)
  expect((error as GrpcError).details).toMatch(/^x{1996}\*{3} … \(\d+ more characters\)$/)
})
