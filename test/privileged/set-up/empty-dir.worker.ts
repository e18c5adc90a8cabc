/** emptyDir, set up with real directories and mounts. */
import { spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import type { Host } from '../../../src/core/host/host.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import type { Pod, PodVolumeSource } from '../../../src/core/model/objects.ts'
import type { MountInfo } from '../../../src/core/mountinfo/mount-table.ts'
import { knowsNoswap } from '../../../src/core/plugins/tmpfs-options.ts'
import { isInUserNamespace } from '../../../src/core/processes/standing.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { runScenario, sh, unmountBelow } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'

type EmptyDir = NonNullable<PodVolumeSource['emptyDir']>

const kernelVersion = release()

function nodeWith(directory: string, emptyDir: EmptyDir, spec: Partial<Pod['spec']> = {}) {
  const node = new LiveNode(directory)
  node.override = { kernelVersion }
  node.pod(POD, 'a', [{ name: 'scratch', emptyDir }], spec)
  return { node, dir: `${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/scratch` }
}

const states = (result: Parameters<typeof statesOf>[0]): string[] => Object.values(statesOf(result))

/** The newest mount on a path, by what a test decides on. */
function mountOn(node: LiveNode, path: string): string | undefined {
  const mount: MountInfo | undefined = node.mounts().top(path)
  if (mount === undefined) return undefined
  const options = [...mount.options, ...mount.superOptions].filter((each) => /^(size|noswap|pagesize)/.test(each))
  return [mount.fsType, ...new Set(options)].join(' ')
}

/** From nothing to there, and from there to nothing. */
async function wholeLife(node: LiveNode, dir: string) {
  const made = states(await node.apply())
  const mount = mountOn(node, dir)
  const { gid, mode } = lstatSync(dir)
  const after = (await node.plan()).operations
  node.forget(POD)
  const kept = states(await node.apply())
  const gone = states(await node.apply({ orphans: true }))
  return {
    made,
    mount,
    root: `${gid} ${(mode & 0o7777).toString(8)}`,
    after,
    kept,
    gone,
    left: [...(await node.plan({ orphans: true })).operations, ...node.mounted()],
    exists: existsSync(`${node.root}/pods/${POD}`),
  }
}

/** Kills this very process before its n-th change. */
function mortal(changes: number): Host {
  let left = changes
  const counted = <A extends readonly unknown[], T>(work: (...args: A) => T) => {
    return (...args: A): T => {
      if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
      return work(...args)
    }
  }
  return {
    ...linuxHost,
    run: counted(linuxHost.run),
    mkdir: counted(linuxHost.mkdir),
    chmod: counted(linuxHost.chmod),
    createFile: counted(linuxHost.createFile),
    unlink: counted(linuxHost.unlink),
    changeOwnership: counted(linuxHost.changeOwnership),
  }
}

const MEMORY_LIMIT = { containers: [{ name: 'c', resources: { limits: { memory: '32Mi' } }, ...mounting() }] }
const GROUP = { securityContext: { fsGroup: 2000 } }

function mounting() {
  return { volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }] }
}

/** A pod that requests huge pages of this size. */
function requesting(size: string): Partial<Pod['spec']> {
  return { containers: [{ name: 'c', resources: { requests: { [`hugepages-${size}`]: '4Mi' } }, ...mounting() }] }
}

function mortalSpec(medium: string): Partial<Pod['spec']> {
  return { ...GROUP, ...(medium.startsWith('HugePages') ? requesting('2Mi') : {}) }
}

