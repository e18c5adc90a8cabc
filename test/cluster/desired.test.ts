/** What the controller wants attached, of every way in which a pod may name a volume (R706-R711). */
import { describe, expect, it } from 'vitest'
import {
  type ClusterNode,
  type ClusterPod,
  type ClusterState,
  clusterObjects,
} from '../../src/core/cluster/model/cluster-state.ts'
import { Rows } from '../../src/core/cluster/model/rows.ts'
import { migratesOn } from '../../src/core/cluster/model/volumes.ts'
import { volumeRecord } from '../../src/core/cluster/read/records.ts'
import type { PersistentVolume } from '../../src/core/kube/api/objects.ts'
import { bound, claim, cluster, node, pod, uniqueName, unread, volume } from '../helpers/cluster-builder.ts'

/** Of pod p on node a: volumes to be attached, volumes that it merely has and why, and what could not be resolved. */
function wanted(parts: Partial<ClusterState>) {
  const rows = new Rows(cluster(parts))
  return {
    attach: rows.all().flatMap((of) => (of.pods.length > 0 ? [of.uniqueName] : [])),
    has: rows.all().flatMap(({ volume: of, others }) => others.map(({ why }) => `${of?.name} ${why}`)),
    unresolved: rows.unresolved.map(({ cause, mayBe }) => `${cause} ${mayBe.of}`),
  }
}

const X = [uniqueName('x')]
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

describe('T105, T109: a volume of a pod', () => {
  it.each<{ name: string; state: Partial<ClusterState>; attach?: string[]; has?: string[]; unresolved?: string[] }>([
    { name: 'by its claim', state: withPod({}), attach: X },
    { name: 'by an ephemeral claim that the pod owns', state: ephemeral('uid-p'), attach: X },
    { name: 'by an ephemeral claim that another pod owns', state: ephemeral('uid-q'), has: ['pv-x Unusable'] },
    { name: 'of a pod that has ended', state: withPod({ terminated: true }) },
    { name: 'of a pod that is being deleted', state: withPod({ deletedAt: '2026-01-01T00:00:00Z' }), attach: X },
    {
      name: 'of a claim that is not bound',
      state: {
        ...withPod({}),
        volumes: [],
        claims: [claim('x', { phase: 'Pending', wasBound: false, volumeName: '' })],
      },
      unresolved: ['Unbound none'],
    },
    {
      name: 'of a claim that was bound, and names nothing',
      state: { ...withPod({}), volumes: [], claims: [claim('x', { volumeName: '' })] },
      unresolved: ['Unknown any'],
    },
    { name: 'of a claim that does not exist', state: { pods: [pod('p', 'a', ['x'])] }, unresolved: ['Absent none'] },
    {
      name: 'of a PersistentVolume that does not exist',
      state: { ...withPod({}), volumes: [] },
      unresolved: ['Absent none'],
    },
    {
      name: 'of a claim that was not read',
      state: {
        ...withPod({}),
        claims: [],
        ...unread('persistentvolumeclaims'),
      },
      has: ['pv-x Unusable'],
      unresolved: ['Unknown any'],
    },
    { name: 'that no plugin can name', state: { ...withPod({}), volumes: [unnamed({})] }, unresolved: ['Unknown any'] },
    {
      name: 'whose driver needs no attachment',
      state: { ...withPod({}), volumes: [volume('x', { attachability: 'notAttachable' })] },
      has: ['pv-x NotAttachable'],
    },
    {
      name: 'whose CSIDriver was not read',
      state: { ...withPod({}), volumes: [volume('x', { attachability: 'unknown' })] },
      has: ['pv-x AttachabilityUnknown'],
    },
    {
      name: 'on a node that is not managed',
      state: { ...withPod({}), nodes: [node('a', { managed: false })] },
      has: ['pv-x NotManaged'],
    },
    {
      name: 'that its kubelet mounts in-tree',
      state: { ...withPod({}), volumes: [volume('x', { migratedFrom: 'kubernetes.io/gce-pd' })] },
      has: ['pv-x NotMigrated'],
    },
    {
      name: 'that is a CephFS, whose plugin is gone (S4)',
      state: { ...withPod({}), volumes: [recordOf({ cephfs: {} })] },
      unresolved: ['Unusable none'],
    },
    {
      name: 'of a source that nobody knows',
      state: { ...withPod({}), volumes: [recordOf({ brandNew: {} })] },
      unresolved: ['Unknown any'],
    },
  ])('$name', ({ state, attach = [], has = [], unresolved = [] }) =>
    expect(wanted(state)).toEqual({ attach, has, unresolved }),
  )
})

/** A PersistentVolume of this source, as it is read. */
function recordOf(source: object) {
  const claimRef = { namespace: 'default', name: 'x', uid: 'claim-x' }
  const lookup = clusterObjects(cluster())
  const made = { metadata: { name: 'pv-x', uid: 'pv-uid-x' }, spec: { ...source, claimRef } } as PersistentVolume
  return volumeRecord(made, lookup)
}

function unnamed(parts: { driver?: string }) {
  const { plugin: _, uniqueName: __, driver: ___, handle: ____, ...rest } = volume('x')
  return { ...rest, ...parts, problem: 'its source is odd' }
}

describe('R150: an in-tree volume is left to its driver', () => {
  const migratedFrom = 'kubernetes.io/aws-ebs'
  it.each<{ name: string; on: Partial<ClusterNode>; left: boolean }>([
    { name: 'CSINode lists the plugin', on: {}, left: true },
    {
      name: 'CSINode lists nothing, and the kubelet is new',
      on: { csi: { state: 'known' } },
      left: true,
    },
    {
      name: 'CSINode lists nothing, and the kubelet is old',
      on: { csi: { state: 'known' }, kubeletVersion: 'v1.20.1' },
      left: false,
    },
  ])('$name: $left', ({ on, left }) => expect(migratesOn(node('a', on), { migratedFrom })).toBe(left))
})
