/**
 * The built volctl beside a process that is called kubelet, without a test host: where both stand is as it would be on a
 * node. All in a mount and PID namespace of its own, in which what volctl would write to is covered.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import type { Explanation, HoldersView } from '../../../src/core/explain/explanation.ts'
import { hostIdentity } from '../../../src/core/node/host-identity.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { startCriServer } from '../../helpers/cri-server/start.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { podUid, readMounts } from '../workers/real-node.ts'

const LONG_AGO = 1_750_000_000

interface Place {
  readonly directory: string
  readonly root: string
  readonly api: TestApiServer
  /** The volume of a pod that is gone: a tmpfs that nothing has touched for long. */
  readonly volume: string
  /** Runs what follows this script, which has it in "$@". */
  apply(script?: string, env?: object): Promise<Result>
  /** What `explain` says of who holds the volume; the script as above. */
  holders(script?: string): Promise<HoldersView>
}

interface Result {
  readonly status: number | undefined
  readonly stderr: string
  readonly mounted: boolean
}

/** What a kubelet's process looks like: its name, and its command line. */
function startKubelet(
  { directory, api }: Place,
  root: string,
  options: { readonly cwd?: string } = {},
): Promise<ChildProcess> {
  const flags = [`--root-dir=${root}`, `--kubeconfig=${api.kubeconfig('admin')}`, '--hostname-override=node-1']
  return startProcess(directory, 'kubelet', 'echo ready; read -r line', flags, options)
}

