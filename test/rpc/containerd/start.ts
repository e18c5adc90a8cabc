import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, credentials } from '@grpc/grpc-js'
import { noMounts } from '../../helpers/namespace.ts'
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
export async function startContainerd(directory: string) {
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
  const call = (method: string, fields: Fields): Promise<Buffer> => {
    const path = `/runtime.v1.RuntimeService/${method}`
    const same = (bytes: Buffer): Buffer => bytes
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, same, same, encode(fields), (error, reply) =>
        error ? reject(error) : resolve(reply ?? Buffer.alloc(0)),
      )
    })
  }
  const sandboxes = new Set<string>()
  const removeSandbox = async (id: string): Promise<void> => {
    await call('StopPodSandbox', { 1: id })
    await call('RemovePodSandbox', { 1: id })
    sandboxes.delete(id)
  }
  return {
    endpoint: `unix://${socket}`,
    /** Starts a sandbox with one running container "c"; @returns their ids. */
    runPod: async (pod: PodIdentity) => {
      // Metadata, labels, and of Linux the host's network: no CNI is needed.
      const sandbox = { 1: { 1: pod.name, 2: pod.uid, 3: pod.namespace }, 6: labelsOf(pod), 8: { 2: { 1: { 1: 2 } } } }
      const sandboxId = firstText(await call('RunPodSandbox', { 1: sandbox }))
      sandboxes.add(sandboxId)
      const container = { 1: { 1: 'c' }, 2: { 1: IMAGE }, 9: labelsOf(pod, 'c') }
      const containerId = firstText(await call('CreateContainer', { 1: sandboxId, 2: container, 3: sandbox }))
      await call('StartContainer', { 1: containerId })
      return { sandboxId, containerId }
    },
    stopContainer: async (id: string) => void (await call('StopContainer', { 1: id })),
    stopSandbox: async (id: string) => void (await call('StopPodSandbox', { 1: id })),
    removeSandbox,
    /** Removes every sandbox that it ran, then ends it. */
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

function labelsOf(pod: PodIdentity, container = ''): Fields[] {
  return [
    ...(['uid', 'name', 'namespace'] as const).map((key) => ({ 1: `io.kubernetes.pod.${key}`, 2: pod[key] })),
    ...(container === '' ? [] : [{ 1: 'io.kubernetes.container.name', 2: container }]),
  ]
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

/** A message, by the numbers of its fields. */
interface Fields {
  readonly [field: number]: string | number | Fields | readonly Fields[]
}

/** Protocol buffers by hand, for the few CRI calls that only this test makes: volctl itself starts no pods. */
function encode(fields: Fields): Buffer {
  const parts = Object.entries(fields).flatMap(([field, value]) =>
    (Array.isArray(value) ? (value as Fields[]) : [value as string | number | Fields]).map((each) => {
      if (typeof each === 'number') return Buffer.concat([varint(Number(field) << 3), varint(each)])
      const content = typeof each === 'string' ? Buffer.from(each) : encode(each)
      return Buffer.concat([varint((Number(field) << 3) | 2), varint(content.length), content])
    }),
  )
  return Buffer.concat(parts)
}

function varint(value: number): Buffer {
  return value < 128 ? Buffer.of(value) : Buffer.concat([Buffer.of((value & 127) | 128), varint(value >>> 7)])
}

/** The text of the first field, if it is one: the id in every answer here. */
function firstText(message: Buffer): string {
  return message.subarray(2, 2 + (message[1] ?? 0)).toString()
}
