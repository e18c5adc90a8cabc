/**
 * The disk below the kubelet's root fails a volume's n-th change, for every n, while pods come and go. What fails says so in one line
 * with a next step, what was half-made is gone or named, and once the disk is well again the next apply comes to the end that it
 * would have come to.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect } from 'vitest'
import { VolctlError } from '../../../src/core/base/errors.ts'
import { csiGlobalDir } from '../../../src/core/facts/actual/volume-names.ts'
import { codesIn } from '../../../src/core/messages/codes.ts'
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { type CsiDriver, startCsiDriver } from '../../helpers/csi-driver/start.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { addVolume, claim, DRIVER, handleOf, OTHER, POD } from '../csi-scene.ts'
import { describeUnless } from '../describe-unless.ts'
import type { MirrorFault } from '../fuse/faults.ts'
import type { Op } from '../fuse/protocol.ts'
import { type Mirror, startMirror } from '../fuse/start.ts'
import { noFuse } from './no-fuse.ts'

const MAKING: readonly Op[] = ['MKDIR', 'MKNOD', 'CREATE', 'SYMLINK', 'WRITE', 'FSYNC']
const CHANGING: readonly Op[] = [...MAKING, 'SETATTR', 'RENAME', 'RENAME2', 'UNLINK', 'RMDIR', 'FSYNCDIR']

/** What becomes of the n-th change, and of those after it. */
const KINDS: Readonly<Record<string, (skip: number) => MirrorFault>> = {
  /** One bad sector. */
  EIO: (skip) => ({ errno: 'EIO', ops: CHANGING, skip, times: 1 }),
  /** From then on nothing can be added. */
  ENOSPC: (skip) => ({ errno: 'ENOSPC', ops: MAKING, skip }),
  /** From then on nothing can be changed. */
  EROFS: (skip) => ({ errno: 'EROFS', ops: CHANGING, skip }),
}

/** Where a volume begins to fail, of those that are there twice: the first half of its changes is the other's. */
const HALF = 9

interface Failing {
  /** What on the disk is of it. */
  readonly path: string
  /** Its first change that fails. */
  readonly from: number
}

/** Volumes of the pod: they fail independently of each other. */
const VOLUMES: Readonly<Record<string, Failing>> = {
  scratch: { path: `^pods/${POD}$|kubernetes.io~empty-dir(/scratch|$)`, from: 0 },
  conf: { path: 'kubernetes.io~configmap(/conf(/|$)|$)|/wrapped_conf(/|$)', from: 0 },
  pass: { path: 'kubernetes.io~secret|/wrapped_pass', from: 0 },
  conf2: { path: 'kubernetes.io~configmap/conf2|/wrapped_conf2', from: HALF },
  'pv-1': { path: `kubernetes.io~csi(/pv-1|$)|^plugins/kubernetes.io(/csi)?$|${stagingOf('pv-1')}`, from: 0 },
  'pv-4': { path: `kubernetes.io~csi/pv-4|${stagingOf('pv-4')}`, from: HALF },
}

function stagingOf(volume: string): string {
  return csiGlobalDir(DRIVER, handleOf(volume))
}

interface Scene {
  readonly node: LiveNode
  readonly mirror: Mirror
  readonly driver: CsiDriver
}

/** A pod lives here through everything, with content of its own. */
async function makeScene(directory: string): Promise<Scene> {
  const mirror = await startMirror(`${directory}/kubelet`, `${directory}/behind`)
  const node = new LiveNode(directory)
  node.csiDrivers.push({
    metadata: { name: DRIVER, uid: 'driver-uid' },
    spec: { attachRequired: true, volumeLifecycleModes: ['Persistent'], fsGroupPolicy: 'None' },
  })
  node.configMaps.push({ metadata: { name: 'cm', namespace: 'default', uid: 'cm' }, data: { a: '1' } })
  node.addSecret('s', { password: 'open sesame' })
  node.context = { parallel: 1 }
  const stateDir = `${directory}/state`
  const driver = await startCsiDriver({ name: DRIVER, rootDir: node.root, stateDir, backend: 'tmpfs' })
  for (const volume of ['pv-1', 'pv-2', 'pv-3', 'pv-4']) addVolume(node, volume)
  node.pod(OTHER, 'b', [
    { name: 'scratch', emptyDir: {} },
    { name: 'conf', configMap: { name: 'cm' } },
    { name: 'pass', secret: { secretName: 's' } },
    claim('pv-2'),
  ])
  await node.apply()
  for (const file of ownFiles(node, OTHER, 'pv-2')) writeFileSync(file, 'precious')
  node.running(OTHER)
  return { node, mirror, driver }
}

