/** What the controller wants attached, of every way in which a pod may name a volume (R706-R711). */
import { describe, expect, it } from 'vitest'
import {
  type ClusterPod,
  type ClusterState,
  type ClusterVolume,
  clusterObjects,
} from '../../src/core/cluster/model/cluster-state.ts'
import { Rows } from '../../src/core/cluster/model/rows.ts'
import { volumeRecord } from '../../src/core/cluster/read/records.ts'
import type { PersistentVolume } from '../../src/core/kube/api/objects.ts'
import type { MayBe } from '../../src/core/volumes/desired-state.ts'
import { bound, claim, cluster, node, pod, uniqueName, unread, volume } from '../helpers/cluster-builder.ts'

/** Of pod p on node a: volumes to be attached, volumes that it merely has and why, and what could not be resolved. */
function wanted(parts: Partial<ClusterState>): string[] {
  const rows = new Rows(cluster(parts))
  const all = rows
    .all()
    .flatMap(({ volume: of, pods, others }) => [
      ...pods.map(() => `attach ${of.uniqueName}`),
      ...others.map(({ why }) => `${of.name} ${why}`),
    ])
  const kinds = (mayBe: MayBe): string => (mayBe === 'any' ? mayBe : mayBe.length > 0 ? 'kinds' : 'none')
  return [...all, ...rows.unresolved.map(({ cause, mayBe }) => `unresolved: ${cause} ${kinds(mayBe)}`)]
}

const X = `attach ${uniqueName('x')}`
const own = { volumes: [{ name: 'data', claim: 'p-data', ephemeral: true as const }] }
const ephemeral = (ownerUid: string): Partial<ClusterState> => ({
  pods: [pod('p', 'a', [], own)],
  claims: [claim('x', { name: 'p-data', uid: 'claim-x', ownerUid })],
  volumes: [volume('x', { claim: { namespace: 'default', name: 'p-data', uid: 'claim-x' } })],
})
const withPod = (parts: Partial<ClusterPod>): Partial<ClusterState> => ({
  ...bound('x'),
  pods: [pod('p', 'a', ['x'], parts)],
})

const ofVolume = (of: ClusterVolume): Partial<ClusterState> => ({ ...withPod({}), volumes: [of] })

describe('T105, T109: a volume of a pod', () => {
  const unbound = claim('x', { phase: 'Pending', wasBound: false, volumeName: '' })
  it.each<[name: string, state: Partial<ClusterState>, ...is: string[]]>([
    ['by its claim', withPod({}), X],
    ['by an ephemeral claim that the pod owns', ephemeral('uid-p'), X],
    ['by an ephemeral claim that another pod owns', ephemeral('uid-q'), 'pv-x Unusable'],
    ['of a pod that has ended', withPod({ terminated: true })],
    ['of a pod that is being deleted', withPod({ deletedAt: '2026-01-01T00:00:00Z' }), X],
    ['of a claim that is not bound', { ...withPod({}), volumes: [], claims: [unbound] }, 'unresolved: Unbound none'],
    [
      'of a claim that was bound, and names nothing',
      { ...withPod({}), volumes: [], claims: [claim('x', { volumeName: '' })] },
      'unresolved: Unknown any',
    ],
    ['of a claim that does not exist', { pods: [pod('p', 'a', ['x'])] }, 'unresolved: Absent none'],
    ['of a PersistentVolume that does not exist', { ...withPod({}), volumes: [] }, 'unresolved: Absent none'],
    [
      'of a claim that was not read',
      { ...withPod({}), claims: [], ...unread('persistentvolumeclaims') },
      'pv-x Unusable',
      'unresolved: Unknown any',
    ],
    ['that no plugin can name', ofVolume(unnamed()), 'unresolved: Unknown any'],
    [
      'whose driver needs no attachment',
      ofVolume(volume('x', { attachability: 'notAttachable' })),
      'pv-x NotAttachable',
    ],
    ['whose CSIDriver was not read', ofVolume(volume('x', { attachability: 'unknown' })), 'pv-x AttachabilityUnknown'],
    ['on a node that is not managed', { ...withPod({}), nodes: [node('a', { managed: false })] }, 'pv-x NotManaged'],
    ['that is a CephFS, whose plugin is gone (S4)', ofVolume(recordOf({ cephfs: {} })), 'unresolved: Unusable none'],
    ['of a source that nobody knows', ofVolume(recordOf({ brandNew: {} })), 'unresolved: Unknown any'],
  ])('%s', (_, state, ...is) => expect(wanted(state)).toEqual(is))
})

/** A PersistentVolume of this source, as it is read. */
function recordOf(source: object) {
  const claimRef = { namespace: 'default', name: 'x', uid: 'claim-x' }
  const lookup = clusterObjects(cluster())
  const made = { metadata: { name: 'pv-x', uid: 'pv-uid-x' }, spec: { ...source, claimRef } } as PersistentVolume
  return volumeRecord(made, lookup)
}

function unnamed(): ClusterVolume {
  const { plugin: _, uniqueName: __, driver: ___, handle: ____, ...rest } = volume('x')
  return { ...rest, problem: 'its source is odd' }
}
