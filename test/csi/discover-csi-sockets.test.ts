import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { scanTree } from '../../src/core/node/tree/read-tree.ts'
import { discoverCsiSockets } from '../../src/core/rpc/discover-csi-sockets.ts'
import { Identity, Node } from '../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { Registration } from '../../src/core/rpc/gen/pluginregistration/registration_pb.js'
import { type Service, StatusError, serve } from '../helpers/grpc/serve.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let rootDir = ''
const cleanUps: (() => void)[] = []

beforeEach(() => {
  rootDir = temporaryDirectory()
})
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

interface Info {
  readonly type?: string
  readonly name?: string
  readonly endpoint?: string
  readonly versions?: readonly string[]
}

/** A registrar's socket, below plugins_registry. */
function register(path: string, info: Info, ...beside: readonly Service[]): void {
  const {
    type = 'CSIPlugin',
    name = 'a.test',
    endpoint = join(rootDir, 'plugins/a.test/csi.sock'),
    versions = ['1.0.0'],
  } = info
  const answer = () => ({ type, name, endpoint, supportedVersions: [...versions] })
  cleanUps.push(serve(join(rootDir, 'plugins_registry', path), [Registration, answer], ...beside))
}

const driver = (name: string): readonly Service[] => [
  [Identity, () => ({ name })],
  [Node, () => ({ capabilities: [{ type: { case: 'rpc', value: { type: 1 } } }] })],
]

function drive(name: string, path = join(rootDir, `plugins/${name}/csi.sock`)): void {
  cleanUps.push(serve(path, ...driver(name)))
}

/** Somebody who accepts and says nothing. */
async function serveSilence(path: string): Promise<void> {
  mkdirSync(dirname(join(rootDir, path)), { recursive: true })
  const server = createServer((socket) => cleanUps.push(() => socket.destroy()))
  cleanUps.push(() => server.close())
  await new Promise<void>((resolve) => server.listen(join(rootDir, path), resolve))
}

/** @param mountinfo lines of the mounts below the root directory */
async function discover(deadlineMs?: number, mountinfo = '') {
  const mounts = parseMountinfo(`1 0 8:1 / / rw - ext4 /dev/vda1 rw\n${mountinfo}`)
  const scan = await scanTree({ rootDir, mounts, attributes: 'plan' })
  return discoverCsiSockets(rootDir, scan.listed(), deadlineMs)
}

const ELSEWHERE = join(temporaryDirectory(), 'csi.sock')

const FOUND = {
  path: 'plugins_registry/a.test-reg.sock',
  driver: 'a.test',
  endpoint: 'plugins/a.test/csi.sock',
  versions: ['1.0.0'],
  registered: true,
  capabilities: ['STAGE_UNSTAGE_VOLUME'],
}

test('of very many sockets the first are asked, and that there are more is said (S34)', async () => {
  const directory = join(rootDir, 'plugins_registry')
  mkdirSync(directory)
  const servers = await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const server = createServer((socket) => socket.end())
      await new Promise<void>((resolve) => server.listen(join(directory, `${index}.sock`), resolve))
      return server
    }),
  )
  cleanUps.push(() => servers.forEach((server) => void server.close()))
  const found = await discover()
  expect(found.filter(({ path }) => path.endsWith('.sock'))).toHaveLength(256)
  expect(found).toContainEqual({
    path: 'plugins_registry',
    registered: false,
    error: '300 sockets, of these only the first 256 are asked',
  })
})

