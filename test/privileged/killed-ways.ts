/**
 * Ways to set volumes up, to renew them and to take them down, each by an apply that is killed before or after its n-th change, or whose
 * n-th change the disk refuses, and by the next.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { CsiNode } from '../../src/core/apply/operation/step.ts'
import { codesIn } from '../../src/core/messages/codes.ts'
import { StepFailed } from '../../src/core/messages/findings.ts'
import type { ApplyEvent } from '../../src/core/plan/events.ts'
import type { OperationKind } from '../../src/core/plan/plan.ts'
import { type Host, linuxHost } from '../../src/core/rules/host.ts'
import { startCsiDriver } from '../helpers/csi-driver/start.ts'
import { detachLoop } from '../helpers/detach-loops.ts'
import { LiveNode, POD } from '../helpers/live-node.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { sh } from '../helpers/scenario.ts'
import { addVolume, claim, DRIVER, nodeWithDriver } from './csi-scene.ts'

const VICTIM = new URL('./workers/victim.ts', import.meta.url)

interface Way {
  /** The same in every process. @param isNewer what the API has of it has changed, or grown */
  readonly node: (directory: string, isNewer: boolean) => LiveNode
  /** What all of them need: returns what ends it. */
  readonly around?: (directory: string) => Promise<() => unknown>
}

const GROUP = { spec: { securityContext: { fsGroup: 2000 } } }

function emptyDir(medium: string): Way {
  return {
    node: (directory) => {
      const node = new LiveNode(directory)
      node.pod(POD, 'a', [{ name: 'scratch', emptyDir: { medium } }], GROUP)
      return node
    },
  }
}

function local(volumeMode: 'Filesystem' | 'Block'): Way {
  return {
    node: (directory) => {
      const node = new LiveNode(directory)
      node.persistentVolume('pv', { source: { local: { path: `${directory}/disk` }, volumeMode } })
      node.pod(POD, 'a', [claim('pv')], { devices: volumeMode === 'Block' })
      return node
    },
    around: async (directory) => {
      const image = `${directory}/disk.img`
      sh('truncate', '-s', '16M', image)
      if (volumeMode === 'Filesystem') sh('mkfs.ext4', '-qF', image)
      const device = sh('losetup', '-f', '--show', image)
      sh('ln', '-s', device, `${directory}/disk`)
      return () => detachLoop(device)
    },
  }
}

function csi(volumeMode: 'Filesystem' | 'Block'): Way {
  return {
    node: (directory, isNewer) => {
      const node = nodeWithDriver(directory)
      const [before, now] = [{ storage: '16Mi' }, { storage: isNewer ? '32Mi' : '16Mi' }]
      addVolume(node, 'pv', { volumeMode, capacity: now })
      const grown = { allocatedResources: now, allocatedResourceStatuses: { storage: 'NodeResizePending' } }
      node.setClaimStatus('claim-pv', { phase: 'Bound', capacity: before, ...(isNewer && grown) })
      node.pod(POD, 'a', [claim('pv')], { devices: volumeMode === 'Block' })
      return node
    },
    around: async (directory) => {
      const stateDir = `${directory}/state`
      const driver = await startCsiDriver({ name: DRIVER, rootDir: new LiveNode(directory).root, stateDir })
      return async () => {
        const violations = driver.violations()
        await driver.dispose()
        if (violations.length > 0) throw new Error(JSON.stringify(violations))
      }
    },
  }
}

export const WAYS = {
  'emptyDir of a group': emptyDir(''),
  'emptyDir in memory': emptyDir('Memory'),
  'configMap and secret': {
    node: (directory, isNewer) => {
      const node = new LiveNode(directory)
      const metadata = { name: 'both', namespace: 'default', uid: 'u' }
      node.configMaps.push({ metadata, data: { a: isNewer ? 'longer' : '1', 'b/c': '2' } })
      node.secrets.push({ metadata, data: { password: 'eA==' } })
      node.pod(POD, 'a', [
        { name: 'conf', configMap: { name: 'both' } },
        { name: 'pass', secret: { secretName: 'both' } },
      ])
      return node
    },
  },
  'local device': local('Filesystem'),
  'raw local device': local('Block'),
  'CSI file system': csi('Filesystem'),
  'CSI raw block': csi('Block'),
} satisfies Readonly<Record<string, Way>>

