import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { livingVolumes } from '../../src/core/node/collect-node.ts'
import type { LivingPod } from '../../src/core/node/tree/pod-directory.ts'
import { scanTree } from '../../src/core/node/tree/read-tree.ts'
import { digestFile } from '../../src/core/node/tree/tree-entry.ts'
import { readSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { ListedEntry } from '../../src/core/volumes/on-disk/tree.ts'
import type { TreeEntry } from '../../src/core/volumes/snapshot.ts'
import { noMounts, unshareArguments } from '../helpers/namespace.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { fixture } from './helpers/fixture.ts'

const NONE = parseMountinfo('1 0 8:1 / / rw - ext4 /dev/vda1 rw\n')
const paths = (entries: readonly TreeEntry[]) => entries.map((entry) => entry.path)
const at = (entries: readonly TreeEntry[], path: string) => entries.find((entry) => entry.path === path)
const living = (uid: string) => new Map([[uid, () => ({ name: 'e' })]])
const cleanUp: (() => void)[] = []
afterAll(() => {
  for (const each of cleanUp) each()
})

describe('the tree of a real node, built anew', async () => {
  const { snapshot } = await readSnapshot(new URL('../fixtures/captures/healthy/node.json', import.meta.url).pathname)
  const captured = snapshot.tree ?? []
  // Short: a socket's path has 108 bytes.
  const root = mkdtempSync(join(tmpdir(), 'vt'))
  cleanUp.push(() => rmSync(root, { recursive: true, force: true }))
  const mounts = parseMountinfo((snapshot.mountinfo ?? '').replaceAll('/var/lib/kubelet', root))
  for (const entry of captured) await make(root, entry)
  // Hidden below a mount point: nobody may find it.
  for (const { mountPoint } of mounts.under(`${root}/pods`)) {
    if (statSync(mountPoint, { throwIfNoEntry: false })?.isDirectory() && !existsSync(join(mountPoint, '..data')))
      writeFileSync(join(mountPoint, 'trap'), '')
  }

  it('is the same, entry by entry', async () => {
    const entries = await readTree({ rootDir: root, mounts, attributes: 'all' })
    expect(entries.map(comparable)).toEqual(captured.map(comparable))
  })

  it('for a plan has the same names, types and digests, without what lives', async () => {
    const { api } = snapshot
    if (api === undefined) throw new Error('a capture has the API')
    const living = livingVolumes(api)
    expect([...living.keys()]).toEqual(expect.arrayContaining([...(snapshot.processes ?? [])]))
    const planned = await readTree({ rootDir: root, mounts, attributes: 'plan' }, living)
    const byPath = new Map(planned.map((entry) => [entry.path, entry]))
    for (const entry of captured.map(comparable)) {
      const left = /^pods\/[^/]+\/(containers|etc-hosts|plugins)|empty-dir\/[^/]+\/|^(?!plugins|pods)[^/]+\//.test(
        entry.path,
      )
      if (left) continue
      expect(byPath.get(entry.path), entry.path).toMatchObject({ path: entry.path, type: entry.type })
      expect(byPath.get(entry.path)?.content).toBe(entry.content)
      expect(byPath.get(entry.path)?.digest !== undefined, entry.path).toBe(entry.digest)
    }
  })

  async function make(below: string, entry: TreeEntry): Promise<void> {
    const path = join(below, entry.path)
    if (entry.type === 'dir') mkdirSync(path, { recursive: true })
    else if (entry.type === 'link') symlinkSync(entry.target ?? '', path)
    else if (entry.type === 'socket') await listen(path)
    else writeFileSync(path, entry.content ?? (entry.digest === undefined ? '' : 'x'.repeat(entry.size ?? 0)))
    if (entry.mode !== undefined && entry.type !== 'link') chmodSync(path, Number.parseInt(entry.mode, 8) | 0o700)
  }

  function comparable(entry: TreeEntry) {
    const { path, type, target, content } = entry
    const mode = entry.mode === undefined || type === 'link' ? undefined : Number.parseInt(entry.mode, 8) | 0o700
    return { path, type, target, content, mode, digest: entry.digest !== undefined, known: entry.mtime !== undefined }
  }
})