/** What a pod has written, into an emptyDir and into a CSI volume. */
function ownFiles({ root }: LiveNode, pod: string, volume: string): readonly string[] {
  const volumes = `${root}/pods/${pod}/volumes`
  return [`${volumes}/kubernetes.io~empty-dir/scratch/file`, `${volumes}/kubernetes.io~csi/${volume}/mount/file`]
}

const read = (path: string): string => readFileSync(path, 'utf8')

function wantPod(node: LiveNode): void {
  node.pod(POD, 'a', [
    { name: 'scratch', emptyDir: {} },
    { name: 'conf', configMap: { name: 'cm' } },
    { name: 'conf2', configMap: { name: 'cm' } },
    { name: 'pass', secret: { secretName: 's' } },
    claim('pv-1'),
    { ...claim('pv-4'), name: 'more' },
  ])
  // As a kubelet makes them for every pod.
  for (const name of ['volumes', 'plugins']) mkdirSync(`${node.root}/pods/${POD}/${name}`, { recursive: true })
  for (const volume of ['pv-1', 'pv-4']) attach(node, volume)
}

function attach(node: LiveNode, volume: string): void {
  if (node.attachments.some(({ spec }) => spec.source.persistentVolumeName === volume)) return
  node.attach(volume, handleOf(volume))
}

/** What was said while the disk failed. */
type Events = readonly ApplyEvent[]

async function applyFailing({ node, mirror }: Scene, faults: readonly MirrorFault[]): Promise<Events> {
  const events: ApplyEvent[] = []
  mirror.fail(...faults)
  await node.apply({ orphans: true }, (event) => events.push(event))
  mirror.fail()
  return events
}

const OUTCOMES: ReadonlySet<string> = new Set([...codesIn('outcome'), ...codesIn('blocked')])

/** One clear line, a code of the catalogue, and what to do next. */
function unclear(events: Events): string[] {
  return events
    .filter(({ type, code, message, hint }) => {
      if (type !== 'failed' && type !== 'refused') return false
      return code === undefined || !OUTCOMES.has(code) || hint === undefined || /\n|Unknown system/.test(message)
    })
    .map(({ code, message, hint }) => `unclear: ${code} ${message} (${hint})`)
}

/** What a volume that could not be set up has left, and nobody names: neither it nor what is beside it. */
function unnamed({ node, mirror }: Scene, before: ReadonlySet<string>, events: Events): string[] {
  const done = new Set(events.flatMap(({ type, volume }) => (type === 'done' ? [volume] : [])))
  const told = events.flatMap(({ message }) => (message.includes('left as it is') ? [message] : []))
  const all = [...new Set([...listing(mirror.behind), ...mountsBelow(node)])]
  const left = all.filter((path) => !before.has(path) && !all.some((other) => other.startsWith(`${path}/`)))
  return left
    .filter((path) => {
      const [volume] = Object.entries(VOLUMES).find(([, each]) => new RegExp(each.path).test(path)) ?? []
      return !done.has(volume) && !told.some((text) => text.includes(`${node.root}/${posix.dirname(path)}`))
    })
    .map((path) => `left without a word: ${path}`)
}

function listing(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
}

/** Relative to the root. */
function mountsBelow(node: LiveNode): string[] {
  const { root } = node
  return node
    .mounts()
    .under(root)
    .flatMap(({ mountPoint }) => (mountPoint === root ? [] : mountPoint.slice(root.length + 1)))
}

