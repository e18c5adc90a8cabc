/** A node for trials: an API server, a runtime and two CSI drivers that are real, and a kubelet that is down. */
import { mkdirSync } from 'node:fs'
import { attachmentName, csiUniqueName } from '../../../src/core/volumes/volume-names.ts'
import type { TestApiServer } from '../../helpers/api-server/start.ts'
import type { CsiDriver } from '../../helpers/csi-driver/start.ts'
import { startNodeParts } from '../../helpers/node-parts.ts'
import { attachmentObject, boundVolume, csiDriverObject, csiNodeObject } from '../../helpers/objects.ts'
import { OnDisk } from '../../helpers/pod-files.ts'
import { HERE_ONLY, MACHINE, NAMESPACE, NODE, nodeWith, pod } from '../../helpers/scene/api-objects.ts'
import { runUnjudged } from '../../helpers/scene/volctl.ts'
import { planOf } from '../safety/broken-scene.ts'

/** ext4 on loop devices. */
const DISK_DRIVER = 'disk.example.com'
/** Directories of the node's own file system. */
const DIRECTORY_DRIVER = 'directory.example.com'

/** The one pod that is in the API and runs, so that the witnesses can prove their sight. */
const ALIVE = { name: 'alive-0', uid: '99999999-2222-4333-8444-000000000001' }

export interface PersistentVolume {
  readonly name: string
  readonly mode: 'Filesystem' | 'Block'
  /** Of a CSI volume; what the attacher said of the disk is its metadata. */
  readonly csi?: {
    readonly driver: string
    readonly handle: string
    readonly metadata?: Readonly<Record<string, string>>
  }
  /** Of a local one. */
  readonly path?: string
}

export type TrialNode = Awaited<ReturnType<typeof startTrialNode>>

export async function startTrialNode(directory: string) {
  const root = `${directory}/kubelet`
  mkdirSync(`${root}/pods`, { recursive: true, mode: 0o750 })
  const running = { uid: ALIVE.uid, namespace: NAMESPACE, name: ALIVE.name, state: 'SANDBOX_READY', containers: [] }
  const parts = await startNodeParts(directory, {
    rootDir: root,
    api: { objects: [pod({ ...ALIVE, volumes: [], others: [] }, '')], nodeName: NODE },
    drivers: [
      { name: DISK_DRIVER, backend: 'loop', stateDir: `${directory}/disks` },
      { name: DIRECTORY_DRIVER, backend: 'bind', stateDir: `${directory}/directories` },
    ],
    host: { ...MACHINE, bootTime: new Date(Date.now() - 86_400_000).toISOString() },
  })
  const { api, env } = parts
  const [disks, directories] = parts.drivers as [CsiDriver, CsiDriver]
  parts.setAlive([running])
  new OnDisk(root).podDirectory(ALIVE.uid)
  return {
    directory,
    root,
    disks,
    directories,
    /** Tells the API server of these volumes alone: attached and reported in use where they are of a driver. */
    setVolumes: (volumes: readonly PersistentVolume[]) => setVolumes(api, volumes),
    plan: () => planOf({ env }),
    /** Everything that may be done. */
    apply: () => runUnjudged({ env }, ['apply', '--orphans', '--yes', '-o', 'ndjson']),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  }
}

let earlier: readonly PersistentVolume[] = []

function setVolumes(api: TestApiServer, volumes: readonly PersistentVolume[]): void {
  for (const { name, csi } of earlier) {
    api.remove('PersistentVolume', name)
    api.remove('PersistentVolumeClaim', name, NAMESPACE)
    if (csi) api.remove('VolumeAttachment', attachmentName(csi.handle, csi.driver, NODE))
  }
  earlier = volumes
  api.put(...nodeObjects(volumes), ...volumes.flatMap(volumeObjects))
}

function nodeObjects(volumes: readonly PersistentVolume[]): object[] {
  const drivers = [DISK_DRIVER, DIRECTORY_DRIVER]
  return [
    nodeWith(volumes.flatMap(({ csi }) => (csi ? [csiUniqueName(csi.driver, csi.handle)] : []))),
    csiNodeObject(NODE, drivers),
    ...drivers.map((name) => csiDriverObject(name, { podInfoOnMount: false, volumeLifecycleModes: ['Persistent'] })),
  ]
}

function volumeObjects({ name, mode: volumeMode, csi, path = '' }: PersistentVolume): object[] {
  const source = csi
    ? { csi: { driver: csi.driver, volumeHandle: csi.handle, ...(volumeMode === 'Filesystem' && { fsType: 'ext4' }) } }
    : { local: { path }, nodeAffinity: HERE_ONLY }
  const { claim, volume } = boundVolume(name, { volumeMode, ...source }, { name, namespace: NAMESPACE })
  if (csi === undefined) return [claim, volume]
  const attachment = attachmentObject(csi.driver, csi.handle, name, NODE)
  const status = { attached: true, ...(csi.metadata && { attachmentMetadata: csi.metadata }) }
  return [claim, volume, { ...attachment, status }]
}
