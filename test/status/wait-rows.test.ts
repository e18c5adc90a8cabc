/** How far what is waited for is, by the rows of one look. */

import { describe, expect, it } from 'vitest'
import { wholeStatus } from '../../src/core/explain/status/node-status.ts'
import { missing, type WaitCondition, waitTargets } from '../../src/core/explain/status/wait-rows.ts'
import type { Narrowing } from '../../src/core/reconcile/filter-operations.ts'
import { decideNode } from '../../src/core/reconcile/plan-node.ts'
import { claimOf, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const WEB = uid(7)

const dataVolume = claimOf('pv-a')

const wanting = (): NodeBuilder => node().livingPod(WEB, 'web-0', [dataVolume])

/** A pod that runs, its volume attached, staged and mounted. */
function mounted(): NodeBuilder {
  return node().served(WEB, 'web-0', 'pv-a')
}

/** The same before anything is mounted. */
function attached(): NodeBuilder {
  return wanting().persistentVolume('pv-a')
}

const REACHED = undefined
const web = { pods: ['web-0'] }
const claim = { volumes: ['default/claim-pv-a'] }

/** What is missing of each name. */
function waited(
  first: NodeBuilder,
  condition: WaitCondition,
  narrowing: Narrowing,
  later = first,
  ignoreNotFound = false,
): readonly (string | undefined)[] {
  const look = (built: NodeBuilder) => wholeStatus(decideNode(built.build(), planOptions()))
  const targets = waitTargets(look(first), narrowing, condition, { 'ignore-not-found': ignoreNotFound })
  return targets.map((target) => missing(look(later), target, condition))
}

describe('mounted', () => {
  it.each([
    { name: 'by its name', pods: ['web-0'] },
    { name: 'by its UID', pods: [WEB] },
  ])('a pod with all of its volumes, $name', ({ pods }) =>
    expect(waited(mounted(), 'mounted', { pods })).toEqual([REACHED]),
  )

  it('what is missing is named, what could not be resolved, too', () => {
    const pod = [dataVolume, claimOf('pv-b', 'logs'), claimOf('lost', 'cache')]
    const state = node().livingPod(WEB, 'web-0', pod).persistentVolume('pv-a')
    state.persistentVolume('pv-b', { attached: false })
    expect(waited(state, 'mounted', web)).toEqual(['not mounted: cache, data, logs'])
  })

  it('a pod that wants nothing has not ended, though something is left in it', () => {
    const built = node().persistentVolume('pv-a').published(WEB, 'pv-a', '7:1')
    built.livingPod(WEB, 'web-0', [dataVolume], { spec: { containers: [{ name: 'c' }] } })
    for (const narrowing of [web, {}]) expect(waited(built, 'mounted', narrowing)).toEqual([REACHED])
  })

  it('S3: of a pod and a volume, a volume that is not found by its name meanwhile is not known to be mounted', () => {
    for (const volumes of [['pv-a'], ['default/claim-pv-a']])
      expect(waited(attached(), 'mounted', { ...web, volumes }, wanting())).not.toEqual([REACHED])
  })

  it('a volume on a dead mount is not mounted', () => {
    const built = mounted().dead(`pods/${WEB}/volumes/kubernetes.io~csi/pv-a/mount`)
    expect(waited(built, 'mounted', web)).toEqual(['not mounted: data'])
  })

  it('another volume on record is not this one', () => {
    const built = wanting().persistentVolume('pv-a', { handle: 'new' })
    built.published(WEB, 'pv-a', '7:1', { handle: 'old' })
    expect(waited(built, 'mounted', web)).toEqual(['not mounted: data'])
    expect(waited(built, 'mounted', { volumes: ['pv-a'] })).not.toEqual([REACHED])
  })

  it.each([
    { name: 'has ended', later: node().pod(WEB, 'web-0', [dataVolume], { phase: 'Succeeded' }) },
    { name: 'is deleted', later: node().pod(WEB, 'web-0', [dataVolume], { deleted: true }) },
    { name: 'is gone', later: node() },
    { name: 'is gone, its volume mounted still', later: node().published(WEB, 'pv-a', '7:1') },
  ])('a pod that $name meanwhile never has them', ({ later }) =>
    expect(waited(attached(), 'mounted', web, later)).not.toEqual([REACHED]),
  )

  it('a claim that is bound meanwhile is found by its name', () => {
    const unbound = wanting()
    for (const narrowing of [web, { volumes: ['data'] }])
      expect(waited(unbound, 'mounted', narrowing, mounted())).toEqual([REACHED])
  })

  it('a volume that no pod wants is not mounted', () => {
    const staged = node().persistentVolume('pv-a').staged('pv-a', '7:1')
    expect(waited(staged, 'mounted', { volumes: ['pv-a'] })).toEqual(['no pod of this node wants it'])
  })

  it('of an orphaned pod and its replacement the new one is meant; the old one is to be unmounted', () => {
    const builder = mounted().livingPod(uid(8), 'other')
    const [old] = builder.build().snapshot.runtime?.pods ?? []
    builder.sandboxes.push({
      ...(old as NonNullable<typeof old>),
      uid: uid(9),
      name: 'web-0',
      namespace: 'default',
      state: 'SANDBOX_NOTREADY',
      containers: [],
    })
    builder.published(uid(9), 'pv-a', '7:1')
    expect(waited(builder, 'mounted', web)).toEqual([REACHED])
    expect(waited(builder, 'unmounted', web, mounted())).toEqual([REACHED])
    expect(waited(builder, 'unmounted', web)).toEqual(['mounted or set up: pv-a'])
  })
})

describe('unmounted', () => {
  it('a pod that still has its volume: by the name that the pod gives it', () =>
    expect(waited(mounted(), 'unmounted', web)).toEqual(['mounted or set up: data']))

  it.each([
    { name: 'nothing is left', later: node() },
    { name: 'only empty directories are left', later: node().dir(`pods/${WEB}/volumes/kubernetes.io~csi`) },
    { name: 'the volume is staged still', later: node().staged('pv-a', '7:1') },
  ])('reached where $name', ({ later }) => expect(waited(mounted(), 'unmounted', web, later)).toEqual([REACHED]))

  const dir = `pods/${WEB}/volumes/kubernetes.io~csi/pv-a`
  it.each([
    { name: 'a mount of a pod that is gone from the API', later: node().published(WEB, 'pv-a', '7:1') },
    { name: 'a state file', later: node().file(`${dir}/vol_data.json`, '{}') },
    { name: 'a leaked subPath', later: node().mount(`pods/${WEB}/volume-subpaths/pv-a/main/0`, { type: 'file' }) },
    { name: 'content', later: node().file(`pods/${WEB}/volumes/kubernetes.io~empty-dir/scratch/x`) },
    { name: 'a directory in an emptyDir', later: node().dir(`pods/${WEB}/volumes/kubernetes.io~empty-dir/scratch/d`) },
    { name: 'a mount of somebody else', later: node().mount(`${dir}/other`, { fsType: 'ext4', dev: '7:9' }) },
  ])('$name is not unmounted', ({ later }) =>
    expect(waited(mounted(), 'unmounted', web, later)).toEqual([expect.stringContaining('mounted or set up: ')]),
  )

  it('a volume is unmounted once it is not staged either', () => {
    const first = mounted()
    const staged = node().persistentVolume('pv-a').staged('pv-a', '7:1')
    const forgotten = node().staged('pv-a', '7:1')
    for (const narrowing of [claim, { volumes: ['pv-a'] }]) {
      for (const later of [staged, forgotten])
        expect(waited(first, 'unmounted', narrowing, later)).toEqual(['mounted or set up: pv-a'])
      expect(waited(first, 'unmounted', narrowing, node())).toEqual([REACHED])
    }
  })

  it.each([true, false])(
    'a sub-path that is left is something mounted of it; its directory is there: %s',
    (isThere) => {
      const built = node().persistentVolume('pv-a', { attached: false })
      const gone = uid(9)
      if (isThere) built.dir(`pods/${gone}/volumes/kubernetes.io~csi/pv-a/mount`)
      built.leaf(gone, 'pv-a', '7:2')
      expect(waited(built, 'unmounted', { volumes: ['pv-a'] })).toEqual(['mounted or set up: pv-a'])
    },
  )

  it('S3: what was read only in part is not known to be unmounted', () => {
    const unread = node().with({ tree: undefined } as never)
    expect(waited(mounted(), 'unmounted', web, unread)).toEqual(['not all that matters could be read'])
    const later = node().entry({ path: `pods/${WEB}`, type: 'dir', error: 'EIO' })
    for (const narrowing of [web, claim, {}])
      expect(waited(mounted(), 'unmounted', narrowing, later)).toEqual([expect.stringContaining('EIO')])
  })

  it('of the whole node nothing is staged either', () => {
    expect(waited(mounted(), 'unmounted', {})).toEqual(['mounted or set up: data, pv-a'])
    expect(waited(node(), 'unmounted', {})).toEqual([REACHED])
  })
})

describe('detached', () => {
  it.each([
    { name: 'attached', later: mounted(), want: 'attached: data' },
    { name: 'being deleted, still in the status', later: attached(), want: 'attached: data' },
    { name: 'gone', later: node().persistentVolume('pv-a', { attached: false }), want: REACHED },
    { name: 'gone with its PersistentVolume', later: node(), want: REACHED },
  ])('$name, of the pod and of its claim alike', ({ later, want }) => {
    for (const narrowing of [web, claim]) {
      const [why] = waited(mounted(), 'detached', narrowing, later)
      expect(why?.replace('data, pv-a', 'data')).toEqual(want)
    }
  })

  it('S3: what the status does not list any more may be attached still, and what no attachment is of', () => {
    const builder = node().persistentVolume('pv-a')
    builder.attached.length = 0
    expect(waited(mounted(), 'detached', web, builder)).toEqual(['attached: pv-a'])
    const listed = mounted()
    listed.attachments.length = 0
    expect(waited(mounted(), 'detached', web, listed)).toEqual(['attached: data, pv-a'])
  })

  it('S3: where attachments may not be listed it is not known', () => {
    expect(waited(mounted(), 'detached', web, node().unlisted('volumeAttachments'))).toEqual([
      'what is attached is not known',
    ])
    const nothing = node()
      .livingPod(WEB, 'web-0', [{ name: 'e', emptyDir: {} }])
      .unlisted('volumeAttachments')
    expect(waited(nothing, 'detached', web)).toEqual([REACHED])
  })
})

describe('in-sync', () => {
  it('a node with nothing to do', () => expect(waited(mounted(), 'in-sync', {})).toEqual([REACHED]))

  it('operations and what waits count, of what is named alone', () => {
    const waits = wanting().persistentVolume('pv-a', { attached: false })
    for (const narrowing of [{}, web]) expect(waited(waits, 'in-sync', narrowing)).toEqual(['operations=0, waiting=1'])
    expect(waited(waits, 'in-sync', { pods: ['witness'] })).toEqual([REACHED])
    const orphan = node().staged('pv-a', '7:1').published(WEB, 'pv-a', '7:1')
    expect(waited(orphan, 'in-sync', {})).toEqual([expect.stringMatching(/^operations=[1-9]/)])
  })

  it('a plan that is not complete is not in sync', () => {
    const builder = mounted().with({ csiSockets: undefined } as never)
    expect(waited(builder, 'in-sync', {})).toEqual(['not all that matters could be read'])
  })
})

describe('names', () => {
  it('each has its own end', () => {
    const pods = ['web-0', 'witness']
    expect(waited(mounted(), 'unmounted', { pods })).toEqual(['mounted or set up: data', REACHED])
    expect(waited(mounted(), 'unmounted', { namespaces: ['default'] })).toEqual(['mounted or set up: data'])
  })

  it('what is not there is an error, and is left out with --ignore-not-found', () => {
    const mountedNode = mounted()
    for (const names of [{ volumes: ['nope'] }, { pods: ['web-0', 'web-1'] }])
      expect(() => waited(mountedNode, 'unmounted', names)).toThrow(expect.objectContaining({ code: 'NothingNamed' }))
    expect(waited(mountedNode, 'mounted', { volumes: ['nope'] }, mountedNode, true)).toEqual([])
    expect(waited(mountedNode, 'unmounted', { pods: ['web-0', 'web-1'] }, mountedNode, true)).toHaveLength(1)
  })
})
