/** Volumes that an atomic writer fills, with real directories and mounts. */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect } from 'vitest'
import type { Pod, PodVolumeSource } from '../../../src/core/kube/api/objects.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { LiveNode, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { nodeProgram } from '../../helpers/programs.ts'
import { remountTmpfs, sh } from '../../helpers/scenario.ts'
import { hold } from '../holder.ts'
import { content, setData, writing } from './writing.ts'

const PASSWORD = 'correct horse battery staple'
const TOKEN = 'header.payload.signature'
const BUNDLE = '-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n'
const PUBLISHED = ['..data', 'generation']
const DONE = ['done']

const items = [
  { key: 'a', path: 'etc/a.conf', mode: 0o400 },
  { key: 'bin', path: 'bin' },
]
const CONF: PodVolumeSource = { name: 'conf', configMap: { name: 'cm' } }
const PASS: PodVolumeSource = { name: 'pass', secret: { secretName: 's', defaultMode: 0o444 } }
const VOLUMES: readonly PodVolumeSource[] = [
  { name: 'conf', configMap: { name: 'cm', defaultMode: 0o640, items } },
  PASS,
  { name: 'info', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  {
    name: 'all',
    projected: {
      defaultMode: 0o644,
      sources: [
        { configMap: { name: 'cm' } },
        { secret: { name: 's', items: [{ key: 'password', path: 'a' }] } },
        { serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } },
        { clusterTrustBundle: { path: 'ca.pem', name: 'roots' } },
        { downwardAPI: { items: [{ path: 'notes', fieldRef: { fieldPath: "metadata.annotations['note']" } }] } },
      ],
    },
  },
]

function makeNode(
  directory: string,
  volumes: readonly PodVolumeSource[] = VOLUMES,
  spec: Partial<Pod['spec']> = {},
): LiveNode {
  const node = new LiveNode(directory)
  const metadata = { labels: { b: 'x', a: 'y' }, annotations: { note: 'hello' } }
  node.pod(POD, 'app', volumes, { metadata, spec: { serviceAccountName: 'default', ...spec } })
  setData(node, { a: '1' })
  node.addSecret('s', { password: PASSWORD })
  node.cluster = {
    requestToken: async ({ metadata }, { audience, expirationSeconds }) => ({
      token: `${TOKEN} ${audience} ${expirationSeconds} ${metadata.uid}`,
      expirationTimestamp: '',
    }),
    clusterTrustBundles: async ({ name = '' }) => [{ metadata: { name, uid: 'b' }, spec: { trustBundle: BUNDLE } }],
  }
  return node
}

const dirOf = ({ root }: LiveNode, kind: string, volume: string): string =>
  `${root}/pods/${POD}/volumes/kubernetes.io~${kind}/${volume}`
const confOf = (node: LiveNode): string => dirOf(node, 'configmap', 'conf')
const passOf = (node: LiveNode): string => dirOf(node, 'secret', 'pass')

/** Files as a container sees them, with their modes. */
function seen(directory: string, below = ''): Record<string, string> {
  const entries = readdirSync(`${directory}${below}/.`).filter((name) => !name.startsWith('..'))
  return Object.assign(
    {},
    ...entries.map((name) => {
      const path = `${directory}${below}/${name}`
      const real = lstatSync(path).isSymbolicLink() ? `${directory}${below}/${readlinkSync(path)}` : path
      if (lstatSync(real).isDirectory()) return seen(directory, `${below}/${name}`)
      return { [`${below}/${name}`.slice(1)]: `${modeOf(real)} ${readFileSync(real, 'latin1')}` }
    }),
  )
}

const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8)

const isGeneration = (name: string): boolean => /^\.\.\d{4}(_\d\d){5}\.\d+$/.test(name)

/** What only the writer sees: its generations, and what a crash may have left. */
function machinery(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith('..'))
    .map((name) => (isGeneration(name) ? 'generation' : name))
    .sort()
}

const REMOUNT = { remount: true }

