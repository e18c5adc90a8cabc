/** Small nodes made by hand, for tables of the planner: a healthy, empty node, and what a test puts on it. */

import type { NodeState } from '../../src/core/model/node-state.ts'
import type {
  Node,
  ObjectMeta,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodVolumeSource,
  VolumeAttachment,
} from '../../src/core/model/objects.ts'
import type { ApiSnapshot, NodeSnapshot, TreeEntry } from '../../src/core/model/snapshot.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import { attachmentName, csiGlobalDir, csiUniqueName } from '../../src/core/names/volume-names.ts'
import { digest } from '../../src/core/trust/digest.ts'
import {
  apiSnapshot,
  attachedTo,
  attachmentObject,
  boundVolume,
  csiDriverObject,
  csiNodeObject,
  MACHINE,
  nodeObject,
  podObject,
  ready,
} from './objects.ts'
import { type Mounted, PodFiles } from './pod-files.ts'

export const ROOT = '/var/lib/kubelet'
export const NOW = '2026-11-21T12:00:00Z'
const BOOT = '2026-11-20T00:00:00Z'
export const HOUR_AGO = Date.parse(NOW) / 1000 - 3600
export const BEFORE_BOOT = Date.parse(BOOT) / 1000 - 3600
export const DRIVER = 'disk.test'

/** A UID that is a proper RFC 4122 UUID, by number. */
export function uid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

/** What every node of the tests is called. */
export const NODE_SNAPSHOT = {
  apiVersion: 'volctl.io/v1',
  kind: 'NodeSnapshot',
  nodeName: 'node-1',
  bootTime: BOOT,
  ...MACHINE,
} as const

/** Of a pod, otherwise than by default. */
type PodGiven = NonNullable<Parameters<typeof podObject>[2]> & { readonly metadata?: Partial<Pod['metadata']> }

/** Parts that a test gives; undefined: there is none. */
type Parts<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

export class NodeBuilder extends PodFiles {
  readonly tree = new Map<string, TreeEntry>()
  readonly mounts: string[] = []
  readonly pods: Pod[] = []
  readonly claims: PersistentVolumeClaim[] = []
  readonly volumes: PersistentVolume[] = []
  readonly attachments: VolumeAttachment[] = []
  readonly attached: string[] = []
  readonly inUse: string[] = []
  override: Partial<NodeSnapshot> = {}
  overrideApi: Partial<ApiSnapshot> = {}
  sandboxes: NonNullable<NodeSnapshot['runtime']>['pods'][number][] = []
  processes: string[] = []
  loops: { name: string; backingFile: string }[] = []
  drivers = [DRIVER]
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

  dir(path: string, mtime = HOUR_AGO): this {
    return this.entry({ path, type: 'dir', mode: '750', mtime })
  }

  file(path: string, content?: string, mtime = HOUR_AGO, size = content?.length ?? 0): this {
    return this.entry({ path, type: 'file', mode: '644', size, mtime, ...(content !== undefined && { content }) })
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

  pod(
    uid: string,
    name: string,
    volumes: readonly PodVolumeSource[] = [],
    given: PodGiven & { readonly phase?: string; readonly deleted?: boolean } = {},
  ): this {
    const { phase = 'Running', deleted = false, metadata, status, ...rest } = given
    const deletion = deleted ? { deletionTimestamp: NOW } : {}
    this.pods.push(
      podObject({ uid, name, ...deletion, ...metadata }, volumes, { status: { phase, ...status }, ...rest }),
    )
    return this
  }

  livingPod(podUid: string, name: string, volumes: readonly PodVolumeSource[] = [], given: PodGiven = {}): this {
    this.pod(podUid, name, volumes, given)
    this.dir(`pods/${podUid}`)
    return this.running(podUid, name)
  }

  running(podUid: string, name = podUid): this {
    this.sandboxes.push({
      uid: podUid,
      namespace: 'default',
      name,
      state: 'SANDBOX_READY',
      containers: [{ name: 'c', state: 'CONTAINER_RUNNING' }],
    })
    this.processes.push(podUid)
    return this
  }

  /** A bound claim and its PersistentVolume; of CSI, attached and in use, where it has no other source. */
  persistentVolume(
    name: string,
    given: {
      handle?: string
      accessModes?: string[]
      mode?: string
      attached?: boolean
      inUse?: boolean
      source?: PersistentVolume['spec']
    } = {},
  ): this {
    const { handle = name, accessModes = ['ReadWriteOnce'], mode = 'Filesystem', source } = given
    const { attached = source === undefined, inUse = attached } = given
    const { claim, volume } = boundVolume(name, {
      accessModes,
      volumeMode: mode,
      ...(source ?? { csi: { driver: DRIVER, volumeHandle: handle } }),
    })
    this.claims.push(claim)
    this.volumes.push(volume)
    if (attached) this.attach(name, handle)
    if (inUse) this.inUse.push(csiUniqueName(DRIVER, handle))
    return this
  }

  attach(
    volume: string,
    handle = volume,
    nodeName = 'node-1',
    parts: { readonly metadata?: Partial<ObjectMeta>; readonly status?: NonNullable<VolumeAttachment['status']> } = {},
  ): this {
    const { metadata, ...made } = attachmentObject(DRIVER, handle, volume, nodeName)
    this.attachments.push({ ...made, ...parts, metadata: { ...metadata, resourceVersion: '7', ...parts.metadata } })
    if (nodeName === 'node-1') this.attached.push(csiUniqueName(DRIVER, handle))
    return this
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

  /** With these parts of the snapshot in the place of its own. */
  with(parts: Parts<NodeSnapshot>): this {
    Object.assign(this.override, parts)
    return this
  }

  /** With a Node object that is otherwise. */
  withNode(change: (was: Node) => Partial<Node>): this {
    const { node } = this.build().snapshot.api ?? {}
    if (node == null) throw new Error('no node')
    return this.withApi({ node: { ...node, ...change(node) } })
  }

  /** What is mounted on this path, from the root directory, does not answer. */
  dead(path: string, error = 'ENOTCONN'): this {
    return this.with({ deadMounts: [...(this.override.deadMounts ?? []), { path: `${ROOT}/${path}`, error }] })
  }

  /** With these answers of the API in the place of its own. */
  withApi(parts: Parts<ApiSnapshot>): this {
    Object.assign(this.overrideApi, parts)
    return this
  }

  build(): NodeState {
    const snapshot: NodeSnapshot = {
      ...NODE_SNAPSHOT,
      capturedAt: NOW,
      rootDir: ROOT,
      api: apiSnapshot({
        node: nodeObject({
          ...ready('2026-11-21T11:58:00Z'),
          ...attachedTo(this.attached),
          volumesInUse: this.inUse,
        }),
        pods: this.pods,
        persistentVolumeClaims: this.claims,
        persistentVolumes: this.volumes,
        volumeAttachments: this.attachments,
        csiDrivers: this.drivers.map((name) => csiDriverObject(name)),
        csiNode: csiNodeObject('node-1', this.drivers),
        ...this.overrideApi,
      }),
      mountinfo: `${this.mounts.join('\n')}\n`,
      tree: [...this.tree.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      runtime: { source: 'cri', endpoint: 'unix:///run/containerd/containerd.sock', pods: this.sandboxes },
      processes: this.processes,
      deadMounts: [],
      staticPods: { readable: true, manifests: [] },
      kubelet: { running: false, mayReturn: false },
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
      ...this.override,
    }
    return { snapshot, mounts: parseMountinfo(snapshot.mountinfo ?? '') }
  }
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
