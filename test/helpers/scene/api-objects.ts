/** Objects of a small cluster with one node, as an API server stores them. Made again, they are the same. */
import { randomBytes } from 'node:crypto'
import { csiUniqueName } from '../../../src/core/volumes/volume-names.ts'
import {
  attachmentObject,
  boundVolume,
  csiDriverObject,
  csiNodeObject,
  nodeObject,
  podObject,
  ready,
  reported,
} from '../objects.ts'

/** Each scene has its own driver: another test's volume of this name would be the same one, in use elsewhere (S8). */
export const DRIVER = `disk-${randomBytes(4).toString('hex')}.example.com`
export const NODE = 'worker-1'
export const NAMESPACE = 'shop'

/** Of the machine that the scene plays; the test host says the same. */
export const MACHINE = {
  machineID: '5a3f1c0e9b7d4c6e8f2a1b3c4d5e6f70',
  systemUUID: '5a3f1c0e-9b7d-4c6e-8f2a-1b3c4d5e6f70',
  bootID: '0d4c6e8f-2a1b-4c4d-9e6f-705a3f1c0e9b',
}

export interface SceneVolume {
  /** pv-NAME is the PersistentVolume, vol-NAME the handle, NAME the claim. */
  readonly name: string
  /** `local`: a directory of the node, no driver. */
  readonly kind: 'filesystem' | 'block' | 'local'
}

export const isCsi = ({ kind }: SceneVolume): boolean => kind !== 'local'
export const handleOf = ({ name }: SceneVolume): string => `vol-${name}`
export const pvOf = ({ name }: SceneVolume): string => `pv-${name}`

const created = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '')

export function node(attached: readonly SceneVolume[]): object {
  return nodeWith([...new Set(attached.filter(isCsi).map((volume) => csiUniqueName(DRIVER, handleOf(volume))))])
}

/** @param names of the volumes that are attached and reported in use */
export function nodeWith(names: readonly string[]): object {
  return nodeObject(
    {
      nodeInfo: { ...MACHINE, kubeletVersion: 'v1.36.2' },
      ...ready(created(3), { status: 'Unknown', lastTransitionTime: created(2) }),
      ...reported(names),
    },
    { name: NODE, creationTimestamp: created(9_000) },
  )
}

/** Driver, node registration, and what the pods' configMap and secret volumes show. */
export function clusterObjects(): object[] {
  const secret = Object.entries(PASSWORD).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  const metadata = (name: string): object => ({ name, namespace: NAMESPACE, uid: `uid-${name}` })
  return [
    csiDriverObject(DRIVER, { podInfoOnMount: false, volumeLifecycleModes: ['Persistent'], fsGroupPolicy: 'File' }),
    csiNodeObject(NODE, [DRIVER]),
    { kind: 'ConfigMap', metadata: metadata('settings'), data: SETTINGS },
    { kind: 'Secret', metadata: metadata('password'), type: 'Opaque', data: Object.fromEntries(secret) },
  ]
}

export const SETTINGS = { 'app.conf': 'greeting = hello\n' }
export const PASSWORD = { password: 'open sesame' }

/** Of a local volume. */
export const HERE_ONLY = {
  required: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [NODE] }] }] },
}

/** Claim and bound volume; for a volume with a driver, the attachment as well. `source` is the directory of a local one. */
export function volumeObjects(of: SceneVolume, source: string): object[] {
  const isBlock = of.kind === 'block'
  const csi = { driver: DRIVER, volumeHandle: handleOf(of), ...(isBlock ? {} : { fsType: 'ext4' }) }
  const { claim, volume } = boundVolume(
    pvOf(of),
    {
      volumeMode: isBlock ? 'Block' : 'Filesystem',
      ...(isCsi(of) ? { csi } : { local: { path: source }, nodeAffinity: HERE_ONLY }),
    },
    { name: of.name, namespace: NAMESPACE },
  )
  return [claim, volume, ...(isCsi(of) ? [attachmentObject(DRIVER, handleOf(of), pvOf(of), NODE)] : [])]
}

export interface ScenePod {
  readonly name: string
  readonly uid: string
  readonly volumes: readonly SceneVolume[]
  readonly others: readonly OtherVolume[]
}

/** Volumes without a PersistentVolume; `memory` and `scratch` are emptyDirs, `logs` is a hostPath. */
export type OtherVolume = 'settings' | 'password' | 'scratch' | 'memory' | 'logs'

export function pod({ name, uid, volumes, others }: ScenePod, hostPath: string): object {
  const sources: Readonly<Record<OtherVolume, object>> = {
    settings: { configMap: { name: 'settings', defaultMode: 420 } },
    password: { secret: { secretName: 'password', defaultMode: 420 } },
    scratch: { emptyDir: {} },
    memory: { emptyDir: { medium: 'Memory' } },
    logs: { hostPath: { path: hostPath, type: '' } },
  }
  const claims = volumes.map((volume) => ({
    name: volume.name,
    persistentVolumeClaim: { claimName: volume.name },
  }))
  const state = { running: { startedAt: created(59) } }
  return podObject(
    { name, namespace: NAMESPACE, uid, creationTimestamp: created(60) },
    [...claims, ...others.map((each) => ({ name: each, ...sources[each] }))],
    {
      devices: volumes.flatMap((volume) => (volume.kind === 'block' ? volume.name : [])),
      subPaths: { logs: 'shop' },
      spec: { nodeName: NODE },
      status: { startTime: created(59), containerStatuses: [{ name: 'main', state }] },
    },
  )
}