test.each<[string, path: string, given: () => Info, found?: Partial<typeof FOUND>]>([
  ['in the form of a snapshot', 'a.test-reg.sock', () => ({})],
  [
    'in a sub-directory (C24)',
    'deep/er/a.test-reg.sock',
    () => ({}),
    { path: 'plugins_registry/deep/er/a.test-reg.sock' },
  ],
  [
    'by the registration socket itself, where its endpoint is empty (C25)',
    'a.sock',
    () => ({ endpoint: '' }),
    { path: 'plugins_registry/a.sock', endpoint: 'plugins_registry/a.sock' },
  ],
  ['outside the root directory', 'a.test-reg.sock', () => ({ endpoint: ELSEWHERE }), { endpoint: ELSEWHERE }],
])('a registered driver is found %s', async (_, path, given, found = {}) => {
  register(path, given(), ...driver('a.test'))
  // Names with a dot, files and other plugins are passed over (C24).
  register('.hidden.sock', { name: 'hidden.test' })
  register('gpu.sock', { type: 'DevicePlugin', name: 'gpu', endpoint: '' })
  writeFileSync(join(rootDir, 'plugins_registry/notes.sock'), '')
  drive('a.test')
  drive('a.test', ELSEWHERE)
  expect(await discover()).toEqual([{ ...FOUND, ...found }])
})

test('nobody can be notified (C27)', () => {
  expect(Registration.methods.map(({ name }) => name)).toEqual(['GetInfo'])
})

test.each([
  [['0.3.0', '2.0.1'], 'announces no CSI version 1.x (versions: 0.3.0, 2.0.1)'],
  [[], 'announces no CSI version 1.x (versions: none)'],
])('versions %j do not do (C1)', async (versions, error) => {
  register('a.test-reg.sock', { versions })
  const [socket] = await discover()
  expect(socket).toEqual({ ...FOUND, versions, registered: false, capabilities: undefined, error })
})

test('a driver that is registered but dead', async () => {
  register('a.test-reg.sock', {})
  const endpoint = join(rootDir, 'plugins/a.test/csi.sock')
  expect(await discover()).toEqual([
    {
      path: FOUND.path,
      driver: 'a.test',
      endpoint: FOUND.endpoint,
      versions: ['1.0.0'],
      registered: false,
      error: `registered, but the driver at ${endpoint} is dead: UNAVAILABLE: no such socket`,
    },
  ])
})

test('a driver that is slow to tell its capabilities, and one that cannot, are not dead', async () => {
  register('a.test-reg.sock', {})
  await serveSilence('plugins/a.test/csi.sock')
  const failing = join(rootDir, 'plugins/b.test/csi.sock')
  register('b.test-reg.sock', { name: 'b.test', endpoint: failing })
  const fails = () => {
    throw new StatusError(13, 'no backend')
  }
  cleanUps.push(serve(failing, [Node, fails]))
  const found = await discover(1000)
  expect(found.map(({ driver, registered, error }) => [driver, registered, error])).toEqual([
    [
      'a.test',
      false,
      `registered, but the driver at ${join(rootDir, 'plugins/a.test/csi.sock')} is slow, or hangs: DEADLINE_EXCEEDED: no answer within 1 s`,
    ],
    ['b.test', false, `registered, but the driver at ${failing} answers with an error: INTERNAL: no backend`],
  ])
})

test('an endpoint that is not a path spoils nothing where the working directory is gone', async () => {
  register('a.test-reg.sock', {})
  drive('a.test')
  register('b.test-reg.sock', { name: 'b.test', endpoint: 'csi.sock' })
  vi.spyOn(process, 'cwd').mockImplementation(() => {
    throw Object.assign(new Error('ENOENT: uv_cwd'), { code: 'ENOENT' })
  })
  cleanUps.push(() => vi.restoreAllMocks())
  await expect(discover()).resolves.toMatchObject([
    FOUND,
    { driver: 'b.test', endpoint: 'csi.sock', error: 'announces an endpoint that is not a path: csi.sock' },
  ])
})