async function startProcess(
  directory: string,
  name: string,
  script: string,
  flags: readonly string[] = [],
  options: { readonly cwd?: string } = {},
) {
  const program = `${directory}/${name}`
  if (!existsSync(program)) symlinkSync('/bin/bash', program)
  const child = spawn(program, ['-c', script, ...flags], { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function inPlace<T>(directory: string, use: (place: Place) => Promise<T>): Promise<T> {
  for (const path of ['/run', '/var/lib', '/etc/systemd/system']) {
    if (existsSync(path)) sh('mount', '-t', 'tmpfs', 'tmpfs', path)
  }
  const root = `${directory}/root`
  const volume = makeVolume(root)
  const { machineID, systemUUID, bootID } = hostIdentity()
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-1', uid: 'node' },
    status: { nodeInfo: { machineID, systemUUID, bootID } },
  }
  const api = await startApiServer({ objects: [node], nodeName: 'node-1' })
  const cri = await startCriServer({ socketPath: '/run/containerd/containerd.sock', pods: [] })
  const flags = ['--kubeconfig', api.kubeconfig('admin'), '-o', 'json']
  const run = async (script: string, args: readonly string[], env: object = {}) => {
    const child = spawn('sh', ['-c', script, 'sh', VOLCTL, ...args, ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    const said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        said[name] += text
      })
    }
    const [status] = (await once(child, 'close')) as [number | null]
    return { status: status ?? undefined, ...said }
  }
  try {
    return await use({
      directory,
      root,
      api,
      volume,
      apply: async (script = '"$@"', env = {}) => {
        const { status, stderr } = await run(script, ['apply', '--yes', '--orphans'], env)
        return { status, stderr, mounted: readMounts().at(volume).length > 0 }
      },
      holders: async (script = '"$@"') => {
        const { stdout, stderr } = await run(script, ['explain', volume])
        if (stdout === '') throw new Error(stderr)
        return (JSON.parse(stdout) as Explanation).holders
      },
    })
  } finally {
    await cri.stop()
    await api.stop()
  }
}

function makeVolume(root: string): string {
  const volume = `${root}/pods/${podUid(1)}/volumes/kubernetes.io~secret/v`
  mkdirSync(volume, { recursive: true })
  mkdirSync(`${root}/plugins`)
  sh('mount', '-t', 'tmpfs', 'tmpfs', volume)
  age(`${root}/pods`)
  return volume
}

function age(path: string): void {
  for (const name of readdirSync(path)) age(`${path}/${name}`)
  utimesSync(path, LONG_AGO, LONG_AGO)
}

const CHROOT =
  'd=$(mktemp -d); mount --rbind / "$d"; mount --make-rprivate "$d"; chroot "$d" "$@"; s=$?; umount -l "$d"; exit $s'

/** The device's driver is not installed, and will not be. */
const GIVEN_UP = '"$@" --driver-gone v/d'

await runScenario({
  /** Nothing is wrong: a kubelet runs beside us, and what was left long ago goes. */
  control: (directory) =>
    inPlace(directory, async (place) => {
      const kubelet = await startKubelet(place, place.root)
      const result = await place.apply()
      await end(kubelet)
      return result
    }),

  /** In a chroot, a user namespace and a PID namespace. */
  elsewhere: (directory) =>
    inPlace(directory, async (place) => {
      const kubelet = await startKubelet(place, place.root, { cwd: place.volume })
      const chroot = await place.apply(CHROOT)
      const user = await place.apply('exec unshare -Ur "$@"')
      const named = `--root-dir ${place.root} --node node-1`
      const pid = await place.apply(`exec unshare -pf --kill-child "$@" ${named}`)
      const sight = {
        here: await place.holders(),
        user: await place.holders('exec unshare -Ur "$@"'),
        // Its own /proc as well: of a process outside there is no trace.
        pid: await place.holders(`exec unshare -pf --mount-proc --kill-child "$@" ${named}`),
      }
      await end(kubelet)
      return { refusals: { chroot, user, pid }, sight, pid: kubelet.pid }
    }),

  /** The kubelet has a mount namespace of its own, and in it a volume that is not here. */
  foreignNamespace: (directory) =>
    inPlace(directory, async (place) => {
      const there = `${place.root}/pods/${podUid(2)}/volumes/kubernetes.io~secret/w`
      mkdirSync(there, { recursive: true })
      sh('umount', place.volume)
      age(`${place.root}/pods`)
      // The process that is called kubelet is the one inside: unshare(1) becomes it.
      const kubelet = spawn(
        'unshare',
        [
          '-m',
          '--propagation',
          'private',
          'sh',
          '-c',
          `mount -t tmpfs tmpfs ${there}; touch -d @${LONG_AGO} ${there}; exec "$@"`,
          'sh',
          ...kubeletCommand(place),
        ],
        { stdio: ['pipe', 'pipe', 'inherit'] },
      )
      await once(kubelet.stdout, 'data')
      const theirs = () =>
        sh(
          'nsenter',
          `--mount=/proc/${kubelet.pid}/ns/mnt`,
          'sh',
          '-c',
          `mountpoint -q ${there} && echo yes || echo no`,
        )
      const before = theirs()
      const result = await place.apply()
      const [after, exists] = [existsSync(there) && theirs(), existsSync(there)]
      await end(kubelet)
      return { status: result.status, before, after, exists }
    }),

  /** No kubelet runs, and the container runtime sees a mount under the root that is not here. */
  runtimeSeesMore: (directory) =>
    inPlace(directory, async (place) => {
      const there = `${place.root}/pods/${podUid(2)}/volumes/kubernetes.io~secret/w`
      mkdirSync(there, { recursive: true })
      symlinkSync('/bin/bash', `${directory}/containerd`)
      writeUnit(place)
      const inside = `mount -t tmpfs tmpfs ${there}; exec ${directory}/containerd -c 'echo ready; read -r line'`
      const runtime = spawn('unshare', ['-m', '--propagation', 'private', 'sh', '-c', inside], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      await once(runtime.stdout, 'data')
      const result = await place.apply()
      await end(runtime)
      return { ...result, exists: existsSync(there) }
    }),

  /** A second kubelet on this host; one without an API server. */
  several: (directory) =>
    inPlace(directory, async (place) => {
      mkdirSync(`${directory}/second`)
      const kubelets = [await startKubelet(place, place.root), await startKubelet(place, `${directory}/second`)]
      const two = await place.apply()
      for (const kubelet of kubelets) await end(kubelet)
      const standalone = await startProcess(directory, 'kubelet', 'echo ready; read -r line', [
        `--root-dir=${place.root}`,
        '--hostname-override=node-1',
      ])
      const alone = await place.apply()
      await end(standalone)
      return { two, alone }
    }),

  /** The Node bears one id of this host, and another one of somebody else's; beside a kubelet, its boot counts, too. */
  contradicting: (directory) =>
    inPlace(directory, async (place) => {
      const { machineID, systemUUID, bootID } = hostIdentity()
      const other = '7d0b1a52-9c3e-4f61-8a77-2b5e6c1d9f04'
      const says = (nodeInfo: object) =>
        place.api.put({
          ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'node' } },
          status: { nodeInfo: { machineID, systemUUID, bootID, ...nodeInfo } },
        })
      const kubelet = await startKubelet(place, place.root)
      await says({ machineID: other })
      const machine = await place.apply()
      await says({ systemUUID: other })
      const firmware = await place.apply()
      await says({ bootID: other })
      const boot = await place.apply()
      const elsewhere = await place.apply(`"$@" --accept-identity ${bootID}`)
      const accepted = await place.apply(`"$@" --accept-identity ${other}`)
      await end(kubelet)
      const journal = readdirSync('/var/lib/volctl').filter((name) => name.endsWith('.jsonl'))
      const said = journal.map((name) => readFileSync(`/var/lib/volctl/${name}`, 'utf8')).join('')
      return { machine, firmware, boot, elsewhere, accepted, journal: said.includes(`"acceptIdentity":["${other}"]`) }
    }),

  /** There is such a node, and it has this host's ids. */
  otherName: (directory) =>
    inPlace(directory, async (place) => {
      const { machineID, systemUUID, bootID } = hostIdentity()
      await place.api.put({
        ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-2', uid: 'other' } },
        status: { nodeInfo: { machineID, systemUUID, bootID } },
      })
      const kubelet = await startKubelet(place, place.root)
      const beside = await place.apply('"$@" --node node-2')
      await end(kubelet)
      const runtime = await startProcess(directory, 'containerd', 'echo ready; read -r line')
      writeUnit(place)
      const stopped = await place.apply('"$@" --node node-2')
      const own = await place.apply('"$@" --node NODE-1 --settle 0s')
      await end(runtime)
      return { beside, stopped, own }
    }),

  /** Its program is called otherwise, or is not seen at all: its flags, or who listens where it would. */
  byAnotherName: (directory) =>
    inPlace(directory, async (place) => {
      writeUnit(place)
      const runtime = await startProcess(directory, 'containerd', 'echo ready; read -r line')
      systemd(place, 'inactive', 'dead', 1)
      const device = makeStagedDevice(place)
      const [, , , ...flags] = kubeletCommand(place)
      const [root = '', kubeconfig = '', name = ''] = flags
      writeFileSync(`${directory}/c.yaml`, 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n')
      const programs: readonly (readonly [string, ...string[]])[] = [
        ['acme-node-agent', ...flags],
        ['kubelet-1.36', ...flags],
        ['hyperkube', 'kubelet', ...flags],
        ['node-main', kubeconfig, `--config=${directory}/c.yaml`, name],
        ['renamed', '--kubeconfig', kubeconfig.replace(/^.*=/, ''), '--root-dir', root.replace(/^.*=/, '')],
      ]
      const kept: Record<string, number> = {}
      for (const [program, ...args] of programs) {
        const kubelet = await startProcess(directory, program, 'echo ready; read -r line', args)
        await place.apply(GIVEN_UP)
        kept[program] = readMounts().at(device).length
        await end(kubelet)
      }
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      writeUnit(place, `--port=${port}`)
      await place.apply(GIVEN_UP)
      kept.listener = readMounts().at(device).length
      server.close()
      await once(server, 'close')
      // Controls: others with such flags, volctl itself, and a listener of uid 0 in a container (S32).
      const listen = `require('node:net').createServer().listen(${port}, '127.0.0.1', () => console.log('ready'))`
      const stranger = spawn('unshare', ['-p', '-f', '--kill-child', process.execPath, '-e', listen], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(stranger.stdout, 'data')
      const proxy = await startProcess(directory, 'kube-proxy', 'echo ready; read -r line', [kubeconfig, name])
      const beside = await place.apply(`exec sh -c '"$@"; exit $?' sh "$@" --driver-gone v/d ${root} --node node-1`)
      await end(proxy)
      await end(stranger)
      await end(runtime)
      return { kept, beside, left: readMounts().at(device).length }
    }),

  /** A kubelet that dies and is started again and again: no process, but its unit is about to start one. */
  crashLoop: (directory) =>
    inPlace(directory, async (place) => {
      writeUnit(place)
      // What shows that this PID namespace is the node's.
      const runtime = await startProcess(directory, 'containerd', 'echo ready; read -r line')
      const device = makeStagedDevice(place)
      systemd(place, 'activating', 'auto-restart')
      const restarting = await place.apply(GIVEN_UP)
      const kept = readMounts().at(device).length
      systemd(place, 'inactive', 'dead')
      const forgotten = await place.apply(GIVEN_UP)
      const still = readMounts().at(device).length
      systemd(place, 'inactive', 'dead', 1)
      const stopped = await place.apply(GIVEN_UP)
      await end(runtime)
      return { restarting, kept, forgotten, still, stopped, left: readMounts().at(device).length }
    }),
})

function kubeletCommand({ directory, root, api }: Place): readonly string[] {
  const program = `${directory}/kubelet`
  if (!existsSync(program)) symlinkSync('/bin/bash', program)
  const flags = [`--root-dir=${root}`, `--kubeconfig=${api.kubeconfig('admin')}`, '--hostname-override=node-1']
  return [program, '-c', 'echo ready; read -r line', ...flags]
}

/** How the kubelet that does not run would be started. */
function writeUnit(place: Place, ...more: readonly string[]): void {
  const [, , , ...own] = kubeletCommand(place)
  const flags = [...own, ...more]
  const unit = `[Service]\nExecStart=/usr/bin/kubelet ${flags.join(' ')}\n`
  writeFileSync('/etc/systemd/system/kubelet.service', unit)
}

/**
 * A systemctl(1) that says this of every unit, as if systemd ran: in the place of the real one, for on the caller's PATH none
 * is looked for.
 *
 * @param since when it became inactive, in microseconds since boot; 0: systemd does not say
 */
function systemd({ directory }: Place, active: string, sub: string, since = 0): void {
  mkdirSync('/run/systemd/system', { recursive: true })
  const said = [
    'LoadState=loaded',
    `ActiveState=${active}`,
    `SubState=${sub}`,
    'UnitFileState=enabled',
    `InactiveEnterTimestampMonotonic=${since}`,
  ]
  const program = `${directory}/systemctl-${active}`
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' ${said.join(' ')}\n`)
  chmodSync(program, 0o755)
  const real = '/usr/bin/systemctl'
  if (existsSync(real)) sh('mount', '--bind', program, real)
  else {
    sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/usr/local/bin')
    copyFileSync(program, '/usr/local/bin/systemctl')
  }
}

/** A tmpfs where an iSCSI disk would be mounted for all pods, which none wants. */
function makeStagedDevice({ root }: Place): string {
  const device = `${root}/plugins/kubernetes.io/flexvolume/v/d/mounts/x`
  mkdirSync(device, { recursive: true })
  sh('mount', '-t', 'tmpfs', 'tmpfs', device)
  return device
}
