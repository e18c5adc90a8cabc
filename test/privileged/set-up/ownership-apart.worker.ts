/** fsGroup on FUSE file systems of the tests' own, whose daemon answers, stops, hangs and ends. */
import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import { type Fuse, startFuse } from '../../helpers/fuse/start.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { runScenario } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const GROUP = { securityContext: { fsGroup: 4711 } }
const podDir = ({ root }: LiveNode) => `${root}/pods/${POD}/volumes/kubernetes.io~local-volume/fuse`

/** Two pods: one with a directory of a FUSE file system, one with a directory of the disk. */
async function nodeOn(directory: string, mode: 'well' | 'unowned'): Promise<{ node: LiveNode; daemon: Fuse }> {
  const path = `${directory}/fuse`
  const daemon = await startFuse(path, mode)
  mkdirSync(`${directory}/other`)
  const node = new LiveNode(directory)
  node
    .persistentVolume('fuse', { local: { path } })
    .persistentVolume('other', { local: { path: `${directory}/other` } })
  for (const [uid, name] of [
    [POD, 'fuse'],
    [OTHER, 'other'],
  ] as const)
    node.pod(uid, name, [{ name: 'data', persistentVolumeClaim: { claimName: `claim-${name}` } }], GROUP)
  return { node, daemon }
}

/** Something happens right before the walk. */
function beforeWalk(node: LiveNode, happens: () => unknown, more: LiveNode['context'] = {}): void {
  const host: typeof linuxHost = {
    ...linuxHost,
    changeOwnership: async (path, options, apart) => {
      if (apart !== undefined) await happens()
      return linuxHost.changeOwnership(path, options, apart)
    },
  }
  node.context = { host, timeoutMs: 2000, ...more }
}

/** Applies; "volume state code" of each, and what is said of the one on FUSE. */
async function apply(node: LiveNode): Promise<{ states: string[]; message: string | undefined }> {
  const { operations } = await node.plan()
  const nameOf = (id: string) => operations.find((operation) => operation.id === id)?.volume?.name
  const { outcomes } = await node.apply()
  return {
    states: outcomes
      .map(({ id, state, code }) => `${nameOf(id)} ${state}${code === undefined ? '' : ` ${code}`}`)
      .toSorted(),
    message: outcomes.find(({ id }) => nameOf(id) === 'fuse')?.message,
  }
}

const rootOf = (path: string) => {
  const { gid, mode } = lstatSync(path)
  return `${gid} ${(mode & 0o7777).toString(8)}`
}

/** Whether the pod's directory is mounted, and how many walkers are still there. */
function left(node: LiveNode): [boolean, number] {
  const walkers = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isWalker(pid))
  return [node.mounts().reached(podDir(node)).length > 0, walkers.length]
}

function isWalker(pid: string): boolean {
  try {
    const [, ppid] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return ppid === `${process.pid}` && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('walker/main.')
  } catch {
    return false
  }
}

await runScenario({
  async possible(directory) {
    await (await startFuse(`${directory}/fuse`)).kill()
  },

  async well(directory) {
    const { node, daemon } = await nodeOn(directory, 'well')
    const { states } = await apply(node)
    const seen = { states, root: rootOf(podDir(node)), left: left(node) }
    await daemon.kill()
    return seen
  },

  async stopped(directory) {
    const { node, daemon } = await nodeOn(directory, 'well')
    beforeWalk(node, () => daemon.stop())
    const seen = { ...(await apply(node)), left: left(node) }
    daemon.resume()
    node.context = {}
    const { states: again } = await apply(node)
    const root = rootOf(podDir(node))
    await daemon.kill()
    return { ...seen, again, root }
  },

  async unkillable(directory) {
    const { node, daemon } = await nodeOn(directory, 'unowned')
    node.context = { timeoutMs: 2000 }
    const seen = { ...(await apply(node)), left: left(node) }
    await daemon.kill()
    return seen
  },

  async dead(directory) {
    const { node, daemon } = await nodeOn(directory, 'well')
    beforeWalk(node, () => daemon.kill())
    return { ...(await apply(node)), left: left(node) }
  },

  async interrupted(directory) {
    const { node, daemon } = await nodeOn(directory, 'well')
    node.forget(OTHER)
    const controller = new AbortController()
    const walk = (): void => {
      daemon.stop()
      controller.abort()
    }
    beforeWalk(node, walk, { signal: controller.signal, timeoutMs: 60_000 })
    const seen = { ...(await apply(node)), left: left(node) }
    await daemon.kill()
    return seen
  },
})
