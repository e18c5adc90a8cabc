/** Short makers of API objects; every test says only what it is about. */

import type { PersistentVolume, PersistentVolumeClaim, Pod, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import type { ApiSnapshot } from '../../src/core/volumes/snapshot.ts'
import { apiSnapshot, boundVolume, podObject } from '../helpers/objects.ts'

export const NODE = 'node-1'

export function api(parts: Partial<Record<keyof ApiSnapshot, unknown>> = {}): ApiSnapshot {
  return apiSnapshot(parts as Partial<ApiSnapshot>)
}

interface PodParts {
  readonly uid?: string
  readonly metadata?: Partial<Pod['metadata']>
  readonly spec?: Partial<Pod['spec']>
  readonly status?: Pod['status']
  readonly mounts?: readonly string[]
  readonly devices?: readonly string[]
}

/** By default its one container mounts every volume. */
export function pod(volumes: readonly PodVolumeSource[], parts: PodParts = {}): Pod {
  const { uid = 'pod-uid', metadata, spec, status, devices = [] } = parts
  const { mounts = volumes.map(({ name }) => name) } = parts
  const named = (names: readonly string[]) => names.map((name) => ({ name }))
  const container = { name: 'c', volumeMounts: named(mounts), volumeDevices: named(devices) }
  return podObject({ name: 'web', namespace: 'ns', uid, ...metadata }, volumes, {
    spec: { containers: [container], ...spec },
    ...(status && { status }),
  })
}

export function claimVolume(name = 'data', claimName = 'claim', readOnly?: boolean): PodVolumeSource {
  return { name, persistentVolumeClaim: { claimName, readOnly } }
}

const bound = (name: string, spec: PersistentVolume['spec']) =>
  boundVolume(`pv-${name}`, spec, { name, namespace: 'ns' })

export function claim(
  name = 'claim',
  {
    metadata,
    spec,
    status,
  }: { readonly [Part in 'metadata' | 'spec' | 'status']?: Partial<PersistentVolumeClaim[Part]> } = {},
): PersistentVolumeClaim {
  const made = bound(name, {}).claim
  return {
    metadata: { ...made.metadata, ...metadata },
    spec: { ...made.spec, ...spec },
    status: { ...made.status, ...status },
  }
}

/** The CSI volume bound to `claim(claimName)`, unless it has another source. */
export function volume(claimName = 'claim', spec: PersistentVolume['spec'] = {}): PersistentVolume {
  const csi = { driver: 'csi.test', volumeHandle: `vol-${claimName}` }
  const common = new Set(['volumeMode', 'claimRef', 'capacity', 'accessModes', 'nodeAffinity', 'mountOptions'])
  return bound(claimName, Object.keys(spec).every((key) => common.has(key)) ? { csi, ...spec } : spec).volume
}