describe('configMap, secret, downwardAPI and projected for real', () => {
  it('are made from nothing, are there, and go with their pod; no secret is said anywhere', async ({ directory }) => {
    const node = makeNode(directory)
    const dirs = [confOf(node), passOf(node), dirOf(node, 'downward-api', 'info'), dirOf(node, 'projected', 'all')]
    const events: unknown[] = []
    const result = await node.apply({}, (event) => events.push(event))
    expect(Object.values(statesOf(result))).toEqual(Array(4).fill('done'))
    expect(dirs.map((dir) => seen(dir))).toEqual([
      { bin: '640 \0\x01\x02', 'etc/a.conf': '400 1' },
      { password: `444 ${PASSWORD}` },
      { labels: '644 a="y"\nb="x"' },
      {
        a: `644 ${PASSWORD}`,
        bin: '644 \0\x01\x02',
        'ca.pem': `644 ${BUNDLE}`,
        notes: '644 hello',
        token: `644 ${TOKEN} vault 600 ${POD}`,
      },
    ])
    expect(machinery(passOf(node))).toEqual(PUBLISHED)
    expect(modeOf(`${passOf(node)}/${readlinkSync(`${passOf(node)}/..data`)}`)).toBe('755')
    expect(dirs.map((dir) => node.mounts().top(dir)?.fsType)).toEqual([undefined, 'tmpfs', 'tmpfs', 'tmpfs'])
    expect(await node.operations()).toEqual([])
    const said = JSON.stringify([result, events, sh('sh', '-c', `cat ${node.root}.journal/*`)])
    const secrets = [PASSWORD, Buffer.from(PASSWORD).toString('base64'), TOKEN]
    expect(secrets.filter((secret) => said.includes(secret))).toEqual([])
    node.forget(POD)
    expect(new Set(await node.applied({ orphans: true }))).toEqual(new Set(DONE))
    expect(await node.operations({ orphans: true })).toEqual([])
    expect(readdirSync(`${node.root}/pods`)).not.toContain(POD)
  })

  it('P25, S23: a refresh that fails leaves the old content', async ({ directory }) => {
    const node = makeNode(directory)
    await node.apply()
    const all = dirOf(node, 'projected', 'all')
    const before = seen(all)
    setData(node, { a: '1', b: '2' })
    const requestToken = async (): Promise<never> => {
      throw new Error('forbidden: no tokens for you')
    }
    node.cluster = { ...node.cluster, requestToken }
    const message = expect.stringContaining('for vault could not be read: forbidden: no tokens for you')
    expect(await node.outcomes(REMOUNT)).toMatchObject([{ state: 'failed', code: 'ContentUnknown', message }])
    expect(seen(all)).toEqual(before)
    expect(node.mounts().reached(all)).toHaveLength(1)
  })

  it('a full file system leaves the old content', async ({ directory }) => {
    const node = makeNode(directory, [PASS])
    await node.apply()
    remountTmpfs(passOf(node), 'size=64k')
    node.addSecret('s', { password: PASSWORD, big: 'x'.repeat(200_000) })
    expect(await node.applied(REMOUNT)).toEqual(['failed WriteFailed'])
    expect(seen(passOf(node))).toEqual({ password: `444 ${PASSWORD}` })
    expect(machinery(passOf(node))).toEqual(PUBLISHED)
    remountTmpfs(passOf(node), 'size=1m')
    expect(await node.applied(REMOUNT)).toEqual(DONE)
  })

  it('killed while it writes, a generation is whole', async ({ directory }) => {
    const node = writing(directory)
    setData(node, content(0))
    await node.apply()
    const dir = confOf(node)
    const whole = (): unknown => {
      const generation = `${dir}/${readlinkSync(`${dir}/..data`)}`
      const texts = readdirSync(generation).map((name) => readFileSync(`${generation}/${name}`, 'utf8'))
      return [new Set(texts).size, texts.length]
    }
    for (let round = 1; round <= 5; round++) {
      const program = nodeProgram(new URL('../workers/writer.ts', import.meta.url), [directory, `${round}`])
      const { child, end } = await hold(program.flat())
      // As soon as a new generation shows.
      const before = new Set(readdirSync(dir))
      const hasBegun = (): boolean => readdirSync(dir).some((name) => isGeneration(name) && !before.has(name))
      while (!hasBegun() && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve))
      await end()
      expect(whole()).toEqual([1, 40])
    }
    setData(node, content(1000))
    expect(await node.applied(REMOUNT)).toEqual(DONE)
    expect(machinery(dir)).toEqual(PUBLISHED)
    expect(await node.operations()).toEqual([])
  })

  it('P28, P29: what a crash left is cleared away, and what is current stays', async ({ directory }) => {
    const node = makeNode(directory, [PASS])
    await node.apply()
    const dir = passOf(node)
    mkdirSync(`${dir}/..2020_01_02_03_04_05.6`)
    writeFileSync(`${dir}/..2020_01_02_03_04_05.6/password`, 'old')
    symlinkSync('..2020_01_02_03_04_05.6', `${dir}/..data_tmp`)
    symlinkSync('..data/old', `${dir}/old`)
    rmSync(`${dir}/password`)
    const generation = readlinkSync(`${dir}/..data`)
    expect(await node.applied()).toEqual(['blocked NotAsked'])
    expect(await node.applied(REMOUNT)).toEqual(DONE)
    expect(readdirSync(dir).toSorted()).toEqual(['..data', generation, 'password'].toSorted())
    expect(await node.operations()).toEqual([])
  })

  it('P31, P53: a group reads what is its own', async ({ directory }) => {
    const securityContext = { fsGroup: process.getgid?.() ?? 0, runAsUser: 0 }
    const node = makeNode(directory, VOLUMES, { securityContext })
    expect(await node.applied()).toEqual(Array(4).fill('done'))
    const all = dirOf(node, 'projected', 'all')
    const modes = Object.entries(seen(all)).map(([name, text]) => `${name} ${text.split(' ')[0]}`)
    expect(modes.toSorted()).toEqual(['a 644', 'bin 644', 'ca.pem 640', 'notes 644', 'token 640'])
    expect(modeOf(`${all}/${readlinkSync(`${all}/..data`)}`)).toBe('2755')
  })

  it('P26: directories for nested mounts are made, and stay where a key has the same name', async ({ directory }) => {
    const volumeMounts = [
      { name: 'conf', mountPath: '/etc/conf' },
      { name: 'tmp', mountPath: '/etc/conf/a/deep' },
    ]
    const node = makeNode(directory, [CONF, { name: 'tmp', emptyDir: {} }], {
      containers: [{ name: 'c', volumeMounts }],
    })
    expect(await node.applied()).toEqual(['done', 'done'])
    const dir = confOf(node)
    expect(
      readdirSync(dir)
        .filter((name) => !name.startsWith('..'))
        .toSorted(),
    ).toEqual(['a', 'bin'])
    expect([lstatSync(`${dir}/a/deep`).isDirectory(), readlinkSync(`${dir}/bin`)]).toEqual([true, '..data/bin'])
    expect(readdirSync(`${dir}/a`)).toEqual(['deep'])
  })

  it('what is planted is neither followed nor written to', async ({ directory }) => {
    const node = makeNode(directory, [CONF])
    await node.apply()
    const dir = confOf(node)
    writeFileSync(`${directory}/outside`, 'untouched')
    mkdirSync(`${directory}/elsewhere`)
    rmSync(`${dir}/..data`)
    symlinkSync(`${directory}/elsewhere`, `${dir}/..data`)
    symlinkSync(`${directory}/outside`, `${dir}/..data_tmp`)
    setData(node, { a: '2' })
    expect(await node.applied(REMOUNT)).toEqual(DONE)
    expect(seen(dir)).toEqual({ a: '644 2', bin: '644 \0\x01\x02' })
    expect(readFileSync(`${directory}/outside`, 'utf8')).toBe('untouched')
    expect(readdirSync(`${directory}/elsewhere`)).toEqual([])
    rmSync(`${dir}/..data`)
    mkdirSync(`${dir}/..data`)
    expect(await node.applied(REMOUNT)).toEqual(['failed UnexpectedFile'])
  })

  it('an object that goes meanwhile fails its volume, of which nothing is left', async ({ directory }) => {
    const node = makeNode(directory, [CONF, PASS])
    node.cluster = { getConfigMap: async () => undefined, getSecret: async () => undefined }
    expect(await node.applied()).toEqual(Array(2).fill('failed ContentMissing'))
    expect([readdirSync(`${node.root}/pods`).includes(POD), node.mounted()]).toEqual([false, []])
  })
})
