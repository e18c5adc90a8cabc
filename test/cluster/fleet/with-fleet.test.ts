/** Snapshots of nodes beside a cluster: what they hold, what they show, and what they do not. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clusterContext } from '../../../src/core/cluster/context/cluster-context.ts'
import { type NodeLedger, nodeLedger } from '../../../src/core/cluster/fleet/node-ledger.ts'
import { withFleet } from '../../../src/core/cluster/fleet/with-fleet.ts'
import type { ClusterNode, ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../../src/core/cluster/pass/plan-cluster.ts'
import type { NodeSnapshot } from '../../../src/core/model/snapshot.ts'
import { parseMountinfo } from '../../../src/core/mountinfo/parse-mountinfo.ts'
import { attachmentName, csiGlobalDir, csiUniqueName } from '../../../src/core/names/volume-names.ts'
import type { ClusterOptions, ClusterPlan } from '../../../src/core/plan/cluster-plan.ts'
import { parseSnapshot } from '../../../src/core/snapshot/read-snapshot.ts'
import {
  ALIVE,
  ago,
  attachment,
  bound,
  cluster,
  clusterOptions,
  node,
  pod,
  silentNode,
} from '../../helpers/cluster-builder.ts'
import { codesOf } from '../../helpers/cluster-plan.ts'
import { DRIVER, type NodeBuilder } from '../../helpers/node-builder.ts'
import { attached, ledgerOf, machine, PUBLISHED, STAGED, unwanted } from './fleet-nodes.ts'

function plan(
  state: ClusterState,
  ledgers: readonly NodeLedger[],
  options: Partial<ClusterOptions> = {},
): ClusterPlan & Required<Pick<ClusterPlan, 'fleet'>> {
  const all = clusterOptions(options)
  const made = withFleet(planCluster(state, all), clusterContext(state, all), { ledgers, defects: [] })
  return made as ReturnType<typeof plan>
}

const X = csiUniqueName(DRIVER, 'h-x')
const IN_USE = { volumesInUse: [X] }

it('a pod that waits keeps its cause', () => {
  const state = cluster({
    pods: [pod('p', 'a', ['x'], { started: false }), pod('q', 'b', ['x'])],
    nodes: [node('a'), node('b')],
    controller: { lease: ALIVE },
    ...bound('x'),
    attachments: [attachment('x', 'b')],
  })
  const causeIn = ({ problems }: ClusterPlan) => problems.find(({ code }) => code === 'PodWaitsForVolume')?.cause
  expect(causeIn(plan(state, []))).toContain('MultiAttach')
  expect(causeIn(plan(state, []))).toBe(causeIn(planCluster(state, clusterOptions())))
})

describe('a detach that the API allows', () => {
  const stateFile = `${csiGlobalDir(DRIVER, 'h-x')}/vol_data.json`
  const lost = (builder: NodeBuilder): unknown => {
    const pod = 'pods/00000000-0000-4000-8000-000000000009/volumes/kubernetes.io~csi/pv-y'
    return builder.mount(`${pod}/mount`, { dev: '7:9', fsType: 'ext4', source: '/dev/loop9' })
  }
  it.each<{
    name: string
    put?: (builder: NodeBuilder) => unknown
    parts?: Partial<NodeSnapshot>
    minutes?: number
    on?: Partial<ClusterNode>
    code: string | undefined
    says: string
  }>([
    { name: 'nothing of it on the node', code: undefined, says: 'free' },
    { name: 'staged', put: STAGED, code: 'MountedOnNode', says: 'there' },
    { name: 'mounted for a pod', put: PUBLISHED, code: 'MountedOnNode', says: 'there' },
    {
      name: 'only its record is left',
      put: (builder) => builder.file(stateFile, JSON.stringify({ driverName: DRIVER, volumeHandle: 'h-x' })),
      code: 'MountedOnNode',
      says: 'mayBeThere',
    },
    { name: 'another volume staged', put: (builder) => builder.staged('h-y', '7:2'), code: undefined, says: 'free' },
    { name: 'a volume without identity', put: lost, code: 'MountedOnNode', says: 'mayBeThere' },
    {
      name: 'detached lazily',
      parts: { lazilyDetached: [{ path: '/x', dev: '7:1', volume: X }] },
      code: 'MountedOnNode',
      says: 'mayBeThere',
    },
    {
      name: 'detached lazily, whatever it was',
      parts: { lazilyDetached: [{ path: '/x', dev: '7:1' }] },
      code: 'MountedOnNode',
      says: 'mayBeThere',
    },
    { name: 'an old snapshot shows it: holds', put: STAGED, minutes: 60, code: 'MountedOnNode', says: 'there' },
    { name: 'an old snapshot without it: the API alone', minutes: 60, code: undefined, says: 'unknown' },
    {
      name: 'of an earlier boot, mounted then: the API alone',
      put: STAGED,
      on: { bootID: 'boot-new', heartbeat: ago(0.1) },
      code: undefined,
      says: 'unknown',
    },
    {
      name: 'of a later boot than the Node knows: holds',
      put: STAGED,
      on: { bootID: 'boot-old', heartbeat: ago(3) },
      code: 'MountedOnNode',
      says: 'there',
    },
    { name: 'the boot is not known', parts: { bootID: '' }, code: undefined, says: 'unknown' },
    { name: 'no mount probed', parts: { deadMounts: undefined as never }, code: undefined, says: 'unknown' },
    {
      name: 'what was detached lazily is not known',
      parts: { lazyMemory: { path: '/j', why: 'damaged' } },
      code: undefined,
      says: 'unknown',
    },
  ])('$name: $code, $says', ({ put, parts, minutes, on, code, says }) => {
    const { operations, summary, fleet } = plan(unwanted({}, on), [ledgerOf('a', put, parts, minutes)])
    expect(operations.map(({ blocked }) => blocked?.code)).toEqual([code])
    expect(summary).toMatchObject({ blocked: code === undefined ? 0 : 1, ready: code === undefined ? 1 : 0 })
    const rows = fleet.volumes.filter(({ volume }) => volume.uniqueName === X)
    expect(rows).toMatchObject([{ node: 'a', attached: true, inUse: false, wanted: [], says }])
  })

  it('is blocked with the paths, and what to run on that node', () => {
    const { operations, fleet } = plan(unwanted(), [ledgerOf('a', STAGED)])
    const path = `/var/lib/kubelet/${csiGlobalDir(DRIVER, 'h-x')}/globalmount`
    expect(operations[0]?.blocked).toMatchObject({
      message: `the snapshot of node a of ${ago(0.5).replace('.000', '')} shows the volume staged: ${path}`,
      hint: expect.stringContaining('kubectl volctl on a plan'),
    })
    expect(fleet.volumes[0]?.found).toEqual([{ how: 'staged', path, certain: true }])
  })

  it('a mount that does not answer is said', () => {
    const path = `/var/lib/kubelet/${csiGlobalDir(DRIVER, 'h-x')}/globalmount`
    const { operations } = plan(unwanted(), [ledgerOf('a', STAGED, { deadMounts: [{ path, error: 'EIO' }] })])
    expect(operations[0]?.blocked?.message).toContain('does not answer: EIO')
  })

  it.each([
    { minutes: 900, expected: true },
    { minutes: 3, expected: false },
  ])('an attachment of $minutes minutes is shown to be free by a snapshot of 5: $expected', ({ minutes, expected }) => {
    const attachments = [{ ...attached('a'), createdAt: ago(minutes) }]
    const old = [ledgerOf('a', undefined, {}, 5)]
    const made = plan(unwanted({ attachments }, IN_USE), old, { settleMs: 10 * 60_000 })
    expect(codesOf(made).includes('ProvenFree')).toBe(expected)
  })

  it('of a machine that is off an old snapshot does not hold what a person has made sure of, a fresh one does', () => {
    const off = unwanted({}, { ...silentNode('a', 30), ...IN_USE, outOfService: true })
    expect(plan(off, [ledgerOf('a', STAGED, {}, 60)]).operations[0]?.blocked).toBeUndefined()
    expect(plan(off, [ledgerOf('a', STAGED)]).operations[0]?.blocked?.code).toBe('MountedOnNode')
  })

  it('of a Node that was deleted a fresh snapshot holds, and never shows anything to be free', () => {
    const state = unwanted({ nodes: [machine('b')] })
    const options = { nodeGone: ['a'] }
    expect(plan(state, [ledgerOf('a', STAGED)], options).operations[0]?.blocked?.code).toBe('MountedOnNode')
    const { operations, problems } = plan(state, [ledgerOf('a')], options)
    expect(operations[0]?.blocked).toBeUndefined()
    expect(problems).toEqual(expect.arrayContaining([expect.objectContaining({ code: 'SnapshotUnused' })]))
  })
})

describe('an attach', () => {
  const wanting = (parts: Partial<ClusterState> = {}): ClusterState =>
    unwanted({ attachments: [], pods: [pod('p', 'b', ['x'], { started: false })], ...parts })

  it('is held while another node has the volume mounted, attached there or not', () => {
    expect(plan(wanting(), [ledgerOf('a')]).operations.map(({ kind, blocked }) => [kind, blocked])).toEqual([
      ['AttachVolume', undefined],
    ])
    const held = plan(wanting(), [ledgerOf('a', STAGED)])
    expect(held.operations[0]?.blocked).toMatchObject({
      code: 'MountedOnNode',
      message: expect.stringContaining('node a'),
    })
    expect(codesOf(held)).toContain('MountedButNotAttached')
  })

  it.each<{ name: string; on: Partial<ClusterNode>; options: Partial<ClusterOptions>; minutes: number; code?: string }>(
    [
      { name: 'an old snapshot of a node that runs holds', on: {}, options: {}, minutes: 60, code: 'MountedOnNode' },
      { name: 'one of a node out of service does not', on: { outOfService: true }, options: {}, minutes: 60 },
      {
        name: 'one of a machine that a person says is off does not',
        on: {},
        options: { nodeGone: ['a'] },
        minutes: 60,
      },
      {
        name: 'a fresh one does, whatever is said',
        on: { outOfService: true },
        options: { nodeGone: ['a'] },
        minutes: 1,
        code: 'MountedOnNode',
      },
    ],
  )('$name', ({ on, options, minutes, code }) => {
    const [a, ...others] = wanting().nodes as [ClusterNode, ...ClusterNode[]]
    const state = wanting({ nodes: [{ ...a, ...silentNode('a', 30), ...on, bootID: 'boot-a' }, ...others] })
    const { operations } = plan(state, [ledgerOf('a', STAGED, {}, minutes)], options)
    expect(operations.map(({ kind, blocked }) => [kind, blocked?.code])).toEqual([['AttachVolume', code]])
  })

  it('an old snapshot of a Node that was deleted holds until a person says that its machine is off', () => {
    const [, ...others] = wanting().nodes
    const state = wanting({ nodes: others, lostNodes: [{ name: 'a', leaseRenewTime: ago(60) }] })
    const old = [ledgerOf('a', STAGED, {}, 60)]
    const blocks = (options = {}) => plan(state, old, options).operations.map(({ blocked }) => blocked?.code)
    expect(blocks()).toEqual(['MountedOnNode'])
    expect(blocks({ nodeGone: ['a'] })).toEqual([undefined])
  })

  it('a volume that many nodes may have is not held', () => {
    const { volumes } = wanting()
    const many = volumes.map((each) => ({ ...each, accessModes: ['ReadWriteMany'] }))
    expect(plan(wanting({ volumes: many }), [ledgerOf('a', STAGED)]).operations[0]?.blocked).toBeUndefined()
  })

  it('after a detach that is held is blocked by it', () => {
    const { operations } = plan(wanting({ attachments: [attached('a')] }), [ledgerOf('a', STAGED)])
    const kinds = operations.map(({ kind, blocked }) => [kind, blocked?.code])
    expect(kinds[0]).toEqual(['DetachVolume', 'MountedOnNode'])
    expect(kinds.slice(1).every(([, code]) => code !== undefined)).toBe(true)
  })
})

describe('findings of both sides', () => {
  it.each<{ name: string; controller: ClusterState['controller']; hint: string; on: Partial<ClusterNode> }>([
    { name: 'ready', controller: { lease: ALIVE }, hint: 'Restart the kubelet', on: {} },
    { name: 'silent', controller: { lease: ALIVE }, hint: 'volctl apply', on: silentNode('a', 3) },
  ])('in use by the word of a node that is $name, and nothing there: the way out', ({ controller, hint, on }) => {
    const { problems } = plan(unwanted({ controller }, { ...on, ...IN_USE }), [ledgerOf('a')])
    const found = problems.find(({ code }) => code === 'ProvenFree')
    expect(found).toMatchObject({ about: { nodes: ['a'], attachment: attached('a').name } })
    expect(found?.hint).toContain(hint)
  })

  it('in use and really there is no such finding', () => {
    expect(codesOf(plan(unwanted({}, IN_USE), [ledgerOf('a', STAGED)]))).not.toContain('ProvenFree')
  })

  it('mounted on two nodes', () => {
    const state = unwanted({ attachments: [attached('a'), attached('b')] })
    const found = plan(state, [ledgerOf('a', STAGED), ledgerOf('b', PUBLISHED)]).problems.find(
      ({ code }) => code === 'TwoWriters',
    )
    expect(found).toMatchObject({ severity: 'error', about: { nodes: ['a', 'b'] } })
  })

  it('nodes without a snapshot are named, once', () => {
    const { problems, fleet } = plan(unwanted(), [ledgerOf('a')])
    expect(problems.filter(({ code }) => code === 'SnapshotUnused')).toMatchObject([
      { message: expect.stringContaining('1 of 2 nodes'), about: { nodes: ['b'] } },
    ])
    expect(fleet).toMatchObject({ nodes: 1, without: 1, unusable: [] })
  })

  it('where everybody agrees nothing is said', () => {
    const state = unwanted({ pods: [pod('p', 'a', ['x'])] }, { ...IN_USE, volumesAttached: [X] })
    const { operations, problems, fleet } = plan(state, [ledgerOf('a', STAGED), ledgerOf('b')])
    expect({ operations, problems, volumes: fleet.volumes }).toEqual({ operations: [], problems: [], volumes: [] })
  })
})

describe('a snapshot of something else is refused by name', () => {
  const other = (parts: Partial<NodeSnapshot>): NodeLedger => ledgerOf('a', STAGED, parts)
  it.each<{ name: string; ledger: NodeLedger; why: string }>([
    { name: 'another machine', ledger: other({ machineID: 'machine-z' }), why: 'machine ID is machine-z' },
    { name: 'another system', ledger: other({ systemUUID: 'system-z' }), why: 'system UUID is system-z' },
    { name: 'a node of another name', ledger: other({ nodeName: 'z' }), why: 'this cluster has no node z' },
    {
      name: 'another Node object, and no ids',
      ledger: { ...other({ machineID: '', systemUUID: '' }), nodeUID: 'node-z' },
      why: 'UID node-z',
    },
    {
      name: 'another server, and nothing that agrees',
      ledger: ledgerOf('a', STAGED, { machineID: '', systemUUID: '', api: undefined as never }),
      why: 'https://z',
    },
  ])('$name', ({ ledger, why }) => {
    const { nodeUID, ...rest } = ledger
    const given = why === 'https://z' ? { ...rest, server: 'https://z' } : ledger
    const { operations, problems, complete, fleet } = plan(unwanted(), [given])
    expect(operations[0]?.blocked).toBeUndefined()
    expect(complete).toBe(false)
    expect(problems.find(({ code }) => code === 'SnapshotUnused')?.message).toContain(why)
    expect(fleet.unusable).toMatchObject([{ source: 'a.json', why: expect.stringContaining(why) }])
  })

  it('another address of the same server is none', () => {
    const { problems } = plan(unwanted(), [{ ...ledgerOf('a'), server: 'https://127.0.0.1:6443' }])
    expect(problems.map(({ message }) => message).join('\n')).not.toContain('of another cluster or machine')
  })

  it('of two that claim one name the one of the right machine counts', () => {
    const { operations } = plan(unwanted(), [other({ machineID: 'machine-z' }), ledgerOf('a')])
    expect(operations[0]?.blocked).toBeUndefined()
  })
})

describe('real nodes', () => {
  const LOOP = 'loop.pg.test'
  /** A cluster that has one node, and of its volumes what the node had attached. */
  function around(folder: string): { ledger: NodeLedger; state: ClusterState } {
    const path = join(import.meta.dirname, '../../fixtures/captures', folder, 'before.json')
    const snapshot = parseSnapshot(readFileSync(path), folder)
    const ledger = nodeLedger({ snapshot, mounts: parseMountinfo(snapshot.mountinfo ?? '') }, path)
    const { machineID = '', systemUUID = '', bootID = '' } = ledger
    const names = ledger.volumes.flatMap(({ uniqueName, driver, handle }) =>
      uniqueName !== undefined && driver === LOOP && handle !== undefined ? [handle] : [],
    )
    const minutes = (count: number): string => new Date(Date.parse(ledger.capturedAt) + count * 60_000).toISOString()
    const state = cluster({
      capturedAt: minutes(1),
      controller: { lease: { name: 'kube-system/kube-controller-manager', renewTime: minutes(-60) } },
      nodes: [
        machine('pg-node', { machineID, systemUUID, bootID, createdAt: minutes(-9000), heartbeat: minutes(0.5) }),
      ],
      drivers: [{ name: LOOP, attachRequired: true }],
      podCount: 30,
      attachments: [...names, 'vol-never-there'].map((handle) => ({
        ...attached('pg-node'),
        ...{
          name: attachmentName(`before-${handle}`, LOOP, 'pg-node'),
          uid: handle,
          attacher: LOOP,
          createdAt: minutes(-600),
        },
        persistentVolume: `pv-${handle}`,
      })),
      volumes: [...names, 'vol-never-there'].map((handle) => ({
        ...{ name: `pv-${handle}`, uid: handle, accessModes: ['ReadWriteOnce'], plugin: 'kubernetes.io/csi' },
        ...{ uniqueName: csiUniqueName(LOOP, handle), driver: LOOP, handle, attachability: 'attachable' as const },
      })),
    })
    return { ledger, state }
  }

  it.each(['forcedel-killed', 'stuck', 'reboot', 'recreate'])(
    '%s: what the node has is never detached, and what it has not is',
    (folder) => {
      const { ledger, state } = around(folder)
      expect(ledger.unseen).toEqual([])
      const { operations } = plan(state, [ledger], { acceptOutage: state.attachments.length })
      const held = operations
        .filter(({ blocked }) => blocked?.code === 'MountedOnNode')
        .map(({ volume }) => volume.handle)
      const found = ledger.volumes.filter((each) => each.driver === LOOP && each.found.length > 0)
      expect(held.toSorted()).toEqual(found.map(({ handle }) => handle).toSorted())
      expect(found.length).toBeGreaterThan(5)
      expect(operations.find(({ volume }) => volume.handle === 'vol-never-there')?.blocked).toBeUndefined()
    },
  )
})
