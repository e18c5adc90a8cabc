/** What goes wrong while a CSI volume is set up, with the real test driver: the state it ends in, and what the next apply makes of it. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import type { CsiNode } from '../../../src/core/apply/operation/ports.ts'
import { loopDevices } from '../../../src/core/block/block-devices.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import type { VolumeMode } from '../../../src/core/names/volume-names.ts'
import { unmountBelow } from '../../helpers/csi-driver/mounts.ts'
import type { CsiDriver } from '../../helpers/csi-driver/start.ts'
import {
  addVolume,
  claim,
  directories,
  giveUpOn,
  handleOf,
  nodeWithDriver,
  OTHER,
  POD,
  present,
  presentBlock,
  states,
  withDriver,
} from '../../helpers/csi-scene.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import type { LiveNode } from '../../helpers/live-node.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'

interface Seen {
  readonly first: string[]
  /** After the failure. */
  readonly left: string[]
  readonly next: string[]
  readonly end: string[]
  /** Of a plan after the next apply; then of one after the pod is gone. */
  readonly operations: [number, number]
}

/** One volume through one fault: set up, again without it, and taken down. */
async function through(
  node: LiveNode,
  driver: CsiDriver,
  { fault, mode }: { fault: string; mode: VolumeMode },
): Promise<Seen> {
  const volume = `pv-${driver.log().length}`
  wanting(node, volume, mode)
  driver.setFaults(fault)
  node.context = giveUpOn(fault, node)
  const first = states(await node.apply())
  const left = await leftBy(fault, () => presentAs(mode, node, volume))
  driver.setFaults()
  node.context = {}
  if (fault.startsWith('die')) await driver.restart()
  const next = states(await node.apply())
  const end = presentAs(mode, node, volume)
  const planned = (await node.plan()).operations.length
  node.forget(POD)
  await node.apply({ orphans: true })
  return { first, left, next, end, operations: [planned, (await node.plan({ orphans: true })).operations.length] }
}

/** What is there once the driver has done what it was asked for, which may be after it was given up. */
async function leftBy(fault: string, look: () => string[]): Promise<string[]> {
  const [, done] = /^hang-after Node(Stage|Publish)/.exec(fault) ?? []
  await until(() => done === undefined || look().includes(done === 'Stage' ? 'staged' : 'published'))
  return look()
}

/** Everything that changes the node or calls the driver, counted; this very process is killed before the n-th. */
function mortal(node: LiveNode, changes: number): void {
  let left = changes
  const change = (): void => {
    if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
  }
  const counted = <A extends readonly unknown[], T>(work: (...args: A) => T) => {
    return (...args: A): T => {
      change()
      return work(...args)
    }
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
    host: {
      ...linuxHost,
      mkdir: counted(linuxHost.mkdir),
      writeStateFile: counted(linuxHost.writeStateFile),
      createFile: counted(linuxHost.createFile),
      symlink: counted(linuxHost.symlink),
      run: counted(linuxHost.run),
    },
    csi: async (name): Promise<CsiNode | undefined> => {
      const driver = await node.csiNode(name)
      return (
        driver && {
          ...driver,
          nodeStageVolume: around(driver.nodeStageVolume),
          nodePublishVolume: around(driver.nodePublishVolume),
        }
      )
    },
  }
}

function wanting(node: LiveNode, volume: string, mode: VolumeMode): LiveNode {
  addVolume(node, volume, { volumeMode: mode })
  node.pod(POD, 'a', [claim(volume)], { devices: mode === 'Block' })
  return node
}

function presentAs(mode: VolumeMode, node: LiveNode, volume: string): string[] {
  return mode === 'Block' ? presentBlock(node, volume) : present(node, volume)
}

const modeOf = (text: string | undefined): VolumeMode => (text === 'Block' ? 'Block' : 'Filesystem')

/** @param given the volumes' mode, and flags of the driver after it */
function faulty(directory: string, [given, ...faults]: readonly string[]) {
  const [kind, ...flags] = given?.split(' ') ?? []
  const mode = modeOf(kind)
  return withDriver(directory, { flags }, async (node, driver) => {
    const seen: Record<string, Seen> = {}
    for (const fault of faults) seen[fault] = await through(node, driver, { fault, mode })
    return { seen, violations: driver.violations() }
  })
}

