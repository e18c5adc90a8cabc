/**
 * What a test says of a node, once: its pods, claims, volumes, attachments, and what the kubelet made for them. It becomes a snapshot
 * (node-builder.ts), or a node with a real disk and real mounts (live-node.ts).
 */

import type {
  Node,
  ObjectMeta,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodVolumeSource,
  VolumeAttachment,
} from '../../src/core/kube/api/objects.ts'
import type { ApiSnapshot, NodeSnapshot } from '../../src/core/volumes/snapshot.ts'
import { csiUniqueName } from '../../src/core/volumes/volume-names.ts'
import {
  apiSnapshot,
  attachedTo,
  attachmentObject,
  boundVolume,
  MACHINE,
  nodeObject,
  podObject,
  ready,
} from './objects.ts'
import { PodFiles } from './pod-files.ts'

export const NOW = '2026-11-21T12:00:00Z'
export const HOUR_AGO = Date.parse(NOW) / 1000 - 3600
export const BOOT = '2026-11-20T00:00:00Z'
export const DRIVER = 'disk.test'

/** Of a pod, otherwise than by default. */
type PodGiven = NonNullable<Parameters<typeof podObject>[2]> & {
  readonly metadata?: Partial<Pod['metadata']>
  readonly phase?: string
  readonly deleted?: boolean
}

/** Parts that a test gives; undefined: there is none. */
type Parts<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

export abstract class DescribedNode extends PodFiles {
  pods: Pod[] = []
  readonly claims: PersistentVolumeClaim[] = []
  readonly volumes: PersistentVolume[] = []
  attachments: VolumeAttachment[] = []
  attached: string[] = []
  inUse: string[] = []
  override: Partial<NodeSnapshot> = {}
  overrideApi: Partial<ApiSnapshot> = {}
  sandboxes: NonNullable<NodeSnapshot['runtime']>['pods'][number][] = []
  /** UIDs of pods that have processes. */
  processes: string[] = []
  drivers = [DRIVER]

  dir(path: string, mtime = HOUR_AGO): this {
    return this.entry({ path, type: 'dir', mode: '750', mtime })
  }

  pod(uid: string, name: string, volumes: readonly PodVolumeSource[] = [], given: PodGiven = {}): this {
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

  /** With these parts of the snapshot in the place of its own. */
  with(parts: Parts<NodeSnapshot>): this {
    Object.assign(this.override, parts)
    return this
  }

  /** With a Node object that is otherwise. */
  withNode(change: (was: Node) => Partial<Node>): this {
    const { node } = this.api()
    if (node == null) throw new Error('no node')
    return this.withApi({ node: { ...node, ...change(node) } })
  }

  /** With these answers of the API in the place of its own. */
  withApi(parts: Parts<ApiSnapshot>): this {
    Object.assign(this.overrideApi, parts)
    return this
  }

  /** Of this list the API server refuses all. */
  unlisted(list: keyof ApiSnapshot): this {
    const resource = list.toLowerCase()
    const error = { resource, status: 403, reason: 'Forbidden', message: `${resource} is forbidden` }
    return this.withApi({ [list]: [], errors: [error] })
  }

  /** What the API says of it. */
  api(): ApiSnapshot {
    return apiSnapshot({
      node: nodeObject({ ...ready('2026-11-21T11:58:00Z'), ...attachedTo(this.attached), volumesInUse: this.inUse }),
      pods: this.pods,
      persistentVolumeClaims: this.claims,
      persistentVolumes: this.volumes,
      volumeAttachments: this.attachments,
      ...this.overrideApi,
    })
  }

  /** @param parts what was read of the disk, the mounts and the devices */
  protected snapshot(parts: Partial<NodeSnapshot> & Pick<NodeSnapshot, 'rootDir'>): NodeSnapshot {
    return {
      apiVersion: 'volctl.io/v1',
      kind: 'NodeSnapshot',
      nodeName: 'node-1',
      bootTime: BOOT,
      ...MACHINE,
      capturedAt: NOW,
      api: this.api(),
      runtime: { source: 'cri', endpoint: 'unix:///run/containerd/containerd.sock', pods: this.sandboxes },
      processes: this.processes,
      deadMounts: [],
      staticPods: { readable: true, manifests: [] },
      kubelet: { running: false, mayReturn: false },
      flexDrivers: [],
      ...parts,
      ...this.override,
    }
  }
}