async function listen(path: string): Promise<void> {
  const server: Server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  cleanUp.push(() => server.close())
}

/** Both parts at once. */
async function readTree(options: Parameters<typeof scanTree>[0], living: ReadonlyMap<string, LivingPod> = new Map()) {
  return (await scanTree(options)).complete(living)
}

describe('readTree', () => {
  const POD = 'pods/11111111-2222-3333-4444-555555555555'
  /** Where the markers of the pod's emptyDirs are. */
  const META = `${POD}/plugins/kubernetes.io~empty-dir`
  it('gives content only of state files, digests only of generations', async () => {
    using root = fixture({
      [`${POD}/volumes/kubernetes.io~csi/pv/vol_data.json`]: '{"a":1}',
      [`${POD}/volumes/kubernetes.io~empty-dir/e/vol_data.json`]: 'user data',
      [`${POD}/volumes/kubernetes.io~configmap/c/..2026_11_21_02_04_30.1/key`]: 'value',
      [`${POD}/volumes/kubernetes.io~configmap/c/..2026_11_21_02_04_31.22/key`]: 'value',
      [`${POD}/volumes/kubernetes.io~configmap/c/..2026_11_21_02_04_31.22/sub/other`]: 'other',
      [`${POD}/volumes/kubernetes.io~configmap/c/stray`]: 'value',
      [`${POD}/stray-file`]: 'x',
    })
    const entries = await readTree({ rootDir: root.path, mounts: NONE, attributes: 'all' })
    expect(entries.filter((entry) => entry.content !== undefined)).toMatchObject([
      { path: `${POD}/volumes/kubernetes.io~csi/pv/vol_data.json`, content: '{"a":1}', mode: '644', size: 7 },
    ])
    const digests = entries.filter((entry) => entry.digest !== undefined)
    expect(digests.map((entry) => [entry.path.split('/c/')[1], entry.size])).toEqual([
      ['..2026_11_21_02_04_30.1/key', 5],
      ['..2026_11_21_02_04_31.22/key', 5],
      ['..2026_11_21_02_04_31.22/sub/other', 5],
    ])
    expect(digests[0]?.digest).toBe(digests[1]?.digest)
    expect(digests[0]?.digest).not.toBe(digests[2]?.digest)
    expect(JSON.stringify(entries)).not.toContain('user data')
    expect(at(entries, `${POD}/stray-file`)).toMatchObject({ type: 'file', size: 1 })
    // A plan only removes what a pod that has ended leaves: a file that a bad disk does not give any more keeps nothing.
    const planned = await readTree({ rootDir: root.path, mounts: NONE, attributes: 'plan' })
    expect(planned.filter((entry) => entry.digest !== undefined)).toEqual([])
    for (const { path, size } of digests) expect(at(planned, path)).toMatchObject({ size })
  })

  it('a token that the kubelet has just replaced is no file that could not be read', () => {
    const token = new ListedEntry(`${POD}/volumes/kubernetes.io~projected/t/..2026_11_21_02_04_30.1`, 'token', 'file')
    digestFile(token, '/nonexistent/token')
    expect(token.error).toBeUndefined()
  })

  it('keeps names that are not UTF-8: with attributes where containers may write, elsewhere as unknown', async () => {
    using root = fixture({ [`${POD}/volumes/kubernetes.io~empty-dir/e/sub/plain`]: 'x' })
    const bytes = Buffer.from([0xff, 0xfe])
    const named = (parent: string): Buffer => Buffer.concat([Buffer.from(`${join(root.path, parent)}/`), bytes])
    const text = bytes.toString()
    const inside = `${POD}/volumes/kubernetes.io~empty-dir/e/sub`
    mkdirSync(named(inside))
    writeFileSync(Buffer.concat([named(inside), Buffer.from('/file')]), 'four')
    mkdirSync(named(`${POD}/volumes/kubernetes.io~empty-dir`))
    writeFileSync(named(POD), 'x')
    for (const attributes of ['all', 'plan'] as const) {
      const entries = await readTree({ rootDir: root.path, mounts: NONE, attributes })
      expect(at(entries, `${inside}/${text}`)).toMatchObject({ type: 'dir', mode: '755' })
      expect(at(entries, `${inside}/${text}/file`)).toMatchObject({ type: 'file', size: 4 })
      expect(at(entries, `${POD}/volumes/kubernetes.io~empty-dir/${text}`)).toMatchObject({
        type: 'dir',
        error: 'EILSEQ',
      })
      expect(at(entries, `${POD}/${text}`)).toMatchObject({ type: 'file', error: 'EILSEQ' })
    }
  })

  it('caps what it reads', async () => {
    using root = fixture({
      [`${POD}/volumes/kubernetes.io~csi/pv/vol_data.json`]: ' '.repeat(64 * 1024 + 1),
      [`${POD}/volumes/kubernetes.io~configmap/c/..2026_11_21_02_04_30.1/large`]: 'x'.repeat(2 * 1024 * 1024 + 1),
      [`${POD}/volumes/kubernetes.io~configmap/c/..2026_11_21_02_04_30.1/just`]: 'x'.repeat(2 * 1024 * 1024),
    })
    const many = join(root.path, POD, 'volumes/kubernetes.io~empty-dir/e')
    for (let i = 0; i < 10_001; i++) {
      if (i % 1000 === 0) mkdirSync(join(many, `${i}`), { recursive: true })
      else writeFileSync(join(many, `${i - (i % 1000)}`, `${i}`), '')
    }
    const entries = await readTree({ rootDir: root.path, mounts: NONE, attributes: 'all' })
    const state = at(entries, `${POD}/volumes/kubernetes.io~csi/pv/vol_data.json`)
    expect(state).toMatchObject({ size: 65_537, error: 'larger than 65536 bytes' })
    expect(state).not.toHaveProperty('content')
    const generation = `${POD}/volumes/kubernetes.io~configmap/c/..2026_11_21_02_04_30.1`
    expect(at(entries, `${generation}/large`)).not.toHaveProperty('digest')
    expect(at(entries, `${generation}/just`)?.digest).toMatch(/^hmac-sha256:[0-9a-f]{64}$/)
    const volume = `${POD}/volumes/kubernetes.io~empty-dir/e`
    expect(at(entries, volume)?.error).toBe('more than 10000 entries')
    expect(paths(entries).filter((path) => path.startsWith(`${volume}/`))).toHaveLength(10_000)
  })

  it('follows no link', async () => {
    using elsewhere = fixture({ 'secret/vol_data.json': 'never' })
    using root = fixture({
      [`${POD}/volumes/kubernetes.io~csi/x`]: '',
      [`${POD}/volumes/kubernetes.io~empty-dir/e/f`]: '',
    })
    symlinkSync(join(elsewhere.path, 'secret'), join(root.path, POD, 'volumes/kubernetes.io~csi/pv'))
    symlinkSync('/', join(root.path, POD, 'volumes/kubernetes.io~empty-dir/e/root'))
    symlinkSync(elsewhere.path, join(root.path, 'pods/link'))
    const entries = await readTree({ rootDir: root.path, mounts: NONE, attributes: 'all' })
    expect(at(entries, `${POD}/volumes/kubernetes.io~csi/pv`)).toMatchObject({
      type: 'link',
      target: join(elsewhere.path, 'secret'),
    })
    expect(at(entries, `${POD}/volumes/kubernetes.io~empty-dir/e/root`)).toMatchObject({ type: 'link', target: '/' })
    expect(paths(entries).filter((path) => path.includes('vol_data'))).toEqual([])
  })

  it.each([
    { on: 'the directory of the marker', at: '', wanted: [`${META}/e: EXDEV`] },
    { on: 'the marker', at: '/ready', wanted: [`${META}/e/ready`, `${META}/e`] },
  ])('asks nothing of a mount on $on', async ({ at, wanted }) => {
    using root = fixture({ [`${POD}/volumes/kubernetes.io~empty-dir/e/x`]: '', [`${META}/e/ready`]: '' })
    const mounts = parseMountinfo(
      `1 0 0:1 / / rw - tmpfs t rw\n2 1 0:2 / ${root.path}/${META}/e${at} rw - nfs s:/e rw\n`,
    )
    const entries = await readTree({ rootDir: root.path, mounts, attributes: 'plan' }, living(POD.slice(5)))
    const found = entries.filter(({ path }) => path.startsWith(META))
    expect(found.map(({ path, error }) => (error === undefined ? path : `${path}: ${error}`))).toEqual(wanted)
  })
})

