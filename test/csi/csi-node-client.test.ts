import { join } from 'node:path'
import type { Message, MessageInitShape } from '@bufbuild/protobuf'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { csiNodeClient } from '../../src/core/rpc/csi-node-client.ts'
import { Node, type VolumeCapabilitySchema } from '../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { GrpcError } from '../../src/core/rpc/grpc-status.ts'
import { type Handler, StatusError, serve, status } from '../helpers/grpc/serve.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { failureOf } from '../kube/connect.ts'

let directory = ''
let end: () => void
let client: ReturnType<typeof csiNodeClient>
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
  const socketPath = join(directory, 'csi.sock')
  client = csiNodeClient('loop.test', socketPath)
  end = serve(socketPath, [Node, handle])
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
  await client.nodeExpandVolume({ volumeId, volumePath: '/t', capacityRange: { requiredBytes: 5n } })
  expect(calls.map(({ method, request }) => ({ method, ...request }))).toMatchObject([
    { method: 'NodeStageVolume', volumeId, stagingTargetPath: '/s', volumeCapability: capability },
    { method: 'NodePublishVolume', volumeId, stagingTargetPath: '/s', targetPath: '/t' },
    { method: 'NodeUnpublishVolume', volumeId, targetPath: '/t' },
    { method: 'NodeUnstageVolume', volumeId, stagingTargetPath: '/s' },
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

/** The fields that each call must have. */
const NEEDED = {
  nodeUnpublishVolume: { volumeId: 'v', targetPath: '/t' },
  nodeUnstageVolume: { volumeId: 'v', stagingTargetPath: '/s' },
  nodeStageVolume: { volumeId: 'v', stagingTargetPath: '/s', volumeCapability: capability },
  nodePublishVolume: { volumeId: 'v', targetPath: '/t', volumeCapability: capability },
  nodeExpandVolume: { volumeId: 'v', volumePath: '/t' },
}

test.each(
  Object.entries(NEEDED).flatMap(([name, whole]) => Object.keys(whole).map((field) => ({ name, whole, field }))),
)('$name: an empty $field never reaches the driver', async ({ name, whole, field }) => {
  const call = client[name as 'nodeExpandVolume']
  for (const empty of ['', undefined]) {
    const { code, message } = await failureOf(call({ ...whole, [field]: empty }))
    expect([code, message]).toEqual(['InvalidVolume', expect.stringContaining(`${field} is empty`)])
    expect(message.toLowerCase()).toContain(name.toLowerCase())
  }
  expect(calls).toEqual([])
})

test('a negative size never reaches the driver (C100)', async () => {
  const request = { volumeId: 'v', volumePath: '/t', capacityRange: { requiredBytes: -1n } }
  await expect(client.nodeExpandVolume(request)).rejects.toMatchObject({ message: expect.stringMatching(/negative/) })
  expect(calls).toEqual([])
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

test('a call has two minutes, or the time that it is given (C6)', async () => {
  await client.nodeUnpublishVolume({ volumeId: 'v', targetPath: '/t' })
  expect(calls[0]?.timeout).toSatisfy((ms: number) => ms > 110_000 && ms <= 121_000)
  answer = () => new Promise(() => {})
  const late: unknown = await client.nodeUnpublishVolume({ volumeId: 'v', targetPath: '/t' }, 1_000).catch((e) => e)
  expect(late).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
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