/** What happens to a volume, in words: a fault that an apply meets, `again` before it for one that publishes once more. */
async function happens(
  node: LiveNode,
  driver: CsiDriver,
  { volume, mode }: { volume: string; mode: VolumeMode },
  what: string,
): Promise<string[]> {
  if (what === 'reboot') {
    await driver.stop()
    const own = loopDevices().filter(({ backingFile }) => backingFile?.startsWith(`${node.root}/`))
    for (const { name } of own) detachLoop(name)
    unmountBelow(node.root)
    await driver.restart()
    return []
  }
  const [, again, fault = ''] = /^(again )?(?:ok|(.*))$/.exec(what) ?? []
  if (fault !== '') driver.setFaults(fault)
  node.context = giveUpOn(fault, node)
  const seen = states(await node.apply(again === undefined ? {} : { remount: true, volumes: [volume] }))
  await leftBy(fault, () => presentAs(mode, node, volume))
  driver.setFaults()
  node.context = {}
  return seen
}

/** Calls that undo something of the volume, in order. */
function undone(driver: CsiDriver, volume: string): string[] {
  return driver
    .log()
    .filter(
      ({ rpc, phase, request }) => /^NodeUn/.test(rpc) && phase === 'begin' && request.volumeId === handleOf(volume),
    )
    .map(({ rpc }) => rpc)
}

await runScenario({
  /** Volumes, each through what its words say, and then without its pod: how each went, and what the driver is asked to undo. */
  gone: (directory, [given, ...stories]) =>
    withDriver(directory, { spec: { requiresRepublish: true } }, async (node, driver) => {
      const mode = modeOf(given)
      const seen: Record<string, { went: string[]; undone: string[]; left: string[]; operations: number }> = {}
      for (const [index, story] of stories.entries()) {
        const volume = `pv-${index}`
        wanting(node, volume, mode)
        const went: string[] = []
        for (const what of story.split(', ')) went.push(...(await happens(node, driver, { volume, mode }, what)))
        const before = undone(driver, volume).length
        node.forget(POD)
        await node.apply({ orphans: true })
        seen[story] = {
          went,
          undone: undone(driver, volume).slice(before),
          left: presentAs(mode, node, volume),
          operations: (await node.plan({ orphans: true })).operations.length,
        }
      }
      return { seen, violations: driver.violations() }
    }),

  faults: faulty,

  /** The driver answers OK for the second volume, and binds what is staged for the first, which another pod uses. */
  crossed: (directory, [kind]) =>
    withDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-a')
      node.pod(OTHER, 'b', [claim('pv-a')])
      const before = states(await node.apply())
      wanting(node, 'pv-b', 'Filesystem')
      const staged = `${directories(node, 'pv-a', OTHER).global}/globalmount`
      const bind = (target = ''): void => {
        mkdirSync(target, { recursive: true })
        sh('mount', '--bind', staged, target)
      }
      if (kind === 'published') {
        const right = states(await node.apply())
        const target = `${directories(node, 'pv-b').pod}/mount`
        sh('umount', target)
        bind(target)
        const { operations, problems } = await node.plan()
        sh('umount', target)
        return {
          ...{ before, right, operations: operations.map(({ kind: each }) => each) },
          problems: problems.map(({ severity, code }) => `${severity} ${code}`),
        }
      }
      node.context = {
        csi: async (name): Promise<CsiNode | undefined> => {
          const own = await node.csiNode(name)
          return own && { ...own, nodePublishVolume: async ({ targetPath }) => bind(targetPath) }
        },
      }
      const result = await node.apply()
      const wrong = { went: states(result), said: result.outcomes.at(-1)?.message, left: present(node, 'pv-b') }
      node.context = {}
      const next = states(await node.apply())
      return { before, wrong, next, other: present(node, 'pv-a', OTHER), violations: driver.violations() }
    }),

  /** Kills after 0, 1, 2 … changes, until one comes to its end; each time a second apply must reach the same end. */
  kills: (directory, [given]) =>
    withDriver(directory, {}, async (node, driver) => {
      const mode = modeOf(given)
      const ends = new Set<string>()
      let kills = 0
      for (let changes = 0; changes < 60; changes++) {
        const volume = `pv-${changes}`
        const victim = spawn(...thisProgram('victim', mode, volume, String(changes)), {
          stdio: 'ignore',
        })
        const signal = await new Promise((resolve) => victim.on('close', (_, name) => resolve(name)))
        wanting(node, volume, mode)
        await node.apply()
        const end = presentAs(mode, node, volume)
        const after = (await node.plan()).operations.length
        node.forget(POD)
        await node.apply({ orphans: true })
        ends.add(JSON.stringify([end, after, (await node.plan({ orphans: true })).operations.length]))
        if (signal === null)
          return { kills, ends: [...ends].map((text) => JSON.parse(text)), violations: driver.violations() }
        kills += 1
      }
      return { kills, ends: [...ends], violations: driver.violations() }
    }),

  victim: async (directory, [mode, volume = '', changes]) => {
    const node = wanting(nodeWithDriver(directory), volume, modeOf(mode))
    mortal(node, Number(changes))
    await node.apply()
  },
})