/** Runs a shell script as root of a private mount namespace, and gives what it printed. */
function inNamespace(script: string, args: readonly string[]): string {
  const child = spawnSync('unshare', [...unshareArguments, 'bash', '-euc', script, 'bash', ...args], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  if (child.status === 0) return child.stdout
  throw new Error(`${child.error ?? ''} status ${child.status}: ${child.stderr}`)
}

const PRINT = new URL('./helpers/print-tree.ts', import.meta.url).pathname
interface Printed {
  readonly entries: readonly TreeEntry[]
  readonly mounts: number
}

describeUnless(noMounts, 'with real mounts', () => {
  const volumes = 'pods/u/volumes'
  const run = (root: string, script: string): Printed =>
    JSON.parse(inNamespace(`cd "$1"; ${script}\nexec "$2" "$3" "$1"`, [root, process.execPath, PRINT]))

  it('reads the own tmpfs of secrets, and nothing else that is mounted', () => {
    using root = fixture({
      [`${volumes}/kubernetes.io~secret/s/under`]: '',
      [`${volumes}/kubernetes.io~empty-dir/m/under`]: '',
    })
    const { entries, mounts } = run(
      root.path,
      `mount --bind . .; cd .
       mkdir -p plugins "${volumes}/kubernetes.io~csi/pv/mount" "${volumes}/kubernetes.io~nfs/n"
       mount -t tmpfs x "${volumes}/kubernetes.io~secret/s"; mkdir "${volumes}/kubernetes.io~secret/s/..2026_11_21_02_04_30.5"
       echo v > "${volumes}/kubernetes.io~secret/s/..2026_11_21_02_04_30.5/key"
       mkdir "${volumes}/kubernetes.io~secret/s/nested"; mount -t tmpfs x "${volumes}/kubernetes.io~secret/s/nested"; touch "${volumes}/kubernetes.io~secret/s/nested/trap"
       mount -t tmpfs x "${volumes}/kubernetes.io~empty-dir/m"; touch "${volumes}/kubernetes.io~empty-dir/m/trap"
       mount -t tmpfs x "${volumes}/kubernetes.io~csi/pv/mount"; touch "${volumes}/kubernetes.io~csi/pv/mount/trap"
       mount -t tmpfs x plugins; touch plugins/seen`,
    )
    expect(mounts).toBe(6)
    expect(paths(entries).filter((path) => /trap|under/.test(path))).toEqual([])
    expect(paths(entries)).toContain('plugins/seen')
    expect(at(entries, `${volumes}/kubernetes.io~secret/s/..2026_11_21_02_04_30.5/key`)).toMatchObject({
      size: 2,
      digest: expect.any(String),
    })
    for (const path of ['kubernetes.io~secret/s/nested', 'kubernetes.io~empty-dir/m', 'kubernetes.io~csi/pv/mount']) {
      expect(at(entries, `${volumes}/${path}`)).toEqual({ path: `${volumes}/${path}`, type: 'dir' })
    }
  })
})
