/**
 * A node to be lied to: its root directory, API server and runtime are real, and the built volctl looks at it without a
 * test host. What volctl reads and writes beside it is covered as long as the node is there.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import { hostIdentity } from '../../../src/core/node/host-identity.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { startApiServer } from '../../helpers/api-server/start.ts'
import { startCriServer } from '../../helpers/cri-server/start.ts'
import { sweep, temporary } from '../../helpers/left-behind.ts'
import { sh, unmountBelow } from '../../helpers/scenario.ts'
import type { Holder } from '../holder.ts'
import { podUid, readMounts } from '../workers/real-node.ts'
import { Marker, type ProcessOptions, startNamed } from './strangers.ts'
import { type RunOptions, runWatched, type WatchedRun } from './watched-run.ts'

export const NODE = 'node-1'
const LONG_AGO = 1_750_000_000

export type TrustNode = Awaited<ReturnType<typeof startNode>>

/** `forks`: it runs, and is about to start a program; `stopped`: by its unit; `none`: no trace of it. */
type Kubelet = 'forks' | 'stopped' | 'none'

/** One node without a kubelet for the tests of a group, which leave it as they find it. */
export function nodeForAll(): () => TrustNode {
  let node: TrustNode
  beforeAll(async () => {
    node = await startNode(temporary('volctl-node-'), 'none')
  })
  afterAll(async () => {
    const { directory } = node
    await node[Symbol.asyncDispose]()
    unmountBelow(directory)
    sweep(directory)
  })
  return () => node
}

/** It ends with every process of it. @param directory its own: everybody may look into it, and its own things are root's */
export async function startNode(directory: string, kubelet: Kubelet = 'stopped') {
  chmodSync(directory, 0o755)
  const uncover = coverMachine(directory)
  const root = `${directory}/root`
  /** The volume of a pod that is gone: a tmpfs that nothing has touched for long. */
  const volume = makeVolume(root, 1)
  const home = `${directory}/home`
  mkdirSync(home)
  const started: Holder[] = []
  const [api, cri] = await Promise.all([
    startApiServer({ objects: [nodeObject()], nodeName: NODE }),
    startCriServer({ socketPath: '/run/containerd/containerd.sock', pods: [] }),
  ])
  /** The kubelet's flags. */
  const flags = (): readonly string[] => [
    `--root-dir=${root}`,
    `--kubeconfig=${api.kubeconfig('kubelet')}`,
    `--hostname-override=${NODE}`,
  ]
  const node = {
    directory,
    root,
    api,
    volume,
    marker: new Marker(directory),
    isMounted: () => readMounts().at(volume).length > 0,
    /** Runs volctl; what a person's login had is not in its environment. */
    volctl: (args: readonly string[], options: RunOptions = {}) =>
      runWatched(args, { cwd: directory, ...options, env: { ...environment(home), ...options.env } }),
    /** Starts a process that bears a name; it ends with the node. */
    start: async (options: ProcessOptions) => {
      const held = await startNamed(directory, options)
      started.push(held)
      return held
    },
    flags,
    [Symbol.asyncDispose]: async () => {
      for (const each of started) await each.end()
      await Promise.all([api.stop(), cri.stop()])
      uncover()
    },
  }
  // What shows that this PID namespace is the node's.
  await node.start({ name: 'containerd' })
  if (kubelet === 'forks') await node.start({ name: 'kubelet', flags: flags(), forked: true })
  if (kubelet === 'stopped') writeUnit(flags())
  return node
}

/** What volctl reads and writes of the machine is the node's own, and may be changed; /etc with what it holds. @returns undoes it */
function coverMachine(directory: string): () => void {
  const etc = `${directory}/etc`
  mkdirSync(etc)
  // A disk without a journal looks through all inodes that were freed lately for each file that is made.
  sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', etc)
  sh('cp', '-a', '/etc/.', etc)
  for (const path of ['kubernetes', 'systemd/system', 'rancher']) {
    execFileSync('rm', ['-rf', `${etc}/${path}`])
    mkdirSync(`${etc}/${path}`, { recursive: true })
  }
  sh('mount', '--bind', etc, '/etc')
  for (const path of ['/run', '/var/lib']) sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', path)
  // As systemd makes it: what is unmounted here goes in the namespaces of containers as well.
  sh('mount', '--make-rshared', '/')
  return () => {
    for (const path of ['/var/lib', '/run', '/etc']) sh('umount', '-l', path)
  }
}

export function nodeObject(): object {
  const { machineID, systemUUID, bootID } = hostIdentity()
  const longAgo = new Date(LONG_AGO * 1000).toISOString()
  const ready = { type: 'Ready', status: 'Unknown', lastHeartbeatTime: longAgo, lastTransitionTime: longAgo }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE, uid: 'node', creationTimestamp: longAgo },
    status: { nodeInfo: { machineID, systemUUID, bootID }, conditions: [ready] },
  }
}

/** The volume of a pod that the API does not know. */
export function makeVolume(root: string, pod: number, plugin = 'kubernetes.io~secret'): string {
  const volume = `${root}/pods/${podUid(pod)}/volumes/${plugin}/v`
  mkdirSync(volume, { recursive: true })
  mkdirSync(`${root}/plugins`, { recursive: true })
  if (readMounts().at(volume).length === 0) sh('mount', '-t', 'tmpfs', 'tmpfs', volume)
  age(`${root}/pods`)
  return volume
}

export function age(path: string): void {
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) age(`${path}/${name}`)
  utimesSync(path, LONG_AGO, LONG_AGO)
}

export const KUBELET_UNIT = '/etc/systemd/system/kubelet.service'

/** How the kubelet that does not run would be started. */
export function writeUnit(flags: readonly string[]): void {
  writeFileSync(KUBELET_UNIT, `[Service]\nExecStart=/usr/bin/kubelet ${flags.join(' ')}\n`)
}

/** As root's login leaves it: nothing of the tests' own, and no credential. */
export function environment(home: string): NodeJS.ProcessEnv {
  const { PATH, LC_ALL, TZ, NO_COLOR } = process.env
  return { PATH, LC_ALL, TZ, NO_COLOR, HOME: home }
}

/** What a plan says of the node, without what differs from one look to the next. */
export function essence({ stdout }: Pick<WatchedRun, 'stdout'>): object | string {
  if (stdout === '') return 'no plan'
  const { node, rootDir, inputs, operations, refused } = JSON.parse(stdout) as Plan
  return {
    node,
    rootDir,
    server: inputs.api.server,
    kubelet: inputs.kubelet.state,
    runtime: inputs.runtime,
    pods: inputs.pods,
    operations: operations.map(({ kind, paths, blocked }) => ({ kind, paths, blocked: blocked?.code })),
    refused,
  }
}
