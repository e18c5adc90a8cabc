/** local volumes, set up with real directories, devices and mounts. */
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, readlinkSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import type { PersistentVolume } from '../../../src/core/model/objects.ts'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { remountTmpfs } from '../../helpers/remount.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const CLAIM = [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv' } }]

/** A node with a pod that wants a local PersistentVolume. */
function nodeWith(directory: string, path: string, spec: Partial<PersistentVolume['spec']> = {}): LiveNode {
  const node = new LiveNode(directory)
  node.persistentVolume('pv', { local: { path }, ...spec })
  node.pod(POD, 'a', CLAIM, { devices: spec.volumeMode === 'Block' })
  return node
}

const podDir = ({ root }: LiveNode, uid = POD) => `${root}/pods/${uid}/volumes/kubernetes.io~local-volume/pv`
const globalDir = ({ root }: LiveNode) => `${root}/plugins/kubernetes.io/local-volume/mounts/pv`
const mapDir = ({ root }: LiveNode) => `${root}/plugins/kubernetes.io~local-volume/volumeDevices/pv`
const linkOf = ({ root }: LiveNode, uid = POD) => `${root}/pods/${uid}/volumeDevices/kubernetes.io~local-volume/pv`
const exists = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined

function states({ outcomes }: ApplyResult): string[] {
  return outcomes.map(({ kind, state, code }) => `${kind} ${state}${code === undefined ? '' : ` ${code}`}`)
}

/** Mounts below the root directory, and loop devices on its files. */
function traces({ root }: LiveNode): number {
  return (
    sh('findmnt', '-rno', 'TARGET')
      .split('\n')
      .filter((line) => line.startsWith(`${root}/`)).length +
    linuxHost.loops().filter(({ backingFile }) => backingFile.startsWith(root)).length
  )
}

/** A sparse image on a loop device, for as long as the work takes. */
async function withDisk<T>(
  directory: string,
  type: string | undefined,
  work: (device: string) => Promise<T>,
  options: readonly string[] = [],
): Promise<T> {
  const file = `${directory}/disk-${type ?? 'empty'}.img`
  sh('truncate', '-s', '300M', file)
  if (type !== undefined) sh(`mkfs.${type}`, type === 'xfs' ? '-q' : '-qF', file)
  const device = sh('losetup', ...options, '-f', '--show', file)
  try {
    return await work(device)
  } finally {
    detachLoop(device)
  }
}

/** Set up, planned again, used, forgotten, planned a third time. */
async function bothWays(node: LiveNode, during: () => unknown = () => undefined) {
  const up = states(await node.apply())
  const seen = during()
  const after = (await node.plan()).operations
  for (const { metadata } of [...node.pods]) if (metadata.name !== 'witness') node.forget(metadata.uid)
  const down = states(await node.apply({ orphans: true }))
  return { up, seen, after, down, left: traces(node), planned: (await node.plan({ orphans: true })).operations }
}

async function deviceVolume(directory: string, type: string) {
  return withDisk(directory, type, (device) => {
    const node = nodeWith(directory, device, { local: { path: device, fsType: type }, mountOptions: ['noatime'] })
    node.pod(OTHER, 'b', CLAIM)
    return bothWays(node, () => {
      writeFileSync(`${podDir(node)}/file`, 'data')
      const table = node.mounts()
      return {
        type: table.reached(globalDir(node)).map(({ fsType, options }) => [fsType, options.includes('noatime')]),
        shared: readFileSync(`${podDir(node, OTHER)}/file`, 'utf8'),
        mode: (lstatSync(`${globalDir(node)}/..`).mode & 0o777).toString(8),
      }
    })
  })
}

