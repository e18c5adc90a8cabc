/** nfs, set up against a stand-in for mount(8) that lies in its place, in this namespace alone. */
import { chmodSync, copyFileSync, existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { PodVolumeSource } from '../../../src/core/model/objects.ts'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import { commandPath } from '../../../src/core/trust/programs.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const SHARE: PodVolumeSource[] = [{ name: 'share', nfs: { server: 'files.test', path: '/export' } }]
/** So that the helper of the stand-in that hangs can be told from any other process. */
/** No other run of this file has the same. */
const FOREVER = `86399.${process.pid}`

const podDir = ({ root }: LiveNode, name = 'share') => `${root}/pods/${POD}/volumes/kubernetes.io~nfs/${name}`

/** What stands in for a mount of type nfs: shell, with the mount point in $dir and the real mount(8) in $real. */
function standIn(directory: string, behaviour: string): { lines: () => string[] } {
  const real = `${directory}/mount.real`
  const mount = commandPath('mount')
  if (existsSync(real)) sh('umount', mount)
  else copyFileSync(mount, real)
  const script = `${directory}/mount.stand-in`
  const log = `${directory}/log`
  writeFileSync(
    script,
    `#!/bin/sh\nreal=${real}\n[ "$2" = nfs ] || exec $real "$@"\necho "mount $*" >> ${log}\nfor dir; do :; done\n${behaviour}\n`,
  )
  chmodSync(script, 0o755)
  sh(real, '--bind', script, mount)
  return { lines: () => readFileSync(log, 'utf8').trim().split('\n') }
}

const TMPFS = '$real -t tmpfs tmpfs "$dir"'

function states({ outcomes }: ApplyResult): string[] {
  return outcomes.map(({ state, code }) => `${state}${code === undefined ? '' : ` ${code}`}`)
}

function processesWith(argument: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
    } catch {
      return false
    }
  }).length
}

await runScenario({
  /** Inline and by claims: options, read-only, an IPv6 server. */
  async lines(directory) {
    const { lines } = standIn(directory, TMPFS)
    const node = new LiveNode(directory)
    node
      .persistentVolume('plain', { nfs: { server: '192.0.2.1', path: '/a', readOnly: true } })
      .persistentVolume('options', { nfs: { server: 'fd00::1', path: '/b' }, mountOptions: ['vers=4.2', 'hard', ''] })
    node.pod(POD, 'a', [
      ...SHARE,
      { name: 'reading', nfs: { server: 'files.test', path: '/', readOnly: true } },
      { name: 'c1', persistentVolumeClaim: { claimName: 'claim-plain' } },
      { name: 'c2', persistentVolumeClaim: { claimName: 'claim-options', readOnly: true } },
    ])
    const up = states(await node.apply())
    return { up, lines: lines().map((line) => line.replaceAll(`${node.root}/pods/${POD}/volumes/`, '')) }
  },

  async bothWays(directory) {
    standIn(directory, TMPFS)
    const node = new LiveNode(directory)
    node.pod(POD, 'a', SHARE)
    const up = states(await node.apply())
    const mode = (lstatSync(`${podDir(node)}/..`).mode & 0o777).toString(8)
    const after = (await node.plan()).operations
    node.forget(POD)
    const down = states(await node.apply({ orphans: true }))
    return { up, mode, after, down, left: (await node.plan({ orphans: true })).operations }
  },

  /** The server is away: mount(8) waits for its helper, and the helper for the server. */
  async hanging(directory) {
    standIn(directory, `sleep ${FOREVER} & wait`)
    const node = new LiveNode(directory)
    node.pod(POD, 'a', SHARE)
    node.context = { timeoutMs: 700 }
    const { outcomes } = await node.apply()
    const helpers = processesWith(FOREVER)
    standIn(directory, TMPFS)
    return {
      code: outcomes[0]?.code,
      says: outcomes[0]?.message.includes('did not end within 0.7 s'),
      names: outcomes[0]?.message.includes(`directory ${podDir(node)}`),
      helpers,
      again: states(await node.apply()),
      after: (await node.plan()).operations,
    }
  },

  /** It says that it failed, and has mounted all the same (P63). */
  async halfway(directory) {
    standIn(directory, `${TMPFS}; echo 'mount.nfs: internal error' >&2; exit 32`)
    const node = new LiveNode(directory)
    node.pod(POD, 'a', SHARE)
    const { outcomes } = await node.apply()
    return {
      says: outcomes[0]?.message.includes('internal error'),
      mounts: node.mounts().reached(podDir(node)).length,
      left: existsSync(`${node.root}/pods/${POD}`),
    }
  },

  /** As in a container without the node's network. */
  async inOwnNetwork(directory) {
    standIn(directory, TMPFS)
    const node = new LiveNode(directory)
    node.pod(POD, 'a', SHARE)
    return { apply: states(await node.apply()), made: existsSync(podDir(node)) }
  },

  otherNetwork() {
    return JSON.parse(sh('unshare', '--net', ...thisProgram('inOwnNetwork').flat()))
  },

  /** Files of a pod that wrote while nothing was mounted: blocked, and kept. */
  async dataUnderneath(directory) {
    standIn(directory, TMPFS)
    const node = new LiveNode(directory)
    node.pod(POD, 'a', SHARE)
    sh('mkdir', '-p', podDir(node))
    writeFileSync(`${podDir(node)}/file`, 'data')
    const blocked = states(await node.apply())
    return { blocked, kept: readFileSync(`${podDir(node)}/file`, 'utf8') }
  },
})