test('sockets that say nothing cost one deadline in all, and are named', async () => {
  for (const name of ['x', 'y', 'z']) await serveSilence(`plugins_registry/${name}.sock`)
  register('a.test-reg.sock', {})
  drive('a.test')
  const started = performance.now()
  const sockets = await discover(1500)
  expect(performance.now() - started).toBeLessThan(3000)
  expect(sockets).toEqual([
    FOUND,
    ...['x', 'y', 'z'].map((name) => ({
      path: `plugins_registry/${name}.sock`,
      registered: false,
      error: 'registration socket: DEADLINE_EXCEEDED: no answer within 1.5 s',
    })),
  ])
})

test('a driver found by its own socket alone can be called, and is not known to the kubelet (C28)', async () => {
  drive('hostpath.csi.k8s.io', `${rootDir}/plugins/csi-hostpath/csi.sock`)
  expect(await discover()).toEqual([
    {
      path: 'plugins/csi-hostpath/csi.sock',
      driver: 'hostpath.csi.k8s.io',
      endpoint: 'plugins/csi-hostpath/csi.sock',
      capabilities: ['STAGE_UNSTAGE_VOLUME'],
      registered: true,
      error: 'found by its own socket; no registration socket announces this driver, so the kubelet does not know it',
    },
  ])
})

test("nothing is looked for in the kubelet's own directories, further down, or in a mount", async () => {
  drive('own.test', `${rootDir}/plugins/kubernetes.io/csi.sock`)
  drive('deep.test', `${rootDir}/plugins/deep/er/csi.sock`)
  drive('mounted.test', `${rootDir}/plugins/mounted/csi.sock`)
  const mounted = (path: string): string => `2 1 0:9 / ${rootDir}/${path} rw - nfs s:/e rw\n`
  await expect(discover(undefined, mounted('plugins/mounted'))).resolves.toEqual([])
  await expect(discover(undefined, mounted('plugins'))).resolves.toEqual([
    { path: 'plugins', registered: false, error: 'what is mounted there may hang, and is not entered' },
  ])
  await expect(discover()).resolves.toMatchObject([{ driver: 'mounted.test' }])
})

test('S8, S33: nobody is asked behind a link that is not gone through', async () => {
  drive('own.test', `${rootDir}/elsewhere/own/csi.sock`)
  symlinkSync('elsewhere', join(rootDir, 'plugins'))
  await expect(discover()).resolves.toMatchObject([{ driver: 'own.test', registered: true }])
  chmodSync(rootDir, 0o777)
  await expect(discover()).resolves.toEqual([
    { path: 'plugins', registered: false, error: expect.stringContaining('can be written by others') },
  ])
})

test('of two sockets for one name the higher version wins (C26)', async () => {
  drive('a.test')
  register('1.sock', { versions: ['1.0.0'] })
  register('2.sock', { versions: ['1.1.0', '2.0.0'] })
  register('3.sock', { versions: ['2.0.0'] })
  await expect(discover()).resolves.toMatchObject([
    {
      path: 'plugins_registry/1.sock',
      registered: false,
      error: 'plugins_registry/2.sock announces a.test, too, and is the one in use',
    },
    { path: 'plugins_registry/2.sock', registered: true },
    { path: 'plugins_registry/3.sock', registered: false, error: expect.stringContaining('no CSI version 1.x') },
  ])
})

test('on a tie the older socket wins (C26)', async () => {
  drive('a.test')
  register('1.sock', {})
  register('2.sock', {})
  utimesSync(join(rootDir, 'plugins_registry/2.sock'), 1_000_000, 1_000_000)
  await expect(discover()).resolves.toMatchObject([
    { path: 'plugins_registry/1.sock', registered: false },
    { path: 'plugins_registry/2.sock', registered: true },
  ])
})

test('a directory that cannot be read is said, not taken for an empty one (S3)', async () => {
  // A link to itself: what even root cannot read.
  symlinkSync('plugins_registry', join(rootDir, 'plugins_registry'))
  await expect(discover()).resolves.toMatchObject([
    { path: 'plugins_registry', registered: false, error: 'the link leads in a circle' },
  ])
})