export type WayName = keyof typeof WAYS
export type Phase = 'up' | 'newer' | 'down'

/** The node in one phase, and the options of its apply. */
function standing(name: WayName, directory: string, phase: Phase) {
  const node = WAYS[name].node(directory, phase === 'newer')
  if (phase === 'down') node.forget(POD)
  const isNewer = phase === 'newer'
  return { node, options: { orphans: phase === 'down', remount: isNewer, expand: isNewer } }
}

/** In the process that is killed. */
export async function applyMortally(name: WayName, directory: string, phase: Phase, changes: number): Promise<void> {
  const { node, options } = standing(name, directory, phase)
  let left = changes
  const change = (): void => {
    if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
  }
  const around = <A extends readonly unknown[], T>(call: (...args: A) => Promise<T>) => {
    return async (...args: A): Promise<T> => {
      change()
      const answer = await call(...args)
      change()
      return answer
    }
  }
  node.context = {
    host: hostThat((key) => {
      if (CHANGING.has(key)) change()
    }),
    csi: async (driver): Promise<CsiNode | undefined> => {
      const found = await node.csiNode(driver)
      return (
        found && {
          ...found,
          nodeStageVolume: around(found.nodeStageVolume),
          nodePublishVolume: around(found.nodePublishVolume),
          nodeExpandVolume: around(found.nodeExpandVolume),
          nodeUnpublishVolume: around(found.nodeUnpublishVolume),
          nodeUnstageVolume: around(found.nodeUnstageVolume),
        }
      )
    },
  }
  node.onClaimPatch = change
  await node.apply(options)
}

/** @param taken told of what is taken of the host, which is called at once */
function hostThat(taken: (key: keyof Host) => void): Host {
  return new Proxy(linuxHost, {
    get: (host, key: keyof Host) => {
      taken(key)
      return host[key]
    },
  })
}

const MAKING = ['mkdir', 'createFile', 'symlink', 'writeStateFile', 'writeAtomically'] as const
const ON_DISK = [...MAKING, 'chmod', 'rmdir', 'unlink', 'deleteContent'] as const
const CHANGING: ReadonlySet<keyof Host> = new Set([...ON_DISK, 'changeOwnership', 'run', 'umount'])

/** What a disk refuses; where it does not give files to a group, an emptyDir is set up all the same (P34). */
const REFUSED: Readonly<Record<string, { readonly calls: readonly (keyof Host)[]; readonly once?: true }>> = {
  /** One bad sector. */
  EIO: { calls: ON_DISK, once: true },
  /** From then on nothing can be added. */
  ENOSPC: { calls: MAKING },
  /** From then on nothing can be changed. */
  EROFS: { calls: ON_DISK },
}

interface Struck {
  /** What was to be done. */
  readonly kinds: readonly OperationKind[]
  /** It was killed, or something was refused. */
  readonly met: boolean
  /** To which the next apply comes: what was not done, what is to do, and what is there. */
  readonly end: readonly unknown[]
  /** Failures that are not clear. */
  readonly unclear: readonly string[]
}

/** @param how at the change after so many it is killed, or the disk refuses that with this code */
export type Strike = (how: string, changes?: number) => Promise<Struck>

async function isKilled(...args: readonly string[]): Promise<boolean> {
  const victim = spawn(...nodeProgram(VICTIM, args), { stdio: ['ignore', 'ignore', 'inherit'] })
  const [, signal] = await once(victim, 'close')
  return signal === 'SIGKILL'
}