/** What a set-up pod shows. */
function content(node: LiveNode): string {
  const volumes = `${node.root}/pods/${POD}/volumes`
  return [
    read(`${volumes}/kubernetes.io~configmap/conf/a`),
    read(`${volumes}/kubernetes.io~secret/pass/password`),
    (lstatSync(`${volumes}/kubernetes.io~empty-dir/scratch`).mode & 0o7777).toString(8),
    read(`${volumes}/kubernetes.io~csi/pv-1/mount/file`),
  ].join()
}

const CONTENT = '1,open sesame,777,precious'

/**
 * A pod comes and goes. Both times these faults strike first, and nothing the second time.
 *
 * @returns what is not as it should be, and what failed
 */
async function comeAndGo(
  scene: Scene,
  faults: readonly MirrorFault[],
): Promise<{ problems: string[]; struck: string[] }> {
  const { node, mirror } = scene
  const problems: string[] = []
  const again = async (when: string): Promise<void> => {
    const { outcomes, left = [] } = await node.apply({ orphans: true })
    const undone = outcomes.filter(({ state }) => state !== 'done').map(({ code, message }) => `${code} ${message}`)
    problems.push(...[...undone, ...left.map(({ kind }) => kind)].map((what) => `${when} again: ${what}`))
  }
  wantPod(node)
  const before = new Set([...listing(mirror.behind), ...mountsBelow(node)])
  const coming = await applyFailing(scene, faults)
  problems.push(...unclear(coming), ...unnamed(scene, before, coming))
  await again('up')
  if (content(node) !== CONTENT) problems.push(`shown: ${content(node)}`)
  writeFileSync(ownFiles(node, POD, 'pv-1')[0] ?? '', 'scratch')
  node.forget(POD)
  const struck = mirror.failed()
  problems.push(...unclear(await applyFailing(scene, faults)))
  const struckGoing = mirror.failed()
  if (struckGoing.length > 0) await again('down')
  problems.push(...listing(mirror.behind).filter((path) => path.includes(POD)))
  problems.push(...ownFiles(node, OTHER, 'pv-2').filter((file) => read(file) !== 'precious'))
  return { problems, struck: [...struck, ...struckGoing] }
}

/** What the pod will find in its volume, whenever it comes back. */
async function firstVisit(node: LiveNode): Promise<void> {
  wantPod(node)
  await node.apply()
  writeFileSync(ownFiles(node, POD, 'pv-1')[1] ?? '', 'precious')
  node.forget(POD)
  await node.apply({ orphans: true })
}

/** A pod that is gone and has left everything; and a volume that is merely attached. */
async function leaveBehind({ node }: Scene): Promise<void> {
  wantPod(node)
  await node.apply()
  writeFileSync(ownFiles(node, POD, 'pv-1')[0] ?? '', 'scratch')
  node.forget(POD)
  attach(node, 'pv-3')
}

/** One of each: of the pod that is gone, of the one that lives, of what is staged. */
const BLIND_APPLIES: readonly string[] = [
  `pods/${POD}`,
  `pods/${POD}/plugins`,
  `pods/${POD}/volumes/kubernetes.io~csi/pv-1/vol_data.json`,
  `pods/${OTHER}/volumes`,
  `plugins/kubernetes.io/csi/${DRIVER}`,
]

function unreadable(path: string): MirrorFault {
  return { errno: 'EIO', path: `^${RegExp.escape(path)}$` }
}

/**
 * A plan without the sight of one path does no more than the one with it, and nothing to what lives.
 *
 * @returns what it does
 */
async function planBlind({ node, mirror }: Scene, path: string, healthy: Plan['operations']): Promise<string[]> {
  mirror.fail(unreadable(path))
  try {
    const { operations } = await node.plan({ orphans: true })
    return operations
      .filter((each) => each.blocked === undefined && !isPartOf(each, healthy))
      .map(({ message }) => message)
  } catch (error) {
    // Without these there is no plan.
    const told = error instanceof VolctlError && error.code === 'NodeUnreadable' && error.hint?.includes('dmesg')
    return told && ['', 'pods'].includes(path) ? [] : [String(error)]
  } finally {
    mirror.fail()
  }
}