await runScenario({
  async disk(directory) {
    const { node, dir } = nodeWith(directory, {})
    const result = await node.apply()
    const mode = (lstatSync(dir).mode & 0o7777).toString(8)
    const after = await node.plan()
    writeFileSync(`${dir}/file`, 'data')
    node.forget(POD)
    const gone = await node.apply({ orphans: true })
    return {
      states: states(result),
      mode,
      after: after.operations,
      gone: states(gone),
      left: (await node.plan({ orphans: true })).operations,
    }
  },

  async fileInTheWay(directory) {
    const { node } = nodeWith(directory, {})
    const parent = `${node.root}/pods/${POD}/volumes`
    mkdirSync(parent, { recursive: true })
    writeFileSync(`${parent}/kubernetes.io~empty-dir`, 'not a directory')
    return states(await node.apply())
  },

  /** The node's allocatable memory is 64Mi. */
  async memory(directory, [sizeLimit = '']) {
    const { node, dir } = nodeWith(directory, { medium: 'Memory', ...(sizeLimit === '' ? {} : { sizeLimit }) })
    return { ...(await wholeLife(node, dir)), noswap: knowsNoswap(kernelVersion) && !isInUserNamespace() }
  },

  async memoryOfPod(directory) {
    const { node, dir } = nodeWith(directory, { medium: 'Memory', sizeLimit: '48Mi' }, MEMORY_LIMIT)
    await node.apply()
    return mountOn(node, dir)
  },

  async hugePages(directory) {
    const { node, dir } = nodeWith(directory, { medium: 'HugePages-2Mi' }, requesting('2Mi'))
    return wholeLife(node, dir)
  },

  /** What is mounted has pages of another size than the pod asks for. */
  async otherHugePages(directory) {
    const { node, dir } = nodeWith(directory, { medium: 'HugePages-1Gi' }, requesting('1Gi'))
    mkdirSync(dir, { recursive: true })
    sh('mount', '-t', 'hugetlbfs', '-o', 'pagesize=2Mi', 'nodev', dir)
    return { states: states(await node.apply()), layers: node.mounts().reached(dir).length }
  },

  async foreign(directory) {
    const { node, dir } = nodeWith(directory, { medium: 'Memory' })
    const other = `${directory}/other`
    mkdirSync(dir, { recursive: true })
    mkdirSync(other)
    writeFileSync(`${other}/file`, 'precious')
    sh('mount', '--bind', other, dir)
    const isTmpfs = mountOn(node, dir)?.startsWith('tmpfs') === true
    return { isTmpfs, states: states(await node.apply()), layers: node.mounts().reached(dir).length }
  },

  async dataUnderneath(directory) {
    const { node, dir } = nodeWith(directory, { medium: 'Memory' })
    mkdirSync(dir, { recursive: true })
    writeFileSync(`${dir}/file`, 'precious')
    return { states: states(await node.apply()), data: readFileSync(`${dir}/file`, 'utf8') }
  },

  /** The volume was made before and has content: files, a planted link, a mount of something else inside. */
  async group(directory) {
    const { node, dir } = nodeWith(directory, {}, GROUP)
    const outside = `${directory}/outside`
    mkdirSync(outside, { mode: 0o700 })
    writeFileSync(`${outside}/file`, 'precious', { mode: 0o600 })
    mkdirSync(`${dir}/bound`, { recursive: true })
    writeFileSync(`${dir}/file`, 'x', { mode: 0o600 })
    symlinkSync(`${outside}/file`, `${dir}/link`)
    sh('mount', '--bind', outside, `${dir}/bound`)
    const said: string[] = []
    const result = await node.apply({}, ({ type, message }) => {
      if (type === 'step' && message.includes('not given to group')) said.push(message.replace(dir, ''))
    })
    const look = (path: string): string => {
      const { gid, mode } = lstatSync(path)
      return `${gid} ${(mode & 0o7777).toString(8)}`
    }
    return {
      states: states(result),
      inside: [look(dir), look(`${dir}/file`)],
      link: lstatSync(`${dir}/link`).gid,
      outside: [look(outside), look(`${outside}/file`)],
      said,
      after: (await node.plan()).operations,
    }
  },

  /** A signal in the middle of the walk; the marker is not there before the walk has come to its end. */
  async interrupted(directory) {
    const { node, dir } = nodeWith(directory, {}, GROUP)
    const marker = `${node.root}/pods/${POD}/plugins/kubernetes.io~empty-dir/scratch/ready`
    mkdirSync(dir, { recursive: true })
    for (let index = 0; index < 40; index++) writeFileSync(`${dir}/f${index}`, 'x')
    const given = (): number => readdirSync(dir).filter((name) => lstatSync(`${dir}/${name}`).gid === 2000).length
    const controller = new AbortController()
    const host: Host = {
      ...linuxHost,
      changeOwnership: (path, options) =>
        linuxHost.changeOwnership(path, {
          ...options,
          onEntry: (entries) => (entries === 10 ? controller.abort() : undefined),
        }),
    }
    node.context = { host, signal: controller.signal }
    const first = { states: states(await node.apply()), given: given(), marker: existsSync(marker) }
    node.context = {}
    const second = { states: states(await node.apply()), given: given(), marker: existsSync(marker) }
    return { first, second, after: (await node.plan()).operations }
  },

  /** Kills after 0, 1, 2 … changes, until one comes to its end; each time the next apply must reach the same end. */
  async killed(directory, [medium = '']) {
    const ends = new Set<string>()
    for (let changes = 0; changes < 30; changes++) {
      const place = `${directory}/${changes}`
      mkdirSync(place)
      const victim = spawn(...thisProgram('victim', place, medium, String(changes)), { stdio: 'ignore' })
      const signal = await new Promise((resolve) => victim.on('close', (_, name) => resolve(name)))
      const { node, dir } = nodeWith(place, { medium }, mortalSpec(medium))
      const again = states(await node.apply())
      const { gid, mode } = lstatSync(dir)
      const { operations } = await node.plan()
      const layers = node.mounts().reached(dir).length
      unmountBelow(place)
      ends.add(JSON.stringify({ root: `${gid} ${(mode & 0o7777).toString(8)}`, layers, operations }))
      if (again.some((state) => state !== 'done')) return { changes, again, kills: changes, ends: [] }
      if (signal === null) return { kills: changes, ends: [...ends].map((end) => JSON.parse(end)) }
    }
    return 'never came to its end'
  },

  async victim(_, [place = '', medium = '', changes = '']) {
    const { node } = nodeWith(place, { medium }, mortalSpec(medium))
    node.context = { host: mortal(Number(changes)) }
    await node.apply()
  },
})
