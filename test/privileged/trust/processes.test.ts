/**
 * S32, S33: who bears the name of a kubelet or a container runtime, and is not root's or not of this node, has no effect at all. All
 * that are lied with stand beside the node at once: none of them is read, so that none hides another.
 */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { expect } from 'vitest'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { describeUnless } from '../describe-unless.ts'
import { podUid, readMounts } from '../workers/real-node.ts'
import { execKubeconfig } from './kubeconfigs.ts'
import { age, essence, makeVolume, NODE, startNode, type TrustNode } from './node.ts'
import { foreignDirectory, foreignFile, givenAway, type ProcessOptions, STRANGER } from './strangers.ts'
import { codeOf, type WatchedRun } from './watched-run.ts'

const OWN_MOUNTS = ['unshare', '-m', '--propagation', 'slave']
const OWN_PIDS = ['-p', '-f', '--kill-child']
const AS_STRANGER = ['setpriv', `--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups']
const AS_ROOTLESS = ['unshare', '-Urm', '--propagation', 'slave']

/** What a fake may name, all of it the stranger's. */
interface Baits {
  readonly kubeconfig: string
  readonly fifo: string
  /** Whose drop-in never ends. */
  readonly configDirectory: string
  readonly root: string
  readonly socket: string
  readonly plugins: string
  /** Puts a stranger's program in the place of the dynamic loader: nothing starts in such a mount namespace but that. */
  readonly replaceLoader: string
  /** Who was connected to though nobody but the fake names it. */
  asked(): readonly string[]
}

async function besideBaits<T>({ directory, marker }: TrustNode, use: (baits: Baits) => Promise<T>): Promise<T> {
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
  const { port } = (await listen('API', 0)).address() as { port: number }
  const plugin = givenAway(marker.program(`${own}/plugin`))
  const root = foreignDirectory(`${own}/root`)
  mkdirSync(`${root}/pods/${podUid(9)}/volumes/kubernetes.io~secret/v`, { recursive: true })
  mkdirSync(`${root}/plugins`)
  age(`${root}/pods`)
  const [fifo, configDirectory] = [`${own}/config.yaml`, foreignDirectory(`${own}/config.d`)]
  for (const path of [fifo, `${configDirectory}/10.conf`]) {
    sh('mkfifo', path)
    givenAway(path)
  }
  givenAway(marker.program(`${foreignDirectory(`${own}/plugins/v~d`)}/d`, `echo '{"status":"Success"}'`))
  const loader = marker.loader(`${directory}/loader`)
  try {
    return await use({
      kubeconfig: foreignFile(`${own}/kubeconfig`, execKubeconfig(`https://127.0.0.1:${port}`, plugin)),
      fifo,
      configDirectory,
      root,
      socket,
      plugins: `${own}/plugins`,
      replaceLoader: loaders.map((path) => `mount --bind ${loader} ${path}`).join(' && '),
      asked: () => connections.splice(0),
    })
  } finally {
    for (const server of servers) server.close()
  }
}

const loaders = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'].flatMap((path) => {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
})

const given = ({ api }: TrustNode): readonly string[] => ['-o', 'json', '--kubeconfig', api.kubeconfig('admin')]

function outcome(run: WatchedRun, says: (run: WatchedRun) => unknown): object {
  return { status: run.status, code: codeOf(run), ended: run.ended, says: run.status === undefined ? '' : says(run) }
}

function applied({ stdout, stderr }: WatchedRun): unknown {
  if (stdout === '') return stderr
  return (JSON.parse(stdout) as ApplyResult).outcomes.map(({ kind, state, code }) => [kind, state, code ?? ''])
}

