/** The test driver itself: what it must catch and what it must do, since other tests trust it. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Node } from '../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { deadlineIn } from '../../src/core/rpc/grpc-status.ts'
import { unaryCall } from '../../src/core/rpc/unary-call.ts'
import { type CsiDriver, startCsiDriver } from '../helpers/csi-driver/start.ts'
import { noMounts } from '../helpers/namespace.ts'
import { unmountBelow } from '../helpers/scenario.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let directory = ''
let driver: CsiDriver

beforeEach(async () => {
  directory = temporaryDirectory()
  driver = await startCsiDriver({
    name: 'a.test',
    rootDir: `${directory}/root`,
    stateDir: `${directory}/state`,
    backend: 'bind',
  })
  mkdirSync(`${directory}/staging`)
})
afterEach(async () => {
  await driver.dispose()
  unmountBelow(directory)
})
const it = test.skipIf(noMounts !== undefined)

/** Right but for what is changed; volctl's own client would not send what is wrong. */
const call =
  (name: string, paths: object, capability?: object) =>
  (change: object = {}, ms = 30_000) => {
    const method = Node.methods.find((each) => each.name === name) as typeof Node.method.nodeStageVolume
    const capabilities = capability && { volumeCapability: { accessMode: { mode: 1 }, ...capability } }
    const places = Object.entries(paths).map(([field, name]) => [field, join(directory, name)])
    const given = { volumeId: 'v', ...Object.fromEntries(places), ...capabilities, ...change }
    return unaryCall(driver.socketPath, method, given, { deadline: deadlineIn(ms) })
  }
const STAGING = { stagingTargetPath: 'staging' }
const TARGET = { targetPath: 'target' }
const MOUNT = { accessType: { case: 'mount', value: {} } }
const stage = call('NodeStageVolume', STAGING, MOUNT)
const publish = call('NodePublishVolume', { ...STAGING, ...TARGET }, MOUNT)
const unpublish = call('NodeUnpublishVolume', TARGET)
const unstage = call('NodeUnstageVolume', STAGING)

it('each step twice is no breach (C122), nor is a second publish with other tokens and secrets', async () => {
  const token = (value: string) => ({
    volumeContext: { 'csi.storage.k8s.io/serviceAccount.tokens': value, zone: 'a' },
    secrets: { a: value },
  })
  for (const step of [stage, unpublish, unstage, stage]) for (let time = 0; time < 2; time++) await step()
  for (const value of ['1', '2']) await publish(token(value))
  expect(existsSync(join(directory, 'target'))).toBe(true)
  expect(driver.violations()).toEqual([])
  expect(driver.succeeded()).toHaveLength(10)
  await expect(publish({ ...token('2'), readonly: true })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
  expect(driver.violations()).toHaveLength(1)
})

it.each<[name: string, code: string, ask: () => Promise<unknown>]>([
  ['stage without volume_id', 'INVALID_ARGUMENT', () => stage({ volumeId: '' })],
  ['stage without staging_target_path', 'INVALID_ARGUMENT', () => stage({ stagingTargetPath: '' })],
  [
    'stage by a path that is not clean',
    'INVALID_ARGUMENT',
    () => stage({ stagingTargetPath: `${directory}//staging` }),
  ],
  [
    'stage with no access mode',
    'INVALID_ARGUMENT',
    () => stage({ volumeCapability: { accessType: { case: 'block', value: {} } } }),
  ],
  ['publish before stage', 'FAILED_PRECONDITION', () => publish()],
  [
    'unstage before unpublish',
    'FAILED_PRECONDITION',
    () =>
      stage()
        .then(() => publish())
        .then(() => unstage()),
  ],
])('%s is refused and written down', async (_name, code, ask) => {
  await expect(ask()).rejects.toMatchObject({ code })
  expect(driver.violations()).toHaveLength(1)
})

it('a second call for a volume while one is pending is a breach (C119), but not once its client has given up', async () => {
  driver.setFaults('late-after NodeStageVolume=400:once', 'hang NodePublishVolume:once')
  const first = stage()
  await expect.poll(() => driver.log().length).toBe(1)
  await expect(stage()).rejects.toMatchObject({ code: 'ABORTED' })
  await first
  expect(driver.violations()).toHaveLength(1)
  await expect(publish({}, 500)).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED', isFinal: false })
  await expect.poll(() => driver.log().at(-1)?.code).toBe('CANCELLED')
  await publish()
  expect(driver.violations()).toHaveLength(1)
})
