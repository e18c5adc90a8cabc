/** Short makers of API objects; every test says only what it is about. */

import type { ApiSnapshot } from '../../src/core/facts/actual/snapshot.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { apiSnapshot } from '../helpers/objects.ts'

export const NODE = 'node-1'

export function api(parts: Partial<Record<keyof ApiSnapshot, unknown>> = {}): ApiSnapshot {
  const node = { metadata: { name: NODE, uid: 'node-uid' } }
  return apiSnapshot({ node, ...parts } as Partial<ApiSnapshot>)
}

interface PodParts {
  readonly name?: string
  readonly uid?: string
  readonly metadata?: Partial<Pod['metadata']>
  readonly spec?: Partial<Pod['spec']>
  readonly status?: Pod['status']
  readonly mounts?: readonly string[]
  readonly devices?: readonly string[]
}

/** By default its one container mounts every volume. */
export function pod(volumes: readonly PodVolumeSource[], parts: PodParts = {}): Pod {
  const { name = 'web', uid = 'pod-uid', metadata, spec, status, devices = [] } = parts
  const mounts = parts.mounts ?? volumes.map((volume) => volume.name)
  return {
    metadata: { name, namespace: 'ns', uid, ...metadata },
    spec: {
      nodeName: NODE,
      volumes,
      containers: [
        {
          name: 'c',
          volumeMounts: mounts.map((volume) => ({ name: volume })),
          volumeDevices: devices.map((volume) => ({ name: volume })),
        },
      ],
      ...spec,
    },
    ...(status !== undefined && { status }),
  }
}

export function claimVolume(name = 'data', claimName = 'claim', readOnly?: boolean): PodVolumeSource {
  return { name, persistentVolumeClaim: { claimName, ...(readOnly !== undefined && { readOnly }) } }
}

interface ClaimParts {
  readonly metadata?: Partial<PersistentVolumeClaim['metadata']>
  readonly spec?: PersistentVolumeClaim['spec']
  readonly status?: PersistentVolumeClaim['status']
}

export function claim(name = 'claim', parts: ClaimParts = {}): PersistentVolumeClaim {
  return {
    metadata: { name, namespace: 'ns', uid: `${name}-uid`, ...parts.metadata },
    spec: { volumeName: `pv-${name}`, ...parts.spec },
    status: { phase: 'Bound', ...parts.status },
  }
}

/** The CSI volume bound to `claim(claimName)`. */
export function volume(claimName = 'claim', spec: PersistentVolume['spec'] = {}): PersistentVolume {
  const csi = { driver: 'csi.test', volumeHandle: `vol-${claimName}` }
  return {
    metadata: { name: `pv-${claimName}`, uid: `pv-${claimName}-uid` },
    spec: {
      volumeMode: 'Filesystem',
      claimRef: { namespace: 'ns', name: claimName, uid: `${claimName}-uid` },
      ...(hasSource(spec) ? {} : { csi }),
      ...spec,
    },
  }
}

function hasSource(spec: PersistentVolume['spec']): boolean {
  const common = new Set(['volumeMode', 'claimRef', 'capacity', 'accessModes', 'nodeAffinity', 'mountOptions'])
  return Object.keys(spec).some((key) => !common.has(key))
}
