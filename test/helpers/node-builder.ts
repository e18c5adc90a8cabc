/** Small nodes made by hand, for tables of the planner: a healthy, empty node, and what a test puts on it. */

import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { digest } from '../../src/core/trust/digest.ts'
import type { ApiSnapshot, NodeSnapshot, NodeState, TreeEntry } from '../../src/core/volumes/snapshot.ts'
import { attachmentName, csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { BOOT, DescribedNode, DRIVER, HOUR_AGO } from './described-node.ts'
import { csiDriverObject, csiNodeObject } from './objects.ts'
import type { Mounted } from './pod-files.ts'

export { DRIVER, HOUR_AGO, NOW } from './described-node.ts'
export const ROOT = '/var/lib/kubelet'
export const BEFORE_BOOT = Date.parse(BOOT) / 1000 - 3600

/** A UID that is a proper RFC 4122 UUID, by number. */
export function uid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

export class NodeBuilder extends DescribedNode {
  readonly tree = new Map<string, TreeEntry>()
  readonly mounts: string[] = []
  loops: { name: string; backingFile: string }[] = []
  flexDrivers: NonNullable<NodeSnapshot['flexDrivers']>[number][] = []
  #nextId = 100
  readonly #mounted = new Map<string, number>()

  constructor() {
    super()
    this.mountLine('/', '/', '254:0', 'ext4', '/dev/vda')
    this.dir('.')
    this.dir('pods')
    this.dir('plugins')
    // A running pod, so that the runtime can prove that it sees pods.
    this.livingPod(uid(1), 'witness')
  }

  file(path: string, content?: string, mtime = HOUR_AGO, size = content?.length ?? 0): this {
    return this.entry({ path, type: 'file', mode: '644', size, mtime, content })
  }

  link(path: string, target: string): this {
    return this.entry({ path, type: 'link', target })
  }

  /** As read: of a file's content the size and its digest, where it is no state file. */
  override entry({ content, ...entry }: TreeEntry): this {
    const { mtime = HOUR_AGO } = entry
    const parts = entry.path.split('/')
    for (let i = 1; i < parts.length; i += 1) {
      const parent = parts.slice(0, i).join('/')
      if (!this.tree.has(parent)) this.tree.set(parent, { path: parent, type: 'dir', mode: '750', mtime })
    }
    const isState = /(?:vol_data|iscsi)\.json$/.test(entry.path)
    const read = isState ? { content } : { digest: digest(Buffer.from(content ?? '')) }
    const size = content?.length ?? 0
    this.tree.set(entry.path, { mtime, ...(content !== undefined && { size, ...read }), ...entry } as TreeEntry)
    return this
  }

  /** A mount below the root directory; the mount point keeps only path and type in the tree. */
  override mount(path: string, given: Mounted = {}): this {
    const { dev = `0:${this.#nextId}`, root = '/', fsType = 'tmpfs', type = 'dir' } = given
    if (!this.tree.has(path)) this.entry({ path, type })
    else this.tree.set(path, { path, type })
    return this.mountLine(`${ROOT}/${path}`, root, dev, fsType, given.source ?? fsType)
  }

  /** @param propagation optional fields; default: a separate peer group */
  mountLine(
    point: string,
    root: string,
    dev: string,
    fsType: string,
    source: string,
    propagation = `shared:${this.#nextId}`,
  ): this {
    const octal = (text: string): string =>
      text.replace(/[ \t\n\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`)
    this.mounts.push(
      `${this.#nextId} ${this.#parentOf(point)} ${dev} ${octal(root)} ${octal(point)} rw,relatime ${propagation} - ${fsType} ${source} rw`,
    )
    this.#mounted.set(point, this.#nextId)
    this.#nextId += 1
    return this
  }

  /** The newest mount on the path itself or on the nearest directory above. */
  #parentOf(point: string): number {
    for (let path = point; path !== ''; path = path.slice(0, path.lastIndexOf('/'))) {
      const id = this.#mounted.get(path)
      if (id !== undefined) return id
    }
    return this.#mounted.get('/') ?? 1
  }

  /** A staged CSI file system on its own device. */
  staged(handle: string, dev: string, { stateFile = true } = {}): this {
    const dir = csiGlobalDir(DRIVER, handle)
    this.mount(`${dir}/globalmount`, { dev, fsType: 'ext4', source: `/dev/loop${dev.split(':')[1]}` })
    if (stateFile) this.file(`${dir}/vol_data.json`, JSON.stringify({ driverName: DRIVER, volumeHandle: handle }))
    return this
  }

  /** A pod's published CSI file system. */
  published(podUid: string, name: string, dev: string, { handle = name, stateFile = true } = {}): this {
    const dir = `pods/${podUid}/volumes/kubernetes.io~csi/${name}`
    this.mount(`${dir}/mount`, { dev, fsType: 'ext4', source: `/dev/loop${dev.split(':')[1]}` })
    if (stateFile) this.file(`${dir}/vol_data.json`, volumeData(name, handle))
    return this
  }

  /** A sub-path of a volume, mounted from its device for container c. */
  leaf(podUid: string, name: string, dev: string): this {
    return this.mount(`pods/${podUid}/volume-subpaths/${name}/c/0`, { dev, root: '/sub', fsType: 'ext4' })
  }

  /** A pod that lives, and its volume: attached, staged and mounted. */
  served(podUid: string, podName: string, volume = 'pv-1', dev = '7:1'): this {
    this.persistentVolume(volume).livingPod(podUid, podName, [claimOf(volume)])
    return this.published(podUid, volume, dev).staged(volume, dev)
  }

  /** What a pod that is gone has left: its volume, attached, staged and mounted. */
  left(podUid: string, volume = 'pv-1', dev = '7:1'): this {
    return this.persistentVolume(volume).published(podUid, volume, dev).staged(volume, dev)
  }

  /** What is mounted on this path, from the root directory, does not answer. */
  dead(path: string, error = 'ENOTCONN'): this {
    return this.with({ deadMounts: [...(this.override.deadMounts ?? []), { path: `${ROOT}/${path}`, error }] })
  }

  override api(): ApiSnapshot {
    const csiDrivers = this.drivers.map((name) => csiDriverObject(name))
    return { ...super.api(), csiDrivers, csiNode: csiNodeObject('node-1', this.drivers), ...this.overrideApi }
  }

  build(): NodeState {
    const snapshot = this.snapshot({
      rootDir: ROOT,
      mountinfo: `${this.mounts.join('\n')}\n`,
      tree: [...this.tree.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      blockDevices: this.loops,
      flexDrivers: this.flexDrivers,
      csiSockets: this.drivers.map((driver) => ({
        path: `plugins_registry/${driver}-reg.sock`,
        driver,
        endpoint: `plugins/${driver}/csi.sock`,
        versions: ['1.0.0'],
        capabilities: ['STAGE_UNSTAGE_VOLUME'],
        registered: true,
      })),
    })
    return { snapshot, mounts: parseMountinfo(snapshot.mountinfo ?? '') }
  }
}

/** What a pod's spec has of the claim that `persistentVolume` makes. */
export function claimOf(volume = 'pv-1', name = 'data') {
  return { name, persistentVolumeClaim: { claimName: `claim-${volume}` } }
}

export function volumeData(name: string, handle: string, lifecycle = 'Persistent'): string {
  return `${JSON.stringify({
    attachmentID: attachmentName(handle, DRIVER, 'node-1'),
    driverName: DRIVER,
    nodeName: 'node-1',
    specVolID: name,
    volumeHandle: handle,
    volumeLifecycleMode: lifecycle,
  })}\n`
}

export function node(): NodeBuilder {
  return new NodeBuilder()
}
