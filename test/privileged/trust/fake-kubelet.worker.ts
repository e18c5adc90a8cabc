/** Processes that are called kubelet and are not root's, or not of this node: what volctl does beside them, and without. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import type { NodeSnapshot } from '../../../src/core/model/snapshot.ts'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { podUid, readMounts } from '../workers/real-node.ts'
import { execKubeconfig } from './kubeconfigs.ts'
import { age, essence, makeVolume, NODE, type TrustNode, withNode } from './node.ts'
import {
  end,
  foreignDirectory,
  foreignFile,
  givenAway,
  type Marker,
  type ProcessOptions,
  STRANGER,
} from './strangers.ts'
import { codeOf, type WatchedRun } from './watched-run.ts'

/** By this a hang is told from slowness. */
const DEADLINE_MS = 20_000

export interface Outcome {
  readonly status: number | undefined
  readonly code: string | undefined
  readonly ended: WatchedRun['ended']
  /** What it says of the node, or did there. */
  readonly says: unknown
}

export interface Answers {
  /** A plan with root's own --kubeconfig. */
  readonly given: Outcome
  /** With the one that is found. */
  readonly found: Outcome
  readonly snapshot: Outcome
  readonly apply: Outcome
  /** Is the volume of the pod that is gone still there. */
  readonly mounted: boolean
}

export interface FakeReport extends Answers {
  /** What was run that must not be. */
  readonly ran: string
  /** Who was connected to though nobody but the fake names it. */
  readonly asked: readonly string[]
}

export interface Report {
  readonly alone: Answers
  readonly beside: Readonly<Record<string, FakeReport>>
}

/** What a fake may name, all of it the stranger's. */
interface Baits {
  readonly kubeconfig: string
  readonly fifo: string
  readonly root: string
  readonly socket: string
  readonly plugins: string
  /** In the place of the dynamic loader. */
  readonly loader: string
  asked(): readonly string[]
}