/** The volume is set up, grows from 300Mi to 400Mi, and is expanded; and is torn down again. */
async function growing(node: LiveNode, { before, sizeOf }: { before: () => void; sizeOf: string }) {
  const mebibytes = () => {
    const { bsize, blocks } = statfsSync(sizeOf)
    return Math.round((bsize * blocks) / (1 << 20))
  }
  node.setClaimStatus('claim-pv', { phase: 'Bound', capacity: { storage: '300Mi' } })
  const up = states(await node.apply())
  const size = mebibytes()
  before()
  node.growVolume('pv', { storage: '400Mi' })
  node.setClaimStatus('claim-pv', {
    phase: 'Bound',
    capacity: { storage: '300Mi' },
    allocatedResources: { storage: '400Mi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
  })
  const said: unknown[] = []
  node.onClaimPatch = ({ status }) => void said.push(status.allocatedResourceStatuses)
  const { outcomes } = await node.apply({ expand: true })
  const { capacity, conditions } = node.claims[0]?.status ?? {}
  const file = `${podDir(node)}/file`
  const result = {
    up,
    set: outcomes.map(({ kind, state, code }) => `${kind} ${state}${code === undefined ? '' : ` ${code}`}`),
    words: outcomes[0]?.message,
    grew: mebibytes() - size,
    said,
    claim: [capacity?.storage, ...(conditions ?? []).map(({ type }) => type)],
    data: exists(file) ? readFileSync(file, 'utf8') : '',
    again: (await node.plan({ expand: true })).operations.map(({ kind }) => kind),
  }
  for (const { metadata } of [...node.pods]) if (metadata.name !== 'witness') node.forget(metadata.uid)
  await node.apply({ orphans: true })
  return { ...result, left: traces(node) }
}

/** A way to set up that ends with SIGKILL right before its nth call that changes something; nothing more to kill: it is whole. */
async function killedAt(directory: string, device: string, mode: string, nth: number): Promise<string[]> {
  const node = nodeWith(directory, device, { volumeMode: mode })
  let calls = 0
  const counted = new Set(['run', 'mkdir', 'chmod', 'createFile', 'symlink'])
  const host = new Proxy(linuxHost, {
    get: (target, key, receiver) => {
      if (counted.has(String(key)) && ++calls === nth) process.kill(process.pid, 'SIGKILL')
      return Reflect.get(target, key, receiver)
    },
  })
  node.context = { host }
  return states(await node.apply())
}

/** Killed everywhere, one place after another; each time the next apply makes it whole, and it goes without a trace. */
async function killedEverywhere(directory: string, mode: 'Filesystem' | 'Block', type: string | undefined) {
  return withDisk(directory, type, async (device) => {
    const outcomes: string[] = []
    let kills = 0
    for (let nth = 1; ; nth++) {
      const child = spawnSync(...thisProgram('killedAt', device, mode, `${nth}`))
      if (child.signal === 'SIGKILL') kills++
      else if (child.status !== 0) throw new Error(`${child.stderr}`)
      const node = nodeWith(directory, device, { volumeMode: mode })
      const { up, after, down, left, planned } = await bothWays(node)
      outcomes.push(
        `${up.join()} ${after.length} ${down.filter((each) => !each.endsWith(' done')).length} ${left} ${planned.length}`,
      )
      if (child.signal !== 'SIGKILL') return { places: kills > 4, outcomes: [...new Set(outcomes)] }
    }
  })
}

await runScenario({
  killedAt: (directory, [device = '', mode = '', nth]) => killedAt(directory, device, mode, Number(nth)),
  killedDevice: (directory) => killedEverywhere(directory, 'Filesystem', 'ext4'),
  killedBlock: (directory) => killedEverywhere(directory, 'Block', undefined),

  async directory(directory) {
    const source = `${directory}/source`
    mkdirSync(source)
    writeFileSync(`${source}/file`, 'data')
    const node = nodeWith(directory, source)
    const result = await bothWays(node, () => [readFileSync(`${podDir(node)}/file`, 'utf8'), exists(globalDir(node))])
    return { ...result, kept: readFileSync(`${source}/file`, 'utf8') }
  },

  /** Of two pods one only reads; the PersistentVolume has an option of its own. */
  async readOnly(directory) {
    const source = `${directory}/source`
    mkdirSync(source)
    const node = nodeWith(directory, source, { mountOptions: ['noexec'] })
    node.pod(OTHER, 'b', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv', readOnly: true } }])
    return bothWays(node, () => {
      const options = (uid: string) =>
        node
          .mounts()
          .top(podDir(node, uid))
          ?.options.filter((option) => ['ro', 'rw', 'noexec'].includes(option))
      return [options(POD), options(OTHER)]
    })
  },

  /** The first pod's group is given, a second one's is not (P68). */
  async group(directory) {
    const source = `${directory}/source`
    mkdirSync(source)
    writeFileSync(`${source}/file`, 'data')
    const node = new LiveNode(directory)
    node.persistentVolume('pv', { local: { path: source } })
    node.pod(POD, 'a', CLAIM, { securityContext: { fsGroup: 4711 } })
    node.pod(OTHER, 'b', CLAIM, { securityContext: { fsGroup: 4712 } })
    const first = states(await node.apply())
    node.forget(OTHER)
    await node.apply()
    node.pod(OTHER, 'b', CLAIM, { securityContext: { fsGroup: 4712 } })
    const second = states(await node.apply())
    const { gid, mode } = lstatSync(`${source}/file`)
    return { first, second, gid, mode: (mode & 0o777).toString(8), root: lstatSync(source).gid }
  },

  ext4: (directory) => deviceVolume(directory, 'ext4'),
  xfs: (directory) => deviceVolume(directory, 'xfs'),

  /** A link to the device, read-only. */
  readOnlyDevice: (directory) =>
    withDisk(directory, 'ext4', async (device) => {
      sh('ln', '-s', device, `${directory}/by-name`)
      const node = new LiveNode(directory)
      node.persistentVolume('pv', { local: { path: `${directory}/by-name` } })
      node.pod(POD, 'a', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv', readOnly: true } }])
      return bothWays(node, () => node.mounts().top(globalDir(node))?.superOptions.includes('ro'))
    }),

  empty: (directory) =>
    withDisk(directory, undefined, async (device) => {
      const node = nodeWith(directory, device, { local: { path: device, fsType: 'xfs' } })
      const { outcomes } = await node.apply()
      return {
        states: outcomes.map(({ code }) => code),
        hint: outcomes[0]?.hint?.endsWith(`mkfs.xfs ${device}`),
        left: [exists(globalDir(node)), exists(podDir(node)), traces(node)],
      }
    }),

  /** Mounted elsewhere by somebody else, then let go. */
  busy: (directory) =>
    withDisk(directory, 'ext4', async (device) => {
      const node = nodeWith(directory, device)
      const elsewhere = `${directory}/elsewhere`
      mkdirSync(elsewhere)
      sh('mount', device, elsewhere)
      const [held] = (await node.apply()).outcomes
      const left = [exists(globalDir(node)), traces(node)]
      sh('umount', elsewhere)
      return { code: held?.code, names: held?.message.includes(elsewhere), left, freed: states(await node.apply()) }
    }),

  /** Another device is mounted where this one's global mount belongs. */
  foreignGlobal: (directory) =>
    withDisk(directory, 'ext4', async (device) => {
      const node = nodeWith(directory, device)
      mkdirSync(globalDir(node), { recursive: true })
      sh('mount', '-t', 'tmpfs', 'tmpfs', globalDir(node))
      return states(await node.apply())
    }),

  /** The global mount went while a pod still has the volume: it is mounted again, and not checked. */
  lostGlobal: (directory) =>
    withDisk(directory, 'ext4', async (device) => {
      const node = nodeWith(directory, device)
      await node.apply()
      sh('umount', globalDir(node))
      node.pod(OTHER, 'b', CLAIM)
      return { ...(await bothWays(node)), seen: undefined }
    }),

  /** A device that grows by 100 MiB under the pod's hands; @returns also what the claim says, and of what. */
  grow: (directory, [type = '', how = '']) => {
    const work = (device: string) => {
      const mountOptions = how === 'mounted read-only' ? { mountOptions: ['ro'] } : {}
      const local = { path: device, fsType: type }
      const node = nodeWith(directory, device, { local, capacity: { storage: '300Mi' }, ...mountOptions })
      const before = () => {
        if (how === '') writeFileSync(`${podDir(node)}/file`, 'data')
        sh('truncate', '-s', '400M', `${directory}/disk-${type}.img`)
        sh('losetup', '-c', device)
      }
      return growing(node, { before, sizeOf: podDir(node) })
    }
    return withDisk(directory, type, work, how === 'read-only' ? ['-r'] : [])
  },

  growDirectory(directory) {
    const source = `${directory}/source`
    mkdirSync(source)
    const node = nodeWith(directory, source, { capacity: { storage: '300Mi' } })
    return growing(node, { before: () => writeFileSync(`${source}/file`, 'data'), sizeOf: source })
  },

  /** The PersistentVolume was made to name another device than the one that is mounted. */
  growAnother: (directory) =>
    withDisk(directory, 'xfs', (device) =>
      withDisk(directory, 'ext4', async (other) => {
        const local = { path: device, fsType: 'xfs' }
        const node = nodeWith(directory, device, { local, capacity: { storage: '300Mi' } })
        const before = () => {
          writeFileSync(`${podDir(node)}/file`, 'data')
          local.path = other
        }
        return growing(node, { before, sizeOf: podDir(node) })
      }),
    ),

  block: (directory) =>
    withDisk(directory, undefined, async (device) => {
      sh('ln', '-s', device, `${directory}/by-name`)
      const node = nodeWith(directory, `${directory}/by-name`, { volumeMode: 'Block' })
      node.pod(OTHER, 'b', CLAIM, { devices: true })
      return bothWays(node, () => {
        const map = `${mapDir(node)}/${POD}`
        return {
          link: [POD, OTHER].map((uid) => readlinkSync(linkOf(node, uid)) === device),
          map: statSync(map).rdev === statSync(device).rdev,
          mode: (lstatSync(mapDir(node)).mode & 0o777).toString(8),
          loops: linuxHost.loops().filter(({ backingFile }) => backingFile.startsWith(`${mapDir(node)}/`)).length,
        }
      })
    }),

  /** Each part lost by itself, and made again without touching the others. */
  blockRepaired: (directory) =>
    withDisk(directory, undefined, async (device) => {
      const node = nodeWith(directory, device, { volumeMode: 'Block' })
      await node.apply()
      const map = `${mapDir(node)}/${POD}`
      const loop = () => linuxHost.loops().find(({ backingFile }) => backingFile === map)?.device ?? ''
      const repaired: string[][] = []
      for (const damage of [
        () => detachLoop(loop()),
        () => sh('rm', linkOf(node)),
        () => {
          sh('ln', '-sfn', '/dev/null', linkOf(node))
          detachLoop(loop())
        },
      ]) {
        damage()
        repaired.push(
          states(await node.apply()),
          (await node.plan()).operations.map(({ kind }) => kind),
        )
      }
      return { repaired, ...(await bothWays(node, () => readlinkSync(linkOf(node)) === device)) }
    }),

  /** Raw access to what is mounted would destroy it. */
  blockMounted: (directory) =>
    withDisk(directory, 'ext4', async (device) => {
      const node = nodeWith(directory, device, { volumeMode: 'Block' })
      const elsewhere = `${directory}/elsewhere`
      mkdirSync(elsewhere)
      sh('mount', device, elsewhere)
      return { states: states(await node.apply()), left: [exists(`${mapDir(node)}/${POD}`), traces(node)] }
    }),

  async badPaths(directory) {
    writeFileSync(`${directory}/file`, '')
    const found: Record<string, string[]> = {}
    for (const path of ['', 'relative', '/srv/../etc', `${directory}/missing`, `${directory}/file`]) {
      const node = nodeWith(`${directory}/${Object.keys(found).length}`, path)
      const { operations } = await node.plan()
      const outcome = await node.apply()
      found[path.replace(directory, '')] = [
        ...operations.map(({ blocked }) => blocked?.code ?? 'not blocked'),
        ...states(outcome),
        `${traces(node)}`,
      ]
    }
    return found
  },

  /** A root directory on a file system that is full. */
  async fullDisk(directory) {
    mkdirSync(`${directory}/source`)
    mkdirSync(`${directory}/small`)
    sh('mount', '-t', 'tmpfs', '-o', 'nr_inodes=7', 'tmpfs', `${directory}/small`)
    const node = nodeWith(`${directory}/small`, `${directory}/source`)
    node.context = { lockFile: `${directory}/lock`, journalDir: `${directory}/journal` }
    const full = states(await node.apply())
    remountTmpfs(`${directory}/small`, 'nr_inodes=100')
    return { full, left: exists(`${node.root}/pods/${POD}`), freed: states(await node.apply()) }
  },
})