/** Of the same volume of the same pod, with no other steps. */
function isPartOf({ kind, pod, volume, steps }: Plan['operations'][number], healthy: Plan['operations']): boolean {
  // Of a volume whose record cannot be read only this is left.
  const kinds = kind === 'CleanOrphanVolume' ? [kind, 'UnmountVolume'] : [kind]
  const same = healthy.find(
    (each) => kinds.includes(each.kind) && each.pod?.uid === pod?.uid && each.volume?.name === volume?.name,
  )
  const has = new Set(same?.steps.map(({ op, target }) => `${op} ${target}`))
  return pod?.uid !== OTHER && steps.every(({ op, target }) => has.has(`${op} ${target}`))
}

/** By hand each kind of failure strikes every change; else they take turns. */
const turns =
  process.env.VOLCTL_FAULTS === 'all' ? Object.keys(KINDS).map((kind) => [kind]) : [['EROFS', 'ENOSPC', 'EIO']]

/** Every way in which a change reaches a disk. */
const CHANGES = ['CREATE', 'FSYNC', 'FSYNCDIR', 'MKDIR', 'RENAME', 'RMDIR', 'SETATTR', 'SYMLINK', 'UNLINK', 'WRITE']

describeUnless(noFuse, 'a disk that fails what it is told to', () => {
  it.for(turns)('fails one change after another of a pod that comes and goes: %j', async (kinds, { directory }) => {
    const scene = await makeScene(directory)
    const { node, driver } = scene
    await firstVisit(node)
    const struck = new Set<string>()
    const problems: string[] = []
    let rounds = 0
    // Volumes take turns with the kinds, and each n has another.
    for (;;) {
      const faults = Object.values(VOLUMES).map(({ path, from }, index) => {
        const change = rounds + from
        const kind = kinds[(change + index) % kinds.length] ?? ''
        return { errno: 'EIO' as const, ...KINDS[kind]?.(change), path }
      })
      const round = await comeAndGo(scene, faults)
      problems.push(...round.problems.map((problem) => `round ${rounds}: ${problem}`))
      if (round.struck.length === 0) break
      for (const line of round.struck) struck.add(line.slice(0, line.indexOf(' ')))
      rounds++
    }
    await driver.dispose()
    expect([...problems, ...driver.violations()]).toEqual([])
    expect(rounds).toBeGreaterThan(7)
    if (kinds.length > 1) expect([...struck].sort()).toEqual(CHANGES)
  })

  it('shows nothing of one directory or file: nobody takes it for absent, and what lives is left alone (S3)', async ({
    directory,
  }) => {
    const scene = await makeScene(directory)
    const { node, mirror, driver } = scene
    await firstVisit(node)
    const problems: string[] = []
    await leaveBehind(scene)
    const healthy = (await node.plan({ orphans: true })).operations
    const paths = ['', ...listing(mirror.behind)]
    expect(paths.length).toBeGreaterThan(50)
    for (const path of paths)
      problems.push(...(await planBlind(scene, path, healthy)).map((what) => `${path}: ${what}`))
    for (const path of BLIND_APPLIES) {
      problems.push(...unclear(await applyFailing(scene, [unreadable(path)])).map((what) => `${path}: ${what}`))
      const { outcomes, left = [] } = await node.apply({ orphans: true })
      const undone = [...outcomes.filter(({ state }) => state !== 'done'), ...left]
      problems.push(...undone.map(({ kind }) => `${path}: ${kind} is left`))
      problems.push(...ownFiles(node, OTHER, 'pv-2').filter((file) => read(file) !== 'precious'))
      await leaveBehind(scene)
      if (content(node) !== CONTENT) problems.push(`${path}: shown: ${content(node)}`)
    }
    await driver.dispose()
    expect([...problems, ...driver.violations()]).toEqual([])
  })
})