/** With root's own --kubeconfig, with the one that is found, and of an apply. */
async function ask(node: TrustNode): Promise<object> {
  const volumes = [makeVolume(node.root, 1), makeVolume(node.root, 2, 'v~d')]
  const run = (...args: readonly string[]) => node.volctl(args)
  const answers = {
    given: outcome(await run('plan', ...given(node)), essence),
    found: outcome(await run('plan', '-o', 'json'), essence),
    apply: outcome(await run('apply', '--yes', '--orphans', ...given(node)), applied),
  }
  const mounted = node.isMounted()
  for (const volume of volumes) if (readMounts().at(volume).length > 0) sh('umount', volume)
  return { ...answers, mounted, ran: node.marker.read() }
}

async function besideAll<T>(
  node: TrustNode,
  fakes: readonly ProcessOptions[],
  work: (node: TrustNode) => Promise<T>,
): Promise<T> {
  const children = []
  for (const options of fakes) children.push(await node.start(options))
  const found = await work(node)
  for (const child of children) await child.end()
  return found
}

const USED = { ended: 'itself', status: 0 }
const ALONE = (kubelet: string) => ({
  given: { ...USED, says: { node: NODE, kubelet } },
  found: { ...USED, says: { node: NODE, kubelet } },
  // Of a flexVolume the driver is missing.
  apply: { ...USED, status: 3, says: expect.arrayContaining([['UnmountVolume', 'done', '']]) },
  mounted: false,
  ran: '',
})

