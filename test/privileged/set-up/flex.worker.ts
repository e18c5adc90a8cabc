/** flexVolumes by drivers that are real programs, with real mounts. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { statesOf } from '../../helpers/apply-plan.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const SUCCESS = `echo '{"status":"Success"}'`

type Calls = Readonly<Record<string, string>>

/** @param calls what the driver does, by call; of any other it says that it does not support it */
function driver(directory: string, calls: Calls): string {
  const path = `${directory}/exec/v~d/d`
  mkdirSync(dirname(path), { recursive: true })
  const cases = Object.entries(calls).map(([call, does]) => `${call}) ${does};;`)
  const lines = [
    '#!/bin/sh',
    `echo "$1 $2" >> ${directory}/log`,
    'case "$1" in',
    ...cases,
    `*) echo '{"status":"Not supported"}'; exit 1;;`,
    'esac',
  ]
  writeFileSync(path, `${lines.join('\n')}\n`)
  chmodSync(path, 0o755)
  return path
}

const init = (attach: boolean) => `echo '{"status":"Success","capabilities":{"attach":${attach},"fsGroup":true}}'`

/** A driver that serves every volume as a tmpfs of its own, and keeps what it was asked for. */
function plainCalls(directory: string): Calls {
  return {
    init: init(false),
    mount: `echo "$3" > ${directory}/options; mount -t tmpfs flex "$2" && ${SUCCESS}`,
    unmount: `umount "$2" && ${SUCCESS}`,
  }
}

function nodeOf(directory: string, calls: Calls, attached = false): LiveNode {
  const node = new LiveNode(directory)
  node.override = { flexDrivers: [{ name: 'v/d', executable: driver(directory, calls) }] }
  const volumes = [{ name: 'data', flexVolume: { driver: 'v/d', options: { share: 'one' } } }]
  node.pod(POD, 'a', volumes, { securityContext: { fsGroup: 2000 } })
  if (attached) {
    node.pod(OTHER, 'b', volumes)
    const volumesAttached = [{ name: 'v/d/data', devicePath: '' }]
    node.node = { ...node.node, status: { ...node.node.status, volumesAttached, volumesInUse: ['v/d/data'] } }
  }
  return node
}

const podDir = ({ root }: LiveNode, uid = POD) => `${root}/pods/${uid}/volumes/v~d/data`
const log = (directory: string, { root }: LiveNode) =>
  readFileSync(`${directory}/log`, 'utf8').replaceAll(`${root}/`, '').trim().split('\n')

async function afterwards(node: LiveNode, ...uids: readonly string[]) {
  for (const uid of uids) node.forget(uid)
  const gone = await node.apply()
  return {
    gone: gone.outcomes.map(({ kind, state, message }) => (state === 'done' ? `${kind} done` : message)),
    mounts: node.mounted().length,
    left: (await node.plan()).operations.map(({ kind }) => kind),
  }
}

/** Killed by its driver, before or after that has mounted. */
async function killed(directory: string, when: 'before' | 'after') {
  const child = spawn(...thisProgram('applyOnce', when))
  const signal = await new Promise((resolve) => child.on('exit', (_, name) => resolve(name)))
  const node = nodeOf(directory, plainCalls(directory))
  const planned = (await node.plan()).operations.length
  const states = Object.values(statesOf(await node.apply()))
  const mounted = node.mounts().reached(podDir(node)).length
  return { signal, planned, states, mounted, after: (await node.plan()).operations, ...(await afterwards(node, POD)) }
}

await runScenario({
  async plain(directory) {
    const node = nodeOf(directory, plainCalls(directory))
    const states = Object.values(statesOf(await node.apply()))
    return {
      states,
      mounted: node
        .mounts()
        .reached(podDir(node))
        .map(({ fsType }) => fsType),
      group: sh('stat', '-c', '%g %a', podDir(node)),
      options: JSON.parse(readFileSync(`${directory}/options`, 'utf8')),
      after: (await node.plan()).operations,
      ...(await afterwards(node, POD)),
      log: log(directory, node),
    }
  },

  /** It attaches, and mounts the device alone: pods are bound to that. */
  async attaching(directory) {
    const calls = {
      init: init(true),
      mountdevice: `mount -t tmpfs flex "$2" && ${SUCCESS}`,
      unmountdevice: `umount "$2" && ${SUCCESS}`,
    }
    const node = nodeOf(directory, calls, true)
    const states = Object.values(statesOf(await node.apply()))
    writeFileSync(`${podDir(node)}/file`, 'data')
    return {
      states,
      shared: readFileSync(`${podDir(node, OTHER)}/file`, 'utf8'),
      after: (await node.plan()).operations,
      ...(await afterwards(node, POD, OTHER)),
      log: log(directory, node).filter((line) => /device/.test(line)),
    }
  },

  /** It attaches, and the Node does not list the volume. */
  async notAttached(directory) {
    const node = nodeOf(directory, { ...plainCalls(directory), init: init(true) })
    const states = Object.values(statesOf(await node.apply()))
    return { states, exists: existsSync(`${node.root}/pods/${POD}`), log: log(directory, node) }
  },

  async liar(directory) {
    const node = nodeOf(directory, { ...plainCalls(directory), mount: SUCCESS, unmount: SUCCESS })
    const states = Object.values(statesOf(await node.apply()))
    return { states, exists: existsSync(podDir(node)), log: log(directory, node) }
  },

  /** It mounts, and says that it did not. */
  async breaksOff(directory) {
    const mount = `mount -t tmpfs flex "$2"; echo '{"status":"Failure","message":"quota"}'; exit 1`
    const node = nodeOf(directory, { ...plainCalls(directory), mount })
    const result = await node.apply()
    const [message] = result.outcomes.map((each) => each.message.includes('Failure: quota'))
    return {
      states: Object.values(statesOf(result)),
      message,
      exists: existsSync(podDir(node)),
      mounts: node.mounted().length,
    }
  },

  killedBefore: (directory) => killed(directory, 'before'),
  killedAfter: (directory) => killed(directory, 'after'),

  /** The process that is killed. */
  async applyOnce(directory, [when = '']) {
    const kill = 'kill -9 $PPID'
    const mount = when === 'before' ? kill : `mount -t tmpfs flex "$2"; ${kill}`
    return statesOf(await nodeOf(directory, { ...plainCalls(directory), mount }).apply())
  },
})