async function isRefused(
  { node, options }: ReturnType<typeof standing>,
  changes: number,
  code: string,
  onEvent: (event: ApplyEvent) => void,
): Promise<boolean> {
  const { calls = [], once: isOnce } = REFUSED[code] ?? {}
  let left = changes
  node.context = {
    host: hostThat((key) => {
      if (!calls.includes(key)) return
      left--
      if (isOnce ? left !== -1 : left >= 0) return
      const message = `${code}: refused, ${key}`
      // These find words for it themselves.
      if (key === 'writeAtomically' || key === 'deleteContent') throw new StepFailed({ code: 'WriteFailed', message })
      throw Object.assign(new Error(message), { code })
    }),
  }
  await node.apply(options, onEvent)
  return left < 0
}

const OUTCOMES: ReadonlySet<string> = new Set([...codesIn('outcome'), ...codesIn('blocked')])

/** Whatever fails says so in one line, with a code of the catalogue and what to do next. */
function unclear(events: readonly ApplyEvent[]): string[] {
  return events.flatMap(({ type, code = '', message, hint }) => {
    const isClear = OUTCOMES.has(code) && hint !== undefined && !message.includes('\n')
    return (type !== 'failed' && type !== 'refused') || isClear ? [] : `${code} ${message} (${hint})`
  })
}

/** It is set up, and has content. */
async function use(node: LiveNode): Promise<void> {
  await node.apply()
  const scratch = `${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/scratch`
  if (node.pods.some(({ spec }) => spec.volumes?.[0]?.emptyDir)) writeFileSync(`${scratch}/file`, 'x')
}

/** What a kubelet makes anew, or leaves empty, where it dies there as well: nothing is decided on it. */
const NO_MATTER = /\/plugins\/kubernetes\.io~empty-dir\/wrapped_|\/local-volume\/mounts\/pv d /

/** Mounts, and names, types, modes, groups and sizes of all that volctl has made; and the size that a claim has. */
function there(node: LiveNode): string[] {
  const shown = ['-type', 'f', '-printf', '%p f %m %g %s\n', '-o', '-printf', '%p %y %m %g\n']
  const names = sh('find', `${node.root}/pods`, `${node.root}/plugins`, '-xdev', ...shown).split('\n')
  return [
    ...node.claims.map(({ status }) => `claim of ${status?.capacity?.storage}`),
    ...names.filter((each) => !NO_MATTER.test(each)),
    ...node.mounted().map(({ mountPoint }) => `${mountPoint} is mounted`),
  ]
    .map((each) => each.replace(/\.\.\d{4}[_\d]+\.\d+/, '..generation'))
    .toSorted()
}

export async function withWay(
  name: WayName,
  directory: string,
  phase: Phase,
  work: (strike: Strike) => Promise<void>,
): Promise<void> {
  const { around }: Way = WAYS[name]
  const end = await around?.(directory)
  const now = () => standing(name, directory, phase)
  try {
    await work(async (how, changes = Number.POSITIVE_INFINITY) => {
      if (phase !== 'up') await use(standing(name, directory, 'up').node)
      const before = now()
      const kinds = (await before.node.operations(before.options)).map(({ kind }) => kind)
      const events: ApplyEvent[] = []
      const met = await (how === 'killed'
        ? isKilled(name, directory, phase, `${changes}`)
        : isRefused(now(), changes, how, (event) => events.push(event)))
      const { node, options } = now()
      const undone = (await node.applied(options)).filter((state) => state !== 'done')
      const end = [...undone, (await node.operations(options)).length, ...there(node)]
      if (phase !== 'down') {
        node.forget(POD)
        end.push(...(await node.applied({ orphans: true })).filter((state) => state !== 'done'), ...there(node))
      }
      return { kinds, met, end, unclear: unclear(events) }
    })
  } finally {
    await end?.()
  }
}
