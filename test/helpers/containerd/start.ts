import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, credentials } from '@grpc/grpc-js'
import { noMounts } from '../namespace.ts'
import { makeImage } from './image.ts'

const BUSYBOX = '/bin/busybox'
const IMAGE = 'volctl.test/pause:1'

/** What is missing for a containerd of our own; undefined when nothing is. */
export function containerdMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'containerd needs root'
  for (const program of ['containerd', 'ctr', 'runc']) {
    try {
      execFileSync('which', [program], { stdio: 'ignore' })
    } catch {
      return `${program} is not installed`
    }
  }
  if (!existsSync(BUSYBOX)) return 'busybox-static is not installed'
  return noMounts
}

export interface PodIdentity {
  readonly uid: string
  readonly namespace: string
  readonly name: string
}

/** A real container runtime with its own directories, sockets and mounts. */
export interface Containerd {
  readonly endpoint: string
  /** Starts a sandbox on the host's network with one running container "c"; @returns their ids. */
  runPod(pod: PodIdentity): Promise<{ readonly sandboxId: string; readonly containerId: string }>
  stopContainer(id: string): Promise<void>
  stopSandbox(id: string): Promise<void>
  removeSandbox(id: string): Promise<void>
  /** Removes every sandbox that it ran, then ends it. */
  stop(): Promise<void>
}

export async function startContainerd(directory: string): Promise<Containerd> {
  const socket = join(directory, 'c.sock')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'config.toml'), config(directory, socket))
  const log = join(directory, 'log')
  // Its mounts stay in their own namespace, and go with it.
  const command = `exec containerd --config ${directory}/config.toml > ${log} 2>&1`
  const child = spawn('unshare', ['-m', 'sh', '-c', command], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  const ctr = (...args: string[]): string =>
    execFileSync('ctr', ['--address', socket, '--namespace', 'k8s.io', ...args], { encoding: 'utf8', stdio: 'pipe' })
  try {
    await untilReady(ctr, () => child.exitCode !== null)
    const archive = makeImage(join(directory, 'image'), IMAGE, BUSYBOX, ['sleep', '100000'])
    ctr('images', 'import', '--snapshotter', 'native', archive)
  } catch (cause) {
    await end()
    throw new Error(`containerd did not start: ${readFileSync(log, 'utf8').slice(-2000)}`, { cause })
  }

  const client = new Client(`unix:${socket}`, credentials.createInsecure(), { 'grpc.default_authority': 'localhost' })
  const call = (method: string, ...fields: readonly Buffer[]): Promise<Buffer> => {
    const path = `/runtime.v1.RuntimeService/${method}`
    const same = (bytes: Buffer): Buffer => bytes
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, same, same, Buffer.concat(fields), (error, reply) =>
        error ? reject(error) : resolve(reply ?? Buffer.alloc(0)),
      )
    })
  }
  const sandboxes = new Set<string>()
  const removeSandbox = async (id: string): Promise<void> => {
    await call('StopPodSandbox', field(1, id))
    await call('RemovePodSandbox', field(1, id))
    sandboxes.delete(id)
  }
  return {
    endpoint: `unix://${socket}`,
    runPod: async (pod) => {
      const sandboxConfig = sandboxConfigOf(pod)
      const sandboxId = firstText(await call('RunPodSandbox', field(1, sandboxConfig)))
      sandboxes.add(sandboxId)
      const container = field(2, [
        field(1, [field(1, 'c')]),
        field(2, [field(1, IMAGE)]),
        mapField(9, labelsOf(pod, 'c')),
      ])
      const created = await call('CreateContainer', field(1, sandboxId), container, field(3, sandboxConfig))
      const containerId = firstText(created)
      await call('StartContainer', field(1, containerId))
      return { sandboxId, containerId }
    },
    stopContainer: async (id) => void (await call('StopContainer', field(1, id))),
    stopSandbox: async (id) => void (await call('StopPodSandbox', field(1, id))),
    removeSandbox,
    stop: async () => {
      for (const id of sandboxes) await removeSandbox(id).catch(() => undefined)
      client.close()
      await end()
    },
  }
}

async function untilReady(ctr: (...args: string[]) => string, ended: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000
  for (;;) {
    try {
      ctr('version')
      return
    } catch (error) {
      if (ended() || Date.now() > deadline) throw error
      await sleep(50)
    }
  }
}

/** `metadata` 1, `labels` 6, `linux` 8 with the host's network: no CNI is needed. */
function sandboxConfigOf(pod: PodIdentity): Buffer {
  const metadata = [field(1, pod.name), field(2, pod.uid), field(3, pod.namespace)]
  const hostNetwork = field(2, [field(1, [numberField(1, 2)])])
  return Buffer.concat([field(1, metadata), mapField(6, labelsOf(pod)), field(8, [hostNetwork])])
}

function labelsOf(pod: PodIdentity, container?: string): Record<string, string> {
  return {
    'io.kubernetes.pod.uid': pod.uid,
    'io.kubernetes.pod.name': pod.name,
    'io.kubernetes.pod.namespace': pod.namespace,
    ...(container !== undefined && { 'io.kubernetes.container.name': container }),
  }
}

function config(directory: string, socket: string): string {
  const cri = 'io.containerd.grpc.v1.cri'
  return `version = 2
root = "${directory}/root"
state = "${directory}/state"
disabled_plugins = [${['aufs', 'btrfs', 'zfs', 'devmapper', 'overlayfs'].map((name) => `"io.containerd.snapshotter.v1.${name}"`).join(', ')}]
[grpc]
  address = "${socket}"
[ttrpc]
  address = "${socket}.ttrpc"
[plugins."${cri}"]
  sandbox_image = "${IMAGE}"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  stream_server_port = "0"
  [plugins."${cri}".containerd]
    snapshotter = "native"
    default_runtime_name = "runc"
  [plugins."${cri}".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`
}

// Protocol buffers by hand, for the few CRI calls that only this test makes (volctl itself starts no pods). Field numbers: k8s.io/cri-api
// runtime.v1.

/** A field with a length: text or an inner message; lists of fields are messages. */
function field(number: number, content: string | Buffer | readonly Buffer[]): Buffer {
  const bytes = Array.isArray(content) ? Buffer.concat(content) : Buffer.from(content as string | Buffer)
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function numberField(number: number, value: number): Buffer {
  return Buffer.concat([varint(number << 3), varint(value)])
}

function mapField(number: number, values: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(Object.entries(values).map(([key, value]) => field(number, [field(1, key), field(2, value)])))
}

/** The text of the first field, if it is one: the id in every answer here. */
function firstText(message: Buffer): string {
  const length = message[1] ?? 0
  return message.subarray(2, 2 + length).toString()
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest >>>= 7
  }
  return Buffer.from([...bytes, rest])
}
