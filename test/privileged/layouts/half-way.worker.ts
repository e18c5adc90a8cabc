/** Set-up that fails half-way, on real mounts, below a root directory of the layout that the test asks for. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import type { Host } from '../../../src/core/host/host.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import type { PodVolumeSource } from '../../../src/core/model/objects.ts'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const CLAIM: PodVolumeSource = { name: 'data', persistentVolumeClaim: { claimName: 'claim-pv' } }
const SECRET: PodVolumeSource = { name: 'pass', secret: { secretName: 's' } }
const MEMORY: PodVolumeSource = { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }

/** What breaks, once something is mounted. */
const BROKEN = {
  writing: () => ({ writeAtomically: () => Promise.reject(diskFull()) }),
  marker: () => ({
    createFile: (path: string, mode: number) => {
      if (path.endsWith('/ready')) throw diskFull()
      linuxHost.createFile(path, mode)
    },
  }),
  ownership: () => ({ changeOwnership: () => Promise.reject(diskFull()) }),
  remount: () => withProgram((program, args) => program === 'mount' && args.some((each) => each.includes('remount'))),
  loop: () => withProgram((program) => program === 'losetup'),
} satisfies Record<string, () => Partial<Host>>

type Breaking = keyof typeof BROKEN

function diskFull(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
}

/** Of a program's calls, those that are asked for fail. */
function withProgram(fails: (program: string, args: readonly string[]) => boolean): Partial<Host> {
  return {
    run: async (program, args, deadlineMs, input) =>
      fails(program, args)
        ? { status: 1, stdout: '', stderr: `${program}: failed`, timedOut: false }
        : linuxHost.run(program, args, deadlineMs, input),
  }
}

interface Kind {
  readonly volume: PodVolumeSource
  readonly breaking: Breaking
  readonly target: string
  readonly local?: 'directory' | 'device' | 'block'
}

const KINDS: Readonly<Record<string, Kind>> = {
  secret: { volume: SECRET, breaking: 'writing', target: `pods/${POD}/volumes/kubernetes.io~secret/pass` },
  memory: { volume: MEMORY, breaking: 'marker', target: `pods/${POD}/volumes/kubernetes.io~empty-dir/memory` },
  bind: {
    volume: CLAIM,
    breaking: 'remount',
    local: 'directory',
    target: `pods/${POD}/volumes/kubernetes.io~local-volume/pv`,
  },
  device: {
    volume: CLAIM,
    breaking: 'ownership',
    local: 'device',
    target: `pods/${POD}/volumes/kubernetes.io~local-volume/pv`,
  },
  block: {
    volume: CLAIM,
    breaking: 'loop',
    local: 'block',
    target: `plugins/kubernetes.io~local-volume/volumeDevices/pv/${POD}`,
  },
}

async function withNode<T>(
  directory: string,
  { volume, local }: Kind,
  work: (node: LiveNode) => Promise<T>,
): Promise<T> {
  const node = new LiveNode(directory)
  node.addSecret('s', { key: 'value' })
  const device = local === 'device' || local === 'block' ? disk(directory, local) : undefined
  const source = device ?? `${directory}/source`
  if (local === 'directory') mkdirSync(source)
  const volumeMode = local === 'block' ? 'Block' : 'Filesystem'
  const mountOptions = local === 'directory' ? { mountOptions: ['noexec'] } : {}
  if (local !== undefined) node.persistentVolume('pv', { local: { path: source }, volumeMode, ...mountOptions })
  node.pod(POD, 'a', [volume], { devices: local === 'block', securityContext: { fsGroup: 2000 } })
  try {
    return await work(node)
  } finally {
    if (device !== undefined) detachLoop(device)
  }
}

function disk(directory: string, use: 'device' | 'block'): string {
  const file = `${directory}/disk.img`
  sh('truncate', '-s', '16M', file)
  if (use === 'device') sh('mkfs.ext4', '-qF', file)
  return sh('losetup', '-f', '--show', file)
}

const lines = (): number => readFileSync('/proc/self/mountinfo', 'utf8').split('\n').length
const foreigners = (): number => readFileSync('/proc/self/mountinfo', 'utf8').split(' - tmpfs foreign ').length - 1

function ends({ outcomes }: ApplyResult): string[] {
  return outcomes.map(({ kind, state, code }) => [kind, state, code].filter(Boolean).join(' '))
}
const messages = ({ outcomes }: ApplyResult): string => outcomes.map(({ message }) => message).join('\n')

