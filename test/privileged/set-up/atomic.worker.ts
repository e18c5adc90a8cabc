/** Volumes that an atomic writer fills, with real directories and mounts. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
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
import type { PodVolumeSource } from '../../../src/core/model/objects.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { remountTmpfs } from '../../helpers/remount.ts'
import { runScenario, sh, unmountBelow } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const PASSWORD = 'correct horse battery staple'
const TOKEN = 'header.payload.signature'
const BUNDLE = '-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n'

const VOLUMES: readonly PodVolumeSource[] = [
  {
    name: 'conf',
    configMap: {
      name: 'cm',
      defaultMode: 0o640,
      items: [
        { key: 'a', path: 'etc/a.conf', mode: 0o400 },
        { key: 'bin', path: 'bin' },
      ],
    },
  },
  { name: 'pass', secret: { secretName: 's', defaultMode: 0o444 } },
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

function makeNode(directory: string, volumes: readonly PodVolumeSource[] = VOLUMES): LiveNode {
  const node = new LiveNode(directory)
  const pod = node.pod(POD, 'app', volumes, { serviceAccountName: 'default' })
  Object.assign(pod.metadata, { labels: { b: 'x', a: 'y' }, annotations: { note: 'hello' } })
  const metadata = { namespace: 'default', uid: 'u' }
  node.configMaps.push({ metadata: { ...metadata, name: 'cm' }, data: { a: '1' }, binaryData: { bin: 'AAEC' } })
  node.secrets.push({ metadata: { ...metadata, name: 's' }, data: { password: base64(PASSWORD) } })
  node.cluster = {
    requestToken: async (request) => ({ token: `${TOKEN} ${JSON.stringify(request)}`, expirationTimestamp: '' }),
    getClusterTrustBundle: async (name) => ({ metadata: { name, uid: 'b' }, spec: { trustBundle: BUNDLE } }),
  }
  return node
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function setData(node: LiveNode, data: Record<string, string>): void {
  const [{ metadata }] = node.configMaps as [LiveNode['configMaps'][number]]
  node.configMaps.splice(0, 1, { metadata, data, binaryData: { bin: 'AAEC' } })
}

function dirOf(node: LiveNode, kind: string, volume: string): string {
  return `${node.root}/pods/${POD}/volumes/kubernetes.io~${kind}/${volume}`
}

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

const done = (result: Parameters<typeof statesOf>[0]): string[] => Object.values(statesOf(result))

/** Keeps a reader at work in this process's own breaks; returns what it saw that was neither. */
async function readWhile(directory: string, isWhole: (parts: readonly string[]) => boolean, work: () => Promise<void>) {
  const child = spawn(...thisProgram('reader', directory), {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  await once(child.stdout, 'data')
  await work()
  child.stdin.end()
  await once(child, 'close')
  const readings: string[][] = JSON.parse(text.slice(text.indexOf('[')))
  return { reads: readings.length > 1, torn: readings.filter((parts) => !isWhole(parts)) }
}

/** Runs an apply in a process of its own and kills it when it says that it does this step; returns whether it did. */
async function killAt(directory: string, scenario: string, step: number): Promise<boolean> {
  const child: ChildProcess = spawn(...thisProgram(scenario, directory, String(step)), {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [, signal] = await once(child, 'close')
  return signal === 'SIGKILL'
}

/** In the killed process: ends it at the given event. */
function dyingAt(step: number): () => void {
  let count = 0
  return () => {
    if (count++ === step) process.kill(process.pid, 'SIGKILL')
  }
}

await runScenario({
  async setUp(directory) {
    const node = makeNode(directory)
    const events: unknown[] = []
    const result = await node.apply({}, (event) => events.push(event))
    const wrapped = readdirSync(`${node.root}/pods/${POD}/plugins/kubernetes.io~empty-dir`)
    const kinds = [dirOf(node, 'configmap', 'conf'), dirOf(node, 'secret', 'pass'), dirOf(node, 'downward-api', 'info')]
    const found = {
      states: done(result),
      wrapped,
      seen: [...kinds, dirOf(node, 'projected', 'all')].map((dir) => seen(dir)),
      machinery: machinery(dirOf(node, 'secret', 'pass')),
      generation: modeOf(`${dirOf(node, 'secret', 'pass')}/${readlinkSync(`${dirOf(node, 'secret', 'pass')}/..data`)}`),
      mounted: [...kinds, dirOf(node, 'projected', 'all')].map((dir) => node.mounts().top(dir)?.fsType ?? ''),
      after: (await node.plan()).operations,
    }
    const said = JSON.stringify([result, events, sh('sh', '-c', `cat ${node.root}.journal/*`)])
    node.forget(POD)
    const gone = await node.apply({ orphans: true })
    return {
      ...found,
      leaks: [PASSWORD, base64(PASSWORD), TOKEN].filter((secret) => said.includes(secret)),
      gone: [...new Set(done(gone))],
      left: (await node.plan({ orphans: true })).operations,
      podDir: readdirSync(`${node.root}/pods`).includes(POD),
    }
  },

  async remount(directory) {
    const node = makeNode(directory)
    await node.apply()
    setData(node, { a: '2', b: 'new' })
    const planned = (await node.plan()).operations.map(({ kind, blocked }) => `${kind} ${blocked?.code}`)
    const unasked = await node.apply()
    const before = seen(dirOf(node, 'configmap', 'conf'))
    const asked = await node.apply({ remount: true })
    const dir = dirOf(node, 'projected', 'all')
    return {
      planned,
      unasked: done(unasked),
      before,
      asked: done(asked),
      conf: seen(dirOf(node, 'configmap', 'conf')),
      files: Object.keys(seen(dir)).sort(),
      machinery: machinery(dir),
      after: (await node.plan()).operations,
    }
  },

  async readers(directory) {
    const node = makeNode(directory, [{ name: 'conf', configMap: { name: 'cm' } }])
    setData(node, { a: '0'.repeat(50_000), b: '0'.repeat(50_000) })
    await node.apply()
    const dir = dirOf(node, 'configmap', 'conf')
    const states = new Set<string>()
    const isWhole = ([a = '', b]: readonly string[]): boolean => a === b
    const read = await readWhile(dir, isWhole, async () => {
      for (let round = 1; round <= 200; round++) {
        const text = String(round).padStart(50_000, String(round % 10))
        setData(node, { a: text, b: text })
        for (const state of done(await node.apply({ remount: true }))) states.add(state)
      }
    })
    return { ...read, states: [...states], machinery: machinery(dir) }
  },

  /** Reads both files of one generation again and again until its standard input ends. */
  async reader(_directory, [dir = '']) {
    const readings = new Map<string, string[]>()
    let isOver = false
    process.stdin.on('end', () => {
      isOver = true
    })
    process.stdin.resume()
    process.stdout.write('reading ')
    while (!isOver) {
      for (let count = 0; count < 20; count++) {
        const parts = readPair(dir)
        if (parts !== undefined) readings.set(parts.join(), parts)
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    return [...readings.values()]
  },

  async failedRefresh(directory) {
    const node = makeNode(directory)
    await node.apply()
    const before = seen(dirOf(node, 'projected', 'all'))
    setData(node, { a: '1', b: '2' })
    node.cluster = {
      ...node.cluster,
      requestToken: async () => {
        throw new Error('forbidden: no tokens for you')
      },
    }
    const result = await node.apply({ remount: true })
    return {
      states: done(result).sort(),
      messages: result.outcomes.flatMap(({ code, message }) => (code === 'ContentUnknown' ? [message] : [])),
      same: JSON.stringify(seen(dirOf(node, 'projected', 'all'))) === JSON.stringify(before),
      mounted: node.mounts().reached(dirOf(node, 'projected', 'all')).length,
    }
  },

  async fullDisk(directory) {
    const node = makeNode(directory, [{ name: 'pass', secret: { secretName: 's' } }])
    await node.apply()
    const dir = dirOf(node, 'secret', 'pass')
    remountTmpfs(dir, 'size=64k')
    node.secrets.splice(0, 1, {
      metadata: { name: 's', namespace: 'default', uid: 'u' },
      data: { password: base64(PASSWORD), big: base64('x'.repeat(200_000)) },
    })
    const result = await node.apply({ remount: true })
    const afterRefresh = {
      states: done(result),
      message: result.outcomes[0]?.message?.replace(dir, 'DIR'),
      seen: seen(dir),
      machinery: machinery(dir),
    }
    remountTmpfs(dir, 'size=1m')
    return { ...afterRefresh, again: done(await node.apply({ remount: true })), files: Object.keys(seen(dir)) }
  },

  async fullDiskAtSetUp(directory) {
    const node = new LiveNode(directory)
    const full = `${node.root}/pods/${POD}`
    mkdirSync(full)
    sh('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', full)
    node.pod(POD, 'app', [{ name: 'conf', configMap: { name: 'cm' } }])
    node.configMaps.push({
      metadata: { name: 'cm', namespace: 'default', uid: 'u' },
      data: { big: 'x'.repeat(200_000) },
    })
    const result = await node.apply()
    return { states: done(result), left: readdirSync(full) }
  },

  async killed(directory) {
    const node = makeNode(directory, VOLUMES.slice(0, 2))
    await node.apply()
    const want = [seen(dirOf(node, 'configmap', 'conf')), seen(dirOf(node, 'secret', 'pass'))]
    const outcomes = new Set<string>()
    let kills = 0
    unmountBelow(directory)
    for (let step = 0; ; step++) {
      const place = `${directory}/${step}`
      mkdirSync(place)
      const killed = await killAt(place, 'dyingSetUp', step)
      const again = makeNode(place, VOLUMES.slice(0, 2))
      for (const state of done(await again.apply())) outcomes.add(state)
      const got = [seen(dirOf(again, 'configmap', 'conf')), seen(dirOf(again, 'secret', 'pass'))]
      const left = [machinery(dirOf(again, 'secret', 'pass')).join(), String((await again.plan()).operations.length)]
      for (const what of left) outcomes.add(what)
      if (JSON.stringify(got) !== JSON.stringify(want)) outcomes.add(`step ${step}: ${JSON.stringify(got)}`)
      unmountBelow(place)
      if (!killed) return { kills, outcomes: [...outcomes].sort() }
      kills += 1
    }
  },

  async dyingSetUp(_directory, [place = '', step = '']) {
    await makeNode(place, VOLUMES.slice(0, 2)).apply({}, dyingAt(Number(step)))
  },

  /** The writer itself, killed as soon as a new generation shows. */
  async killedWriting(directory) {
    const node = makeNode(directory, [{ name: 'conf', configMap: { name: 'cm' } }])
    setData(node, content(0))
    await node.apply()
    const dir = dirOf(node, 'configmap', 'conf')
    const found = new Set<string>()
    for (let round = 1; round <= 20; round++) {
      const child = spawn(...thisProgram('dyingWriter', directory, String(round)), {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(child.stdout, 'data')
      const before = new Set(readdirSync(dir))
      const hasBegun = (): boolean => readdirSync(dir).some((name) => isGeneration(name) && !before.has(name))
      while (!hasBegun() && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve))
      child.kill('SIGKILL')
      await once(child, 'close')
      const values = new Set(Object.values(readAll(dir)))
      found.add(`${values.size} value, ${Object.keys(readAll(dir)).length} files`)
    }
    setData(node, content(1000))
    const again = done(await node.apply({ remount: true }))
    return { found: [...found], again, machinery: machinery(dir), after: (await node.plan()).operations }
  },

  async dyingWriter(_directory, [place = '', round = '']) {
    const node = makeNode(place, [{ name: 'conf', configMap: { name: 'cm' } }])
    process.stdout.write('writing')
    for (let count = 0; ; count++) {
      setData(node, content(Number(round) * 1000 + count))
      await node.apply({ remount: true })
    }
  },

  async leftovers(directory) {
    const node = makeNode(directory, [{ name: 'pass', secret: { secretName: 's' } }])
    await node.apply()
    const dir = dirOf(node, 'secret', 'pass')
    mkdirSync(`${dir}/..2020_01_02_03_04_05.6`)
    writeFileSync(`${dir}/..2020_01_02_03_04_05.6/password`, 'old')
    symlinkSync('..2020_01_02_03_04_05.6', `${dir}/..data_tmp`)
    symlinkSync('..data/old', `${dir}/old`)
    rmSync(`${dir}/password`)
    const generation = readlinkSync(`${dir}/..data`)
    const planned = (await node.plan()).operations.map(({ kind, blocked }) => `${kind} ${blocked?.code}`)
    const states = done(await node.apply({ remount: true }))
    return {
      planned,
      states,
      names: readdirSync(dir)
        .map((name) => (name === generation ? 'the same generation' : name))
        .sort(),
      after: (await node.plan()).operations,
    }
  },

  /** Directories and markers are still there, mounts are not. */
  async reboot(directory) {
    const node = makeNode(directory)
    await node.apply()
    const dir = dirOf(node, 'secret', 'pass')
    for (const mount of node.mounted()) sh('umount', mount.mountPoint)
    const states = done(await node.apply())
    return { states, seen: seen(dir), fsType: node.mounts().top(dir)?.fsType, after: (await node.plan()).operations }
  },

  async group(directory) {
    const node = makeNode(directory, VOLUMES)
    const [pod] = node.pods.splice(1, 1)
    if (pod === undefined) throw new Error('no pod')
    const gid = process.getgid?.() ?? 0
    node.pods.push({ ...pod, spec: { ...pod.spec, securityContext: { fsGroup: gid, runAsUser: 0 } } })
    const states = done(await node.apply())
    const dir = dirOf(node, 'projected', 'all')
    return {
      states,
      modes: Object.fromEntries(Object.entries(seen(dir)).map(([name, text]) => [name, text.split(' ')[0]])),
      generation: modeOf(`${dir}/${readlinkSync(`${dir}/..data`)}`),
      after: (await node.plan()).operations,
    }
  },

  async nested(directory) {
    const node = makeNode(directory, [
      { name: 'conf', configMap: { name: 'cm' } },
      { name: 'tmp', emptyDir: {} },
    ])
    const [pod] = node.pods.splice(1, 1)
    if (pod === undefined) throw new Error('no pod')
    const volumeMounts = [
      { name: 'conf', mountPath: '/etc/conf' },
      { name: 'tmp', mountPath: '/etc/conf/a/deep' },
      { name: 'tmp', mountPath: '/etc/conf/a/deep/er' },
    ]
    node.pods.push({ ...pod, spec: { ...pod.spec, containers: [{ name: 'c', volumeMounts }] } })
    const states = done(await node.apply())
    const dir = dirOf(node, 'configmap', 'conf')
    return {
      states,
      tree: sh('find', dir, '-type', 'd', '-not', '-name', '..*', '-printf', '%m %P\n').split('\n').sort(),
      links: sh('find', dir, '-maxdepth', '1', '-type', 'l', '-not', '-name', '..*', '-printf', '%f %l\n')
        .split('\n')
        .sort(),
    }
  },

  async planted(directory) {
    const node = makeNode(directory, [{ name: 'conf', configMap: { name: 'cm' } }])
    await node.apply()
    const dir = dirOf(node, 'configmap', 'conf')
    writeFileSync(`${directory}/outside`, 'untouched')
    mkdirSync(`${directory}/elsewhere`)
    writeFileSync(`${directory}/elsewhere/file`, 'untouched')
    rmSync(`${dir}/..data`)
    symlinkSync(`${directory}/elsewhere`, `${dir}/..data`)
    symlinkSync(`${directory}/outside`, `${dir}/..data_tmp`)
    setData(node, { a: '2' })
    const states = done(await node.apply({ remount: true }))
    const found = seen(dir)
    rmSync(`${dir}/..data`)
    mkdirSync(`${dir}/..data`)
    const refused = await node.apply({ remount: true })
    return {
      states,
      seen: found,
      outside: [readFileSync(`${directory}/outside`, 'utf8'), readFileSync(`${directory}/elsewhere/file`, 'utf8')],
      refused: refused.outcomes.map(({ code }) => code),
    }
  },

  escaping: (directory) => badInput(directory, 'escaping'),
  missing: (directory) => badInput(directory, 'missing'),
  optional: (directory) => badInput(directory, 'optional'),

  /** The object goes between the plan and the write. */
  async gone(directory) {
    const node = makeNode(directory, [
      { name: 'conf', configMap: { name: 'cm' } },
      { name: 'pass', secret: { secretName: 's' } },
    ])
    node.cluster = { getConfigMap: async () => undefined, getSecret: async () => undefined }
    const result = await node.apply()
    return {
      codes: result.outcomes.map(({ code, message }) => `${code} ${message}`),
      left: readdirSync(`${node.root}/pods`).includes(POD),
      mounts: node.mounted().length,
    }
  },
})

function content(round: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, `${round}`.padStart(2000, '.')]))
}

function readAll(dir: string): Record<string, string> {
  const generation = `${dir}/${readlinkSync(`${dir}/..data`)}`
  const texts = readdirSync(generation).filter((name) => name !== 'bin')
  return Object.fromEntries(texts.map((name) => [name, readFileSync(`${generation}/${name}`, 'utf8')]))
}

/** Both files of the generation that is published; undefined where it went away meanwhile. */
function readPair(dir: string): string[] | undefined {
  try {
    const generation = `${dir}/${readlinkSync(`${dir}/..data`)}`
    const texts = ['a', 'b'].map((name) => readFileSync(`${generation}/${name}`, 'utf8'))
    return texts.map((text) => `${text.length} ${text.slice(-4)}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function badInput(directory: string, kind: string) {
  const items = kind === 'escaping' ? [{ key: 'a', path: '../../a' }] : [{ key: 'none', path: 'x' }]
  const node = makeNode(directory, [
    { name: 'conf', configMap: { name: 'cm', items, ...(kind === 'optional' ? { optional: true } : {}) } },
    { name: 'gone', secret: { secretName: 'none', optional: kind === 'optional' } },
  ])
  const plan = await node.plan()
  const result = await node.apply()
  const dir = dirOf(node, 'configmap', 'conf')
  const pods = readdirSync(`${node.root}/pods`)
  return {
    planned: plan.operations.map(({ blocked }) => blocked?.code ?? 'free'),
    states: done(result),
    ...(pods.includes(POD) ? { machinery: machinery(dir), seen: seen(dir) } : {}),
  }
}
