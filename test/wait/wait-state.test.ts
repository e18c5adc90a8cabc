/** How far pods, volumes and nodes are, by one look. */
import { describe, expect, it } from 'vitest'
import type { NodeState } from '../../src/core/model/node-state.ts'
import { csiUniqueName } from '../../src/core/names/volume-names.ts'
import { makeContext } from '../../src/core/reconcile/plan-context.ts'
import type { WaitCondition, WaitedTarget } from '../../src/core/wait/wait-result.ts'
import { unseenDetaches, waitState } from '../../src/core/wait/wait-state.ts'
import { type WaitAsk, waitTargets } from '../../src/core/wait/wait-target.ts'
import { DRIVER, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const WEB = uid(7)

const dataVolume = { name: 'data', persistentVolumeClaim: { claimName: 'claim-pv-a' } }
const claimOf = (name: string, volume: string) => ({ name, persistentVolumeClaim: { claimName: `claim-${volume}` } })

/** A pod that runs, its volume attached, staged and mounted. */
function mounted(): NodeBuilder {
  return node()
    .livingPod(WEB, 'web-0', [dataVolume])
    .persistentVolume('pv-a')
    .staged('pv-a', '7:1')
    .published(WEB, 'pv-a', '7:1')
}

/** The same before anything is mounted. */
function attached(): NodeBuilder {
  return node().livingPod(WEB, 'web-0', [dataVolume]).persistentVolume('pv-a')
}

function ask(condition: WaitCondition, names: readonly string[], given: Partial<WaitAsk> = {}): WaitAsk {
  return { condition, names, volumes: [], namespaces: [], all: false, ignoreNotFound: false, ...given }
}

function waited(
  first: NodeState,
  condition: WaitCondition,
  names: readonly string[],
  { later = first, ...given }: Partial<WaitAsk> & { readonly later?: NodeState } = {},
): readonly WaitedTarget[] {
  const options = planOptions()
  const targets = waitTargets(makeContext(first, options), ask(condition, names, given))
  return waitState(later, options, targets, condition)
}

const summary = (targets: readonly WaitedTarget[]): string[] => targets.map(({ name, state }) => `${name} ${state}`)

describe('mounted', () => {
  it.each([
    { name: 'by its name', what: 'web-0' },
    { name: 'by namespace and name', what: 'default/web-0' },
    { name: 'as kubectl writes it', what: 'pod/default/web-0' },
    { name: 'by its UID', what: WEB },
  ])('a pod with all of its volumes, $name', ({ what }) =>
    expect(waited(mounted().build(), 'mounted', [what])).toEqual([
      {
        name: 'pod/default/web-0',
        pod: { namespace: 'default', name: 'web-0', uid: WEB },
        state: 'reached',
        message: 'all volumes are mounted',
      },
    ]),
  )

  it("what is missing is told in the kubelet's own parts", () => {
    const pod = [claimOf('data', 'pv-a'), claimOf('logs', 'pv-b'), claimOf('cache', 'lost')]
    const state = node()
      .livingPod(WEB, 'web-0', pod)
      .persistentVolume('pv-a')
      .persistentVolume('pv-b', { attached: false })
      .build()
    expect(waited(state, 'mounted', ['web-0'])).toMatchObject([
      {
        state: 'pending',
        message: 'unmounted volumes=[cache data logs], unattached volumes=[logs], failed to process volumes=[cache]',
        unmounted: ['cache', 'data', 'logs'],
        unattached: ['logs'],
        failedToProcess: ['cache'],
        why: expect.stringContaining('claim-lost'),
      },
    ])
  })

  it('a volume on a dead mount is not mounted', () => {
    const builder = mounted()
    const path = `/var/lib/kubelet/pods/${WEB}/volumes/kubernetes.io~csi/pv-a/mount`
    builder.override = { deadMounts: [{ path, error: 'ENOTCONN' }] }
    expect(waited(builder.build(), 'mounted', ['web-0'])).toMatchObject([{ state: 'pending', unmounted: ['data'] }])
  })

  it.each([
    { name: 'has ended', later: node().pod(WEB, 'web-0', [dataVolume], { phase: 'Succeeded' }), says: 'has ended' },
    { name: 'is deleted', later: node().pod(WEB, 'web-0', [dataVolume], { deleted: true }), says: 'is terminating' },
    { name: 'is gone', later: node(), says: 'was deleted from the API' },
  ])('a pod that $name meanwhile is answered at once', ({ later, says }) =>
    expect(waited(attached().build(), 'mounted', ['web-0'], { later: later.build() })).toMatchObject([
      { name: 'pod/default/web-0', state: 'impossible', message: expect.stringContaining(says) },
    ]),
  )

  it('of an orphaned pod and its replacement the new one is meant', () => {
    const state = mounted().livingPod(uid(8), 'other').build()
    const old = state.snapshot.runtime?.pods ?? []
    const builder = mounted()
    builder.sandboxes.push({
      ...(old[0] as (typeof old)[0]),
      uid: uid(9),
      name: 'web-0',
      state: 'SANDBOX_NOTREADY',
      containers: [],
    })
    builder.dir(`pods/${uid(9)}`)
    expect(waited(builder.build(), 'mounted', ['web-0']).map(({ pod }) => pod?.uid)).toEqual([WEB])
    expect(waited(builder.build(), 'unmounted', ['web-0']).map(({ pod }) => pod?.uid)).toEqual([uid(9)])
  })

  it('a pod without volumes has nothing to wait for', () =>
    expect(waited(node().build(), 'mounted', ['witness'])).toMatchObject([
      { state: 'reached', message: 'the pod uses no volumes' },
    ]))
})

describe('unmounted', () => {
  it('a pod that still has its volume: by the name that the pod gives it', () =>
    expect(waited(mounted().build(), 'unmounted', ['web-0'])).toMatchObject([
      {
        state: 'pending',
        message: 'mounted volumes=[data]',
        why: 'the pod is in the API and meant to run',
        mounted: ['data'],
      },
    ]))

  it('the name is kept when the pod is gone from the API', () => {
    const later = node().staged('pv-a', '7:1').published(WEB, 'pv-a', '7:1').build()
    expect(waited(mounted().build(), 'unmounted', ['web-0'], { later })).toMatchObject([
      { name: 'pod/default/web-0', state: 'pending', mounted: ['data'] },
    ])
  })

  it.each([
    { name: 'nothing is left', later: node() },
    { name: 'only empty directories are left', later: node().dir(`pods/${WEB}/volumes/kubernetes.io~csi`) },
    { name: 'the volume is staged still', later: node().staged('pv-a', '7:1') },
  ])('reached where $name', ({ later }) =>
    expect(waited(mounted().build(), 'unmounted', ['web-0'], { later: later.build() })).toMatchObject([
      { state: 'reached', message: 'no volume is mounted' },
    ]),
  )

  it.each([
    {
      name: 'a state file',
      later: node().file(`pods/${WEB}/volumes/kubernetes.io~csi/pv-a/vol_data.json`, '{}'),
      left: ['data'],
    },
    {
      name: 'a leaked subPath',
      later: node().mount(`pods/${WEB}/volume-subpaths/pv-a/main/0`, { type: 'file' }),
      left: ['data'],
    },
    {
      name: 'content of an emptyDir',
      later: node().file(`pods/${WEB}/volumes/kubernetes.io~empty-dir/scratch/x`),
      left: ['scratch'],
    },
  ])('$name is not unmounted', ({ later, left }) =>
    expect(waited(mounted().build(), 'unmounted', ['web-0'], { later: later.build() })).toMatchObject([
      { state: 'pending', mounted: left },
    ]),
  )

  it('a volume is unmounted once it is not staged either', () => {
    const first = mounted().build()
    const staged = node().persistentVolume('pv-a').staged('pv-a', '7:1').build()
    expect(waited(first, 'unmounted', ['pvc/default/claim-pv-a'], { later: staged })).toMatchObject([
      { name: 'pvc/default/claim-pv-a', volume: csiUniqueName(DRIVER, 'pv-a'), state: 'pending' },
    ])
    expect(waited(first, 'unmounted', ['pv/pv-a'], { later: node().build() })).toMatchObject([{ state: 'reached' }])
  })
})

describe('detached', () => {
  it.each([
    { name: 'attached', later: mounted(), state: 'pending' },
    { name: 'being deleted, still in the status', later: attached(), state: 'pending' },
    { name: 'gone', later: node().persistentVolume('pv-a', { attached: false }), state: 'reached' },
    { name: 'gone with its PersistentVolume', later: node(), state: 'reached' },
  ])('$name: $state, of the pod and of its claim alike', ({ later, state }) => {
    const names = ['web-0', 'pvc/claim-pv-a']
    const options = { later: later.build(), namespaces: ['default'] }
    expect(summary(waited(mounted().build(), 'detached', names, options))).toEqual([
      `pod/default/web-0 ${state}`,
      `pvc/default/claim-pv-a ${state}`,
    ])
  })

  it('S3: what the status does not list any more may be attached still', () => {
    const builder = node().persistentVolume('pv-a')
    builder.attached.length = 0
    expect(waited(mounted().build(), 'detached', ['web-0'], { later: builder.build() })).toMatchObject([
      { state: 'pending', message: 'attached volumes=[data]' },
    ])
  })

  it('S3: where attachments may not be listed it is not known', () => {
    const builder = node()
    const error = { resource: 'volumeattachments', status: 403, reason: 'Forbidden', message: 'no' }
    builder.overrideApi = { errors: [error] }
    expect(waited(mounted().build(), 'detached', ['web-0'], { later: builder.build() })).toMatchObject([
      { state: 'pending', why: 'this credential does not show whether all of them are attached' },
    ])
  })
})

describe('a detach that this credential would never show', () => {
  const unseen = (state: NodeState, names: readonly string[]): readonly string[] => {
    const options = planOptions()
    return unseenDetaches(state, options, waitTargets(makeContext(state, options), ask('detached', names)))
  }
  const forbidden = { resource: 'volumeattachments', status: 403, reason: 'Forbidden', message: 'no' }
  const with_ = (builder: NodeBuilder, api: NodeBuilder['overrideApi']): NodeState => {
    builder.overrideApi = api
    return builder.build()
  }
  const both = ['pod/default/web-0', 'pvc/default/claim-pv-a']
  const CASES: { name: string; state: NodeState; want: readonly string[] }[] = [
    { name: "the node's own", state: with_(mounted(), { user: 'system:node:node-1' }), want: both },
    { name: 'one that may not list them', state: with_(mounted(), { errors: [forbidden] }), want: both },
    { name: 'one that may', state: mounted().build(), want: [] },
    {
      name: 'one that may, whose list failed this time',
      state: with_(mounted(), { errors: [{ ...forbidden, status: 500, reason: 'InternalError' }] }),
      want: [],
    },
    {
      name: "the node's own, for a pod with nothing attached",
      state: with_(
        node()
          .livingPod(WEB, 'web-0', [{ name: 'e', emptyDir: {} }])
          .persistentVolume('pv-a', { attached: false }),
        { user: 'system:node:node-1' },
      ),
      want: [],
    },
  ]
  it.each(CASES)('$name', ({ state, want }) => expect(unseen(state, want.length > 0 ? want : ['web-0'])).toEqual(want))
})

describe('in-sync', () => {
  it('a node with nothing to do', () =>
    expect(waited(mounted().build(), 'in-sync', [])).toEqual([
      { name: 'node/node-1', state: 'reached', message: 'the plan has no operation, and nothing waits' },
    ]))

  it('operations and what waits count', () => {
    const waits = node().livingPod(WEB, 'web-0', [dataVolume]).persistentVolume('pv-a', { attached: false })
    expect(waited(waits.build(), 'in-sync', [])).toMatchObject([
      { state: 'pending', message: 'operations=0, waiting=1', why: expect.stringContaining('volumesAttached') },
    ])
    const orphan = node().staged('pv-a', '7:1').published(WEB, 'pv-a', '7:1')
    expect(waited(orphan.build(), 'in-sync', [])).toMatchObject([{ state: 'pending' }])
  })

  it('a plan that is not complete is not in sync', () => {
    const builder = mounted()
    builder.override = { csiSockets: undefined } as never
    expect(waited(builder.build(), 'in-sync', [])).toMatchObject([
      { state: 'pending', message: 'the plan is not complete' },
    ])
  })
})

describe('names', () => {
  it('--all and --namespace are every pod', () => {
    const state = mounted().build()
    const all = ['pod/default/witness reached', 'pod/default/web-0 reached']
    expect(summary(waited(state, 'mounted', [], { all: true }))).toEqual(all)
    expect(summary(waited(state, 'mounted', [], { namespaces: ['default'] }))).toEqual(all)
  })

  it('a namespace of no pod is an error: nothing to wait for must not look like a success', () => {
    const given = { namespaces: ['default', 'other'] }
    expect(() => waited(mounted().build(), 'unmounted', [], given)).toThrow('--namespace other matches no pod')
    expect(waited(node().build(), 'unmounted', [], { ...given, ignoreNotFound: true })).toHaveLength(1)
  })

  it('--volume takes any name of the volume, and the same volume is one', () =>
    expect(summary(waited(mounted().build(), 'mounted', ['pv/pv-a'], { volumes: ['pv-a', 'data'] }))).toEqual([
      'pv/pv-a reached',
    ]))

  it('a volume that is named by --volume alone goes by what the name is of', () =>
    expect(summary(waited(mounted().build(), 'mounted', [], { volumes: ['claim-pv-a'] }))).toEqual([
      'pvc/default/claim-pv-a reached',
    ]))

  it.each([
    { what: 'web-1', code: 'NothingNamed' },
    { what: 'pod/web-1', code: 'NothingNamed' },
    { what: 'pvc/nope', code: 'NotFound' },
    { what: '00000000-0000-4000', code: 'AmbiguousName' },
    { what: 'path/var/lib', code: 'Usage' },
  ])('$what: $code', ({ what, code }) =>
    expect(() => waited(mounted().build(), 'unmounted', [what])).toThrow(expect.objectContaining({ code })),
  )

  it.each([
    { given: ['web-1'], more: {}, meant: 'web-0' },
    { given: ['pod/default/wbe-0'], more: {}, meant: 'default/web-0' },
    { given: [], more: { volumes: ['pv-b'] }, meant: 'pv-a' },
    { given: [], more: { namespaces: ['defautl'] }, meant: 'default' },
  ])('what was probably meant is asked: $meant', ({ given, more, meant }) =>
    expect(() => waited(mounted().build(), 'unmounted', given, more)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(`^Did you mean ${meant}\\?`) }),
    ),
  )

  it('what is not there is reached with --ignore-not-found', () =>
    expect(waited(mounted().build(), 'unmounted', ['web-1', 'pvc/nope'], { ignoreNotFound: true })).toEqual([]))
})

describe('what is there in its place, or left of it', () => {
  it('another volume on record is not this one: mounted is not reached', () => {
    const built = node()
      .livingPod(WEB, 'web-0', [dataVolume])
      .persistentVolume('pv-a', { handle: 'new' })
      .published(WEB, 'pv-a', '7:1', { handle: 'old' })
    expect(summary(waited(built.build(), 'mounted', ['web-0']))).toEqual(['pod/default/web-0 pending'])
    expect(summary(waited(built.build(), 'mounted', ['pv/pv-a']))).toEqual(['pv/pv-a pending'])
  })

  it.each([true, false])(
    'a sub-path that is left is something mounted of it; its directory is there: %s',
    (isThere) => {
      const built = node().persistentVolume('pv-a', { attached: false })
      const gone = uid(9)
      if (isThere) built.dir(`pods/${gone}/volumes/kubernetes.io~csi/pv-a/mount`)
      built.mount(`pods/${gone}/volume-subpaths/pv-a/c/0`, { dev: '7:2', root: '/sub', fsType: 'ext4' })
      expect(summary(waited(built.build(), 'unmounted', ['pv/pv-a']))).toEqual(['pv/pv-a pending'])
    },
  )
})