async function layBaits<T>(node: TrustNode, use: (baits: Baits) => Promise<T>): Promise<T> {
  const { directory, marker } = node
  const own = foreignDirectory(`${directory}/stranger`)
  const connections: string[] = []
  const servers: Server[] = []
  const listen = async (name: string, where: string | number): Promise<Server> => {
    const server = createServer((socket) => {
      connections.push(name)
      socket.destroy()
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(where, resolve))
    return server
  }
  const socket = `${own}/runtime.sock`
  await listen('runtime', socket)
  givenAway(socket)
  const port = ((await listen('API', 0)).address() as { port: number }).port
  const plugin = givenAway(marker.program(`${own}/plugin`))
  const root = foreignDirectory(`${own}/root`)
  mkdirSync(`${root}/pods/00000000-0000-4000-8000-000000000009/volumes/kubernetes.io~secret/v`, { recursive: true })
  mkdirSync(`${root}/plugins`)
  age(`${root}/pods`)
  const fifo = `${own}/config.yaml`
  sh('mkfifo', fifo)
  givenAway(marker.program(`${foreignDirectory(`${own}/plugins/v~d`)}/d`, `echo '{"status":"Success"}'`))
  try {
    return await use({
      kubeconfig: foreignFile(`${own}/kubeconfig`, execKubeconfig(`https://127.0.0.1:${port}`, plugin)),
      fifo: givenAway(fifo),
      root,
      socket,
      plugins: `${own}/plugins`,
      loader: marker.loader(`${directory}/loader`),
      asked: () => connections.splice(0),
    })
  } finally {
    for (const server of servers) server.close()
  }
}

/** One after another beside the same node; each answers as if it were alone. */
async function besides(node: TrustNode, fakes: (baits: Baits) => Readonly<Record<string, ProcessOptions>>) {
  return await layBaits(node, async (baits) => {
    const reports: Record<string, FakeReport> = {}
    for (const [name, options] of Object.entries(fakes(baits))) {
      const fake = await node.start(options)
      const answers = await ask(node)
      await end(fake)
      reports[name] = { ...answers, ran: taken(node.marker), asked: baits.asked() }
    }
    return reports
  })
}

function taken(marker: Marker): string {
  const text = marker.read()
  writeFileSync(marker.path, '')
  return text
}

async function ask(node: TrustNode): Promise<Answers> {
  const volumes = [makeVolume(node.root, 1), makeVolume(node.root, 2, 'v~d')]
  const given = ['--kubeconfig', node.api.kubeconfig('admin')]
  const run = (...args: readonly string[]) => node.volctl(args, { deadlineMs: DEADLINE_MS })
  const snapshot = await run('snapshot', '-o', `${node.directory}/snapshot.json`, ...given)
  const answers = {
    given: outcome(await run('plan', '-o', 'json', ...given), essence),
    found: outcome(await run('plan', '-o', 'json'), essence),
    snapshot: outcome(snapshot, () => snapshotOf(`${node.directory}/snapshot.json`)),
    apply: outcome(await run('apply', '--yes', '--orphans', '-o', 'json', ...given), applied),
  }
  const mounted = node.isMounted()
  for (const volume of volumes) if (readMounts().at(volume).length > 0) sh('umount', volume)
  return { ...answers, mounted }
}

function outcome(run: WatchedRun, says: (run: WatchedRun) => unknown): Outcome {
  return { status: run.status, code: codeOf(run), ended: run.ended, says: run.status === undefined ? '' : says(run) }
}

function snapshotOf(file: string): unknown {
  const { nodeName, rootDir, api, runtime, kubelet, flexDrivers } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as NodeSnapshot
  return { nodeName, rootDir, server: api?.server, runtime, running: kubelet?.running, flexDrivers }
}

function applied({ stdout, stderr }: WatchedRun): unknown {
  if (stdout === '') return stderr
  return (JSON.parse(stdout) as ApplyResult).outcomes.map(({ kind, state, code }) => [kind, state, code ?? ''])
}

const BINDS = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1']

/** With this in its mount namespace nothing starts there but the stranger's code. */
function replaceLoader({ loader }: Baits): string {
  const there = BINDS.flatMap((path) => {
    try {
      return [realpathSync(path)]
    } catch {
      return []
    }
  })
  return there.map((path) => `mount --bind ${loader} ${path}`).join(' && ')
}

const OWN_MOUNTS = ['unshare', '-m', '--propagation', 'slave']
const AS_STRANGER = ['setpriv', `--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups']

await runScenario({
  /** The kubelet is stopped, which is when volctl is called. */
  stopped: (directory) =>
    withNode(directory, {}, async (node): Promise<Report> => {
      const alone = await ask(node)
      const beside = await besides(node, (baits) => {
        const [root, kubeconfig, name] = node.flags() as [string, string, string]
        const fake = { name: 'kubelet', uid: STRANGER }
        const plugin = { name: 'kubelet', flags: [root, `--kubeconfig=${baits.kubeconfig}`, name] }
        const flags = [root, kubeconfig, name]
        return {
          '--kubeconfig': { ...plugin, uid: STRANGER },
          '--config, a FIFO': { ...fake, flags: [...flags, `--config=${baits.fifo}`] },
          '--config-dir, with a FIFO': { ...fake, flags: [...flags, `--config-dir=${configDirectory(node)}`] },
          '--pod-manifest-path, a FIFO': { ...fake, flags: [...flags, `--pod-manifest-path=${baits.fifo}`] },
          '--root-dir': { ...fake, flags: [`--root-dir=${baits.root}`, kubeconfig, name] },
          '--hostname-override': { ...fake, flags: [root, kubeconfig, '--hostname-override=node-2'] },
          '--container-runtime-endpoint': {
            ...fake,
            flags: [...flags, `--container-runtime-endpoint=unix://${baits.socket}`],
          },
          '--volume-plugin-dir': { ...fake, flags: [...flags, `--volume-plugin-dir=${baits.plugins}`] },
          'no flags': fake,
          'the name of another kubelet': { ...fake, name: 'kubelite' },
          'its flags, and another name': { ...plugin, name: 'acme-agent', uid: STRANGER },
          // As short as a name has to be, and with a line end that is none of the file.
          'its flags, and a name that says it is root': { ...plugin, name: '\rUid:\t0 0 0 0', uid: STRANGER },
          'a mount namespace, as in a pod': {
            ...plugin,
            through: [...OWN_MOUNTS, ...AS_STRANGER],
            inside: replaceLoader(baits),
          },
          'a user namespace, as without root': {
            ...plugin,
            uid: STRANGER,
            through: ['unshare', '-Urm', '--propagation', 'slave'],
            inside: replaceLoader(baits),
          },
          "root's effective uid, as from a set-uid program": { ...plugin, through: ['setpriv', `--ruid=${STRANGER}`] },
          'uid 0 in a user namespace': { ...plugin, through: ['unshare', '-U', '--map-root-user'] },
          'uid 0 in a PID namespace': { ...plugin, through: ['unshare', '-p', '-f', '--kill-child'] },
        }
      })
      return { alone, beside }
    }),

  /** Beside the node's own. */
  running: (directory) =>
    withNode(directory, { kubelet: 'runs' }, async (node): Promise<Report> => {
      const alone = await ask(node)
      const beside = await besides(node, (baits) => {
        const flags = [`--root-dir=${baits.root}`, `--kubeconfig=${baits.kubeconfig}`, `--hostname-override=${NODE}`]
        const fake = { name: 'kubelet', flags }
        return {
          'another root directory': { ...fake, uid: STRANGER },
          'a user namespace, as without root': {
            ...fake,
            uid: STRANGER,
            through: ['unshare', '-Urm', '--propagation', 'slave'],
            inside: replaceLoader(baits),
          },
        }
      })
      return { alone, beside }
    }),

  /** A child of the node's own is between fork and exec. */
  forking: (directory) => withNode(directory, { kubelet: 'forks' }, ask),

  /** Root's uid and the host's PIDs, in a container of a pod, whose image has libraries of its own. */
  inPod: (directory) =>
    withNode(directory, {}, async (node) => {
      const answers = await layBaits(node, async (baits) => {
        const [root, , name] = node.flags() as [string, string, string]
        const child = await node.start({
          name: 'kubelet',
          flags: [root, `--kubeconfig=${baits.kubeconfig}`, name],
          through: OWN_MOUNTS,
          inside: replaceLoader(baits),
        })
        const cgroup = `${directory}/cgroup`
        writeFileSync(cgroup, `0::/kubepods.slice/kubepods-pod${podUid(1).replaceAll('-', '_')}.slice/cri-a.scope\n`)
        sh('mount', '--bind', cgroup, `/proc/${child.pid}/cgroup`)
        const given = ['-o', 'json', '--kubeconfig', node.api.kubeconfig('admin')]
        const plan = outcome(await node.volctl(['plan', ...given], { deadlineMs: DEADLINE_MS }), essence)
        const apply = outcome(await node.volctl(['apply', '--yes', ...given], { deadlineMs: DEADLINE_MS }), applied)
        sh('umount', `/proc/${child.pid}/cgroup`)
        return { plan, apply, asked: baits.asked() }
      })
      return { ...answers, ran: taken(node.marker), mounted: node.isMounted() }
    }),
})

/** Whose drop-in never ends. */
function configDirectory({ directory }: TrustNode): string {
  const path = foreignDirectory(`${directory}/stranger/config.d`)
  sh('mkfifo', `${path}/10.conf`)
  givenAway(`${path}/10.conf`)
  return path
}