const scenarios = Object.fromEntries(
  Object.entries(KINDS).flatMap(([name, kind]) => {
    const target = (node: LiveNode): string => `${node.root}/${kind.target}`
    const failing = (node: LiveNode, first: () => void = () => undefined): void => {
      const broken = BROKEN[kind.breaking]() as Readonly<Record<string, (...args: unknown[]) => unknown>>
      let begun = false
      // What breaks does so when the volume is mounted.
      const hooked = Object.entries(broken).map(([method, call]) => [
        method,
        (...args: unknown[]) => {
          if (!begun && node.mounts().top(target(node)) !== undefined) {
            begun = true
            first()
          }
          return call(...args)
        },
      ])
      node.context = { host: { ...linuxHost, ...Object.fromEntries(hooked) } }
    }

    /** Nothing of it is left, and the next apply brings it up, and down. */
    const undone = (directory: string): Promise<unknown> =>
      withNode(directory, kind, async (node) => {
        const before = lines()
        let mounted = 0
        failing(node, () => {
          mounted = lines() - before
        })
        const failed = await node.apply()
        const left = lines() - before
        node.context = {}
        const up = ends(await node.apply())
        const after = (await node.plan()).operations.length
        node.forget(POD)
        const down = ends(await node.apply({ orphans: true })).filter((each) => !each.endsWith(' done'))
        return {
          failed: ends(failed).map((each) => each.split(' ').slice(0, 2).join(' ')),
          saysLeft: messages(failed).includes('left as it is'),
          mounted,
          left,
          up,
          after,
          down,
          leftAtLast: lines() - before,
          exists: existsSync(target(node)),
        }
      })

    /** Somebody has mounted over it meanwhile. */
    const over = (directory: string): Promise<unknown> =>
      withNode(directory, kind, async (node) => {
        const isFile = kind.local === 'block'
        const other = `${directory}/other`
        mkdirSync(other)
        sh('mount', '-t', 'tmpfs', 'foreign', other)
        writeFileSync(`${other}/file`, 'kept')
        const own = foreigners()
        let put = 0
        failing(node, () => {
          sh('mount', '--bind', isFile ? `${other}/file` : other, target(node))
          put = foreigners() - own
        })
        const failed = await node.apply()
        const kept = foreigners() - own
        const content = readFileSync(isFile ? target(node) : `${target(node)}/file`, 'utf8')
        return {
          says: /left as it is: the mount on \S+ \(tmpfs mount \d+ of foreign on \S+ hides it\)/.test(messages(failed)),
          put: put > 0,
          kept: kept - put,
          content,
        }
      })

    /** Somebody mounts there just before volctl does. */
    const under = (directory: string): Promise<unknown> =>
      withNode(directory, kind, async (node) => {
        let put = 0
        const own = foreigners()
        const run: Host['run'] = async (program, args, deadlineMs, input) => {
          if (program === 'mount' && args.at(-1) === target(node) && put === 0) {
            sh('mount', '-t', 'tmpfs', 'foreign', target(node))
            put = foreigners() - own
          }
          return linuxHost.run(program, args, deadlineMs, input)
        }
        node.context = { host: { ...linuxHost, run } }
        const failed = await node.apply()
        return { ends: ends(failed), put: put > 0, kept: foreigners() - own - put }
      })

    return [
      [name, undone],
      [`${name}Over`, over],
      [`${name}Under`, under],
    ]
  }),
)

await runScenario({
  ...scenarios,

  /**
   * A copy of what was made has a mount of its own on it, and stays when the others go: the tree is bound elsewhere, too,
   * and the copy there hears of nothing any more.
   */
  copyStays: (directory) =>
    withNode(directory, KINDS.secret as Kind, async (node) => {
      const { target } = KINDS.secret as Kind
      const elsewhere = `${directory}-elsewhere`
      mkdirSync(elsewhere)
      sh('mount', '--bind', directory, elsewhere)
      const copy = `${elsewhere}/kubelet/${target}`
      node.context = {
        host: {
          ...linuxHost,
          writeAtomically: () => {
            sh('mount', '--make-private', copy)
            mkdirSync(`${copy}/sub`)
            sh('mount', '-t', 'tmpfs', 'foreign', `${copy}/sub`)
            return Promise.reject(diskFull())
          },
        },
      }
      const failed = await node.apply()
      const stays = node.mounts().at(copy).length
      const seen = node.mounts().top(`${node.root}/${target}`) !== undefined
      sh('umount', '-R', copy)
      sh('umount', elsewhere)
      rmdirSync(elsewhere)
      return { says: messages(failed), stays, seen }
    }),

  /** The root directory is bound over itself when a pod has its volumes already, which nothing leads to then. */
  boundLate: (directory) =>
    withNode(directory, KINDS.bind as Kind, async (node) => {
      const up = ends(await node.apply())
      const before = node.mounts().under(`${node.root}/pods/${POD}`).length
      sh('mount', '--bind', node.root, node.root)
      const plan = await node.plan()
      node.pod(OTHER, 'b', [SECRET, MEMORY])
      const blocked = plan.operations.map(({ kind, blocked }) => [kind, blocked?.code])
      const applied = ends(await node.apply())
      const there = [`secret/pass`, 'empty-dir/memory'].map(
        (volume) => node.mounts().top(`${node.root}/pods/${OTHER}/volumes/kubernetes.io~${volume}`)?.fsType,
      )
      node.forget(OTHER)
      const down = ends(await node.apply({ orphans: true }))
      const kept = node.mounts().under(`${node.root}/pods/${POD}`).length
      sh('umount', node.root)
      return { up, blocked, applied, there, down, kept: kept - before, after: (await node.plan()).operations.length }
    }),

  /** What the pod and the node have of a volume, when its content changes and its PersistentVolume grows. */
  remount: (directory) =>
    withNode(directory, KINDS.secret as Kind, async (node) => {
      const up = ends(await node.apply())
      const before = lines()
      node.addSecret('s', { key: 'another' })
      const asked = (await node.plan()).operations.map(({ kind, blocked }) => [kind, blocked?.code])
      const applied = ends(await node.apply({ remount: true }))
      const text = readFileSync(`${node.root}/${(KINDS.secret as Kind).target}/key`, 'utf8')
      return { up, asked, applied, text, after: (await node.plan()).operations.length, lines: lines() - before }
    }),
})
