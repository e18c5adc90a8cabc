/** The test driver itself: what it must catch and what it must do, since other tests trust it. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { MessageInitShape } from '@bufbuild/protobuf'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CsiNodeClient, type NodePublishVolume, type NodeStageVolume } from '../../src/core/csi/csi-node-client.ts'
import { discoverCsiSockets } from '../../src/core/csi/discover-csi-sockets.ts'
import { deadlineIn } from '../../src/core/grpc/call-deadline.ts'
import { Node, type VolumeCapabilitySchema } from '../../src/core/grpc/gen/csi/v1/csi_pb.js'
import { unaryCall } from '../../src/core/grpc/unary-call.ts'
import { type CsiDriver, startCsiDriver } from '../helpers/csi-driver/start.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let directory = ''
let driver: CsiDriver
let client: CsiNodeClient

beforeEach(async () => {
  directory = temporaryDirectory()
  driver = await startCsiDriver({
    name: 'a.test',
    rootDir: join(directory, 'root'),
    stateDir: join(directory, 'state'),
    // Directories and records alone: needs no privilege.
    backend: 'bind',
    flags: ['--no-mount'],
  })
  client = new CsiNodeClient(driver.name, driver.socketPath)
  mkdirSync(join(directory, 'staging'))
})
afterEach(async () => {
  await driver.dispose()
})

const volumeCapability: MessageInitShape<typeof VolumeCapabilitySchema> = {
  accessType: { case: 'mount', value: {} },
  accessMode: { mode: 1 },
}
const stage = (change: NodeStageVolume = {}) =>
  unaryCall(
    driver.socketPath,
    Node.method.nodeStageVolume,
    { volumeId: 'v', stagingTargetPath: join(directory, 'staging'), volumeCapability, ...change } as NodeStageVolume,
    { deadline: deadlineIn(30_000) },
  )
const publish = (change: NodePublishVolume = {}) =>
  unaryCall(
    driver.socketPath,
    Node.method.nodePublishVolume,
    {
      volumeId: 'v',
      stagingTargetPath: join(directory, 'staging'),
      targetPath: join(directory, 'target'),
      volumeCapability,
      ...change,
    } as NodePublishVolume,
    { deadline: deadlineIn(30_000) },
  )
const unpublish = (volumeId = 'v', targetPath = join(directory, 'target')) =>
  unaryCall(
    driver.socketPath,
    Node.method.nodeUnpublishVolume,
    { volumeId, targetPath },
    { deadline: deadlineIn(30_000) },
  )
const unstage = (volumeId = 'v', stagingTargetPath = join(directory, 'staging')) =>
  unaryCall(
    driver.socketPath,
    Node.method.nodeUnstageVolume,
    { volumeId, stagingTargetPath },
    { deadline: deadlineIn(30_000) },
  )

test('stage, publish, unpublish, unstage, each of them twice, is no breach (C122)', async () => {
  for (const step of [stage, publish, unpublish, unstage]) {
    await step()
    await step()
    if (step === publish) expect(existsSync(join(directory, 'target'))).toBe(true)
    if (step === unpublish) expect(existsSync(join(directory, 'target'))).toBe(false)
  }
  expect(driver.violations()).toEqual([])
  expect(driver.succeeded()).toEqual([
    ...['NodeStageVolume', 'NodeStageVolume', 'NodePublishVolume', 'NodePublishVolume'],
    ...['NodeUnpublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume', 'NodeUnstageVolume'],
  ])
})

describe('breaches are refused and written down', () => {
  test.each([
    ['stage without volume_id', 'INVALID_ARGUMENT', () => stage({ volumeId: '' })],
    ['stage without staging_target_path', 'INVALID_ARGUMENT', () => stage({ stagingTargetPath: '' })],
    [
      'stage with no access mode',
      'INVALID_ARGUMENT',
      () => stage({ volumeCapability: { accessType: { case: 'block', value: {} } } }),
    ],
    ['publish before stage', 'FAILED_PRECONDITION', () => publish()],
  ])('%s', async (_name, code, call) => {
    await expect(call()).rejects.toMatchObject({ code })
    expect(driver.violations()).toHaveLength(1)
  })

  test('unstage before unpublish', async () => {
    await stage()
    await publish()
    await expect(unstage()).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' })
    expect(driver.violations()).toMatchObject([
      { rpc: 'NodeUnstageVolume', text: expect.stringContaining('still published') },
    ])
  })

  test('a second publish with other parameters, tokens and secrets apart', async () => {
    const token = (value: string) => ({ 'csi.storage.k8s.io/serviceAccount.tokens': value, zone: 'a' })
    await stage()
    await publish({ volumeContext: token('1'), secrets: { a: '1' } })
    await publish({ volumeContext: token('2'), secrets: { a: '2' } })
    expect(driver.violations()).toEqual([])
    await expect(publish({ volumeContext: token('2'), readonly: true })).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    })
    expect(driver.violations()).toHaveLength(1)
  })

  test('a second call for a volume while one is pending (C119)', async () => {
    driver.setFaults('late NodeStageVolume=400')
    const first = stage()
    await expect.poll(() => driver.log().length).toBe(1)
    await expect(stage()).rejects.toMatchObject({ code: 'ABORTED' })
    await first
    expect(driver.violations()).toHaveLength(1)
  })

  test('telling a registrar the outcome (C27)', async () => {
    const socketPath = join(driver.rootDir, 'plugins_registry/a.test-reg.sock')
    // The method is not in volctl's protocol: any message without fields will do for its name.
    const notify = { ...Node.method.nodeGetInfo, name: 'NotifyRegistrationStatus' }
    const parent = { ...notify.parent, typeName: 'pluginregistration.Registration' }
    await unaryCall(socketPath, { ...notify, parent }, {}, { deadline: deadlineIn(30_000) })
    expect(driver.violations()).toMatchObject([{ rpc: 'NotifyRegistrationStatus' }])
  })
})

test('secrets are not in its log', async () => {
  await stage({ secrets: { key: 'hunter2' } })
  expect(driver.log()[0]?.request).toMatchObject({ volumeId: 'v', secrets: '***' })
  expect(JSON.stringify(driver.log())).not.toContain('hunter2')
})

describe('faults', () => {
  test('lie answers OK and does nothing', async () => {
    driver.setFaults('lie NodeUnpublishVolume')
    await stage()
    await publish()
    await unpublish()
    expect(existsSync(join(directory, 'target'))).toBe(true)
  })

  test('hang never answers, and holds the volume no longer than its client waits', async () => {
    driver.setFaults('hang NodeStageVolume:once')
    const hung = client.nodeStageVolume(
      { volumeId: 'v', stagingTargetPath: join(directory, 'staging'), volumeCapability },
      { deadline: deadlineIn(1500) },
    )
    await expect(hung).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED', isFinal: false })
    await expect.poll(() => driver.log().at(-1)?.code).toBe('CANCELLED')
    await stage()
    expect(driver.violations()).toEqual([])
  })

  test('die-after does the work, kills the driver, and is over after the restart', async () => {
    await stage()
    driver.setFaults('die-after NodePublishVolume:once')
    await expect(publish()).rejects.toMatchObject({ code: 'UNAVAILABLE', isFinal: false })
    await expect.poll(() => driver.running()).toBe(false)
    expect(existsSync(join(directory, 'target'))).toBe(true)
    await expect(publish()).rejects.toMatchObject({ code: 'UNAVAILABLE', details: 'no process listens on the socket' })
    await driver.restart()
    await publish()
    await expect(unstage()).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' })
  })
})

test('stopped, it is gone; killed, its sockets stay', async () => {
  await driver.kill()
  await expect(discoverCsiSockets({ rootDir: driver.rootDir })).resolves.toMatchObject([
    { path: 'plugins_registry/a.test-reg.sock', registered: false },
    { path: 'plugins/a.test/csi.sock', registered: false },
  ])
  await driver.restart()
  await expect(discoverCsiSockets({ rootDir: driver.rootDir })).resolves.toMatchObject([
    { driver: 'a.test', registered: true },
  ])
  await driver.stop()
  await expect(discoverCsiSockets({ rootDir: driver.rootDir })).resolves.toEqual([])
})