describeUnless(noRoot, 'processes of others', () => {
  it('S32: who is called kubelet and is not root’s, or not of this node, changes nothing while the kubelet is stopped', async ({
    directory,
  }) => {
    await using node = await startNode(directory)
    const alone = await ask(node)
    expect(alone).toMatchObject(ALONE('stopped'))
    await besideBaits(node, async (baits) => {
      const [root, kubeconfig, name] = node.flags() as [string, string, string]
      const stranger = { name: 'kubelet', uid: STRANGER }
      const plugin = { name: 'kubelet', flags: [root, `--kubeconfig=${baits.kubeconfig}`, name] }
      const lies = [
        `--config=${baits.fifo}`,
        `--config-dir=${baits.configDirectory}`,
        `--pod-manifest-path=${baits.fifo}`,
        `--container-runtime-endpoint=unix://${baits.socket}`,
        `--volume-plugin-dir=${baits.plugins}`,
      ]
      const fakes: ProcessOptions[] = [
        { ...stranger, flags: [root, kubeconfig, name, ...lies] },
        { ...stranger, flags: [`--root-dir=${baits.root}`, kubeconfig, '--hostname-override=node-2'] },
        stranger,
        { ...plugin, name: 'acme-agent', uid: STRANGER },
        { ...plugin, through: [...OWN_MOUNTS, ...AS_STRANGER], inside: baits.replaceLoader },
        { ...plugin, uid: STRANGER, through: AS_ROOTLESS, inside: baits.replaceLoader },
        { ...plugin, through: ['setpriv', `--ruid=${STRANGER}`] },
        { ...plugin, through: ['unshare', '-U', '--map-root-user'] },
        { ...plugin, through: ['unshare', ...OWN_PIDS] },
      ]
      expect(await besideAll(node, fakes, ask)).toEqual(alone)
      expect(baits.asked()).toEqual([])
    })
  })

  it('S32: nor beside the kubelet; and its child that has not begun its own program is no second kubelet (S8)', async ({
    directory,
  }) => {
    await using node = await startNode(directory, 'forks')
    const alone = await ask(node)
    expect(alone).toMatchObject(ALONE('running'))
    await besideBaits(node, async (baits) => {
      const flags = [`--root-dir=${baits.root}`, `--kubeconfig=${baits.kubeconfig}`, `--hostname-override=${NODE}`]
      const fake = { name: 'kubelet', flags, uid: STRANGER }
      const fakes = [fake, { ...fake, through: AS_ROOTLESS, inside: baits.replaceLoader }]
      expect(await besideAll(node, fakes, ask)).toEqual(alone)
      expect(baits.asked()).toEqual([])
    })
  })

  it("S32: of a pod's container nothing is believed, run or loaded, though it has root's uid and the host's PIDs", async ({
    directory,
  }) => {
    await using node = await startNode(directory)
    await besideBaits(node, async (baits) => {
      const [root, , name] = node.flags() as [string, string, string]
      const flags = [root, `--kubeconfig=${baits.kubeconfig}`, name]
      const child = await node.start({
        name: 'kubelet',
        flags,
        through: OWN_MOUNTS,
        inside: baits.replaceLoader,
      })
      const cgroup = `${directory}/cgroup`
      writeFileSync(cgroup, `0::/kubepods.slice/kubepods-pod${podUid(1).replaceAll('-', '_')}.slice/cri-a.scope\n`)
      sh('mount', '--bind', cgroup, `/proc/${child.pid}/cgroup`)
      const plan = await node.volctl(['plan', ...given(node)])
      const apply = await node.volctl(['apply', '--yes', ...given(node)])
      sh('umount', `/proc/${child.pid}/cgroup`)
      expect(essence(plan)).toMatchObject({ node: NODE, kubelet: 'stopped' })
      // That the pod lives is another matter: the API does not know it (S29).
      expect({ status: apply.status, code: codeOf(apply) }).toEqual({ status: 4, code: 'OutageSuspected' })
      expect({ ran: node.marker.read(), asked: baits.asked(), mounted: node.isMounted() }).toEqual({
        ran: '',
        asked: [],
        mounted: true,
      })
    })
  })

  it('S32: who is called containerd refuses nothing, unless it is root in the PID namespace of the node (S6)', async ({
    directory,
  }) => {
    await using node = await startNode(directory)
    const there = `${node.root}/pods/extra`
    mkdirSync(there, { recursive: true })
    // What only they see, under the root directory.
    const runtime = { name: 'containerd', inside: `mount -t tmpfs tmpfs ${there}` }
    const others: ProcessOptions[] = [
      { ...runtime, through: [...OWN_MOUNTS, ...AS_STRANGER] },
      // As docker in docker, and docker without root.
      { ...runtime, through: [...OWN_MOUNTS, ...OWN_PIDS] },
      { ...runtime, uid: STRANGER, through: [...AS_ROOTLESS, ...OWN_PIDS] },
    ]
    expect(await besideAll(node, others, doing)).toEqual(DONE)
    expect(await besideAll(node, [{ ...runtime, through: OWN_MOUNTS }], doing)).toEqual(WRONG_NAMESPACE)
  })

  it("S32: one of another user does not make volctl's PID namespace the node's (S7)", async ({ directory }) => {
    await using node = await startNode(directory)
    expect(await doing(node, inPidNamespace(directory, 'stranger', AS_STRANGER))).toEqual(WRONG_NAMESPACE)
    // Control: as in a node that is a container itself.
    expect(await doing(node, inPidNamespace(directory, 'root', ['env']))).toEqual(DONE)
  })
})

const DONE = { status: 0, mounted: false }
const WRONG_NAMESPACE = { status: 4, code: 'WrongNamespace', mounted: true }

async function doing(node: TrustNode, script?: string): Promise<object> {
  makeVolume(node.root, 1)
  const run = await node.volctl(['apply', '--yes', ...given(node)], script === undefined ? {} : { script })
  return { status: run.status, code: codeOf(run), mounted: node.isMounted() }
}

/** A PID namespace in which only this process is beside volctl, in the same mount namespace as its first process. */
function inPidNamespace(directory: string, name: string, as: readonly string[]): string {
  const [ready, held] = [`${directory}/${name}-ready`, `${directory}/${name}-held`]
  sh('mkfifo', '-m', '666', ready, held)
  const inside = `${directory}/${name}.sh`
  const beside = `${as.join(' ')} ${directory}/bin/containerd -p -c 'echo ready > ${ready}; read -r line < ${held}'`
  writeFileSync(inside, `${beside} &\nread -r line < ${ready}\n"$@"\ns=$?\nkill $!\nexit $s\n`)
  return `exec unshare -m --propagation slave -p -f --mount-proc --kill-child sh ${inside} "$@"`
}
