/** volctl beside kube-controller-manager: alive, dead, coming back, frozen, and two of them; each is a process of its own. */
import { describe, expect, it } from 'vitest'
import { attached, claimed, DRIVER, node, pod } from '../../cluster/apply/scene.ts'
import type { Fault } from '../../helpers/api-server/faults.ts'
import { startAttacher } from '../../helpers/attacher/start.ts'
import { LiveCluster, operationsOf, waitsOf } from './live-cluster.ts'

const OFF = { isOutOfService: true, ready: 'Unknown' } as const

/** Whatever a controller that died may have left: see `LEFT` for what is to be done. */
function abandoned(): object[] {
  return [
    ...node('n1'),
    ...node('n2'),
    ...node('off', { ...OFF, inUse: ['fenced'] }),
    ...['kept', 'moved', 'ended', 'fresh', 'fenced', 'lost', 'stuck'].flatMap(claimed),
    ...[pod('kept-0', 'n1', 'kept'), attached('kept', 'n1')],
    ...[pod('moved-0', 'n2', 'moved'), attached('moved', 'n1')],
    attached('ended', 'n2'),
    pod('fresh-0', 'n1', 'fresh'),
    ...[pod('fenced-0', 'n1', 'fenced'), attached('fenced', 'off')],
    ...[pod('lost-0', 'n2', 'lost'), attached('lost', 'gone')],
    ...[pod('stuck-0', 'n1', 'stuck'), pod('stuck-1', 'n2', 'stuck'), attached('stuck', 'n2')],
  ]
}

const LEFT = [
  'AttachVolume pv-fenced@n1',
  'AttachVolume pv-fresh@n1',
  'AttachVolume pv-lost@n2',
  'AttachVolume pv-moved@n2',
  'DetachVolume pv-ended@n2',
  'DetachVolume pv-fenced@off',
  'DetachVolume pv-lost@gone',
  'DetachVolume pv-moved@n1',
]
const DONE = ['pv-fenced@n1', 'pv-fresh@n1', 'pv-kept@n1', 'pv-lost@n2', 'pv-moved@n2', 'pv-stuck@n2']

/** Web-0 was moved from a node that is gone to one that is ready. */
const moved = (): object[] => [
  ...node('here'),
  ...claimed('data'),
  pod('web-0', 'here', 'data'),
  attached('data', 'gone'),
]
const GONE = ['--node-gone', 'gone']

const isReport = (change: string): boolean => change.startsWith('report ')

describe('a controller that is dead', () => {
  it('volctl does what it would have done: started after that, it finds nothing to do', async () => {
    await using cluster = await LiveCluster.start(abandoned())
    const applied = await cluster.apply(...GONE)
    expect(applied.ends.toSorted()).toEqual(LEFT.map((each) => `done ${each}`))
    expect(applied.status).toBe(0)
    expect(await cluster.attachments()).toEqual(DONE)
    const controller = await cluster.controller()
    const { leads, did, late } = await controller.settle()
    // Only the lists volumesAttached, which volctl never writes (R331).
    expect([leads, did.filter((each) => !isReport(each)), late]).toEqual([true, [], []])
    expect(await cluster.attachments()).toEqual(DONE)
  })

  it('and the controller by itself comes to the same attachments, by the same changes', async () => {
    await using cluster = await LiveCluster.start(abandoned())
    const controller = await cluster.controller()
    const { did } = await controller.settle()
    const words = LEFT.map((each) => each.replace('AttachVolume', 'attach').replace('DetachVolume', 'detach'))
    expect(did.filter((each) => !isReport(each)).toSorted()).toEqual(words.map((each) => each.replace('@', ' ')))
    expect(await cluster.attachments()).toEqual(DONE)
    await controller.kill()
    await cluster.elapse(10)
    expect(operationsOf(await cluster.plan())).toEqual([])
  })
})

describe('a controller that lives', () => {
  it('while pods come and go: every plan is empty, and an apply does nothing', async () => {
    await using cluster = await LiveCluster.start(
      [...node('n1'), ...node('n2'), ...['a', 'b', 'c'].flatMap(claimed)],
      'process',
    )
    await using _ = await startAttacher(cluster.api, { driver: DRIVER })
    const controller = await cluster.controller()
    expect(await controller.renew()).toBe(true)
    controller.run()
    for (const on of ['n1', 'n2', 'n1']) {
      await cluster.api.put(...['a', 'b', 'c'].map((claim) => pod(`${claim}-0`, on, claim)))
      await cluster.kubelets()
      const plan = await cluster.plan()
      expect([plan.inputs.controller.state, plan.operations]).toEqual(['lives', []])
    }
    expect(await cluster.apply()).toMatchObject({ status: 0, ends: [] })
    expect(await cluster.changes()).toEqual([])
    const { did } = await controller.halt()
    expect(did).toContain('attach pv-a n1')
  })

  it('two of them: while the lease goes from one to the other, some controller lives', async () => {
    await using cluster = await LiveCluster.start(moved())
    const [first, second] = [await cluster.controller('cp-1'), await cluster.controller('cp-2')]
    expect([await first.renew(), await second.renew()]).toEqual([true, false])
    await first.kill()
    await cluster.elapse(10)
    // The lease is stale when volctl reads it first, and then the other one takes over.
    await cluster.api.setFaults({ path: '/api/v1/pods?', times: 1, action: { type: 'hold' } })
    const plan = cluster.plan()
    await expect.poll(() => cluster.api.held()).toBe(1)
    expect(await second.renew()).toBe(true)
    await cluster.api.setFaults()
    expect(await plan).toMatchObject({ operations: [], inputs: { controller: { state: 'lives' } } })
    // Given back by one that is stopped in good order: nobody has it, and it is not stale.
    await second.release()
    await cluster.elapse(0.5)
    const released = await cluster.plan()
    expect([released.inputs.controller.state, released.operations]).toEqual(['mayLive', []])
  })
})

/** Its lease is stale: it leads by another one, or its lease cannot be seen. */
const HIDDEN: readonly { readonly name: string; readonly sign: () => object[]; readonly note: string }[] = [
  {
    name: 'creates a pod',
    sign: () => [
      {
        kind: 'Pod',
        metadata: {
          ...{ namespace: 'shop', name: 'other', uid: 'other' },
          managedFields: [{ manager: 'kube-controller-manager', operation: 'Update', time: now() }],
        },
        spec: {},
      },
    ],
    note: 'kube-controller-manager wrote pods/shop/other',
  },
  {
    name: 'goes by another name, and reports what is attached',
    sign: () => {
      const [made] = node('here') as [{ metadata: object }]
      const fieldsV1 = { 'f:status': { 'f:volumesAttached': {} } }
      const managedFields = [{ manager: 'hosted', operation: 'Update', time: now(), fieldsV1 }]
      return [{ ...made, metadata: { ...made.metadata, managedFields } }]
    },
    note: 'hosted wrote nodes/here',
  },
  {
    name: 'leads by a lease of another name',
    sign: () => [
      {
        kind: 'Lease',
        metadata: { namespace: 'kube-system', name: 'hosted-kube-controller-manager' },
        spec: { holderIdentity: 'cp-9', leaseDurationSeconds: 15, renewTime: now() },
      },
    ],
    note: 'lease kube-system/hosted-kube-controller-manager was renewed by cp-9',
  },
]

const now = (): string => new Date().toISOString().replace(/\.\d+/, '')

describe('a controller behind a stale lease', () => {
  it.each(HIDDEN)('that $name is seen to live', async ({ sign, note }) => {
    await using cluster = await LiveCluster.start(moved())
    expect((await cluster.plan(...GONE)).inputs.controller.state).toBe('dead')
    await cluster.api.put(...sign())
    const { inputs, waiting } = await cluster.plan(...GONE)
    expect([inputs.controller.state, inputs.controller.note]).toEqual(['lives', expect.stringContaining(note)])
    expect(waiting.map(({ code }) => code)).toContain('ControllerActs')
    // What it did before its lease ended is no sign that it lives.
    await cluster.elapse(1)
    await cluster.api.put({
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'kube-controller-manager' },
      spec: { renewTime: now(), holderIdentity: 'cp-1', leaseDurationSeconds: 15 },
    })
    await cluster.elapse(10)
    expect((await cluster.plan(...GONE)).inputs.controller.state).toBe('dead')
  })

  it.each([
    { at: 'between its two looks', fault: { method: 'POST', path: '/leases' } },
    { at: 'right before its first operation', fault: { method: 'GET', path: '/api/v1/nodes/gone' } },
  ])('that attaches while an apply runs stops it $at', async ({ fault }) => {
    await using cluster = await LiveCluster.start(moved())
    await cluster.api.setFaults({ ...fault, times: 1, action: { type: 'hold' } })
    const apply = cluster.begin(...GONE)
    await expect.poll(() => cluster.api.held()).toBe(1)
    const [made] = node('here') as [{ status: object }]
    await cluster.api.put({ ...made, status: { ...made.status, volumesAttached: [{ name: 'x', devicePath: '' }] } })
    await cluster.api.setFaults()
    const { ends } = await apply.ended
    expect(ends).toContainEqual(expect.stringContaining('refused AttachVolume pv-data@here'))
    expect(await cluster.attachments()).not.toContain('pv-data@here')
  })
})

/** An apply is held at a request, and the controller does everything meanwhile. */
const CAME_BACK: readonly {
  readonly at: string
  readonly fault: Omit<Fault, 'action'>
  readonly status: number
  readonly ends: readonly string[]
  /** Of volctl. */
  readonly changes: readonly string[]
}[] = [
  {
    at: 'before its first operation',
    fault: { method: 'GET', path: '/api/v1/nodes/gone' },
    status: 4,
    ends: [
      'refused DetachVolume pv-data@gone ControllerRunning',
      'refused AttachVolume pv-data@here ControllerRunning',
    ],
    changes: [],
  },
  {
    at: 'at its DELETE, which comes too late',
    fault: { method: 'DELETE' },
    status: 3,
    ends: ['done DetachVolume pv-data@gone', 'refused AttachVolume pv-data@here ControllerRunning'],
    changes: ['DELETE 404'],
  },
  {
    at: 'at its POST of the same attachment',
    fault: { method: 'POST', path: '/volumeattachments' },
    status: 0,
    ends: ['done DetachVolume pv-data@gone', 'done AttachVolume pv-data@here'],
    changes: ['DELETE 200', 'POST 409'],
  },
]

describe('a controller that comes back in mid-apply', () => {
  it.each(CAME_BACK)('$at: nothing is done twice', async ({ fault, status, ends, changes }) => {
    await using cluster = await LiveCluster.start(moved())
    await cluster.api.setFaults({ ...fault, times: 1, action: { type: 'hold' } })
    const apply = cluster.begin(...GONE)
    await expect.poll(() => cluster.api.held()).toBe(1)
    const controller = await cluster.controller()
    const { late } = await controller.settle()
    await cluster.api.setFaults()
    const applied = await apply.ended
    expect(applied).toMatchObject({ status, ends })
    expect([late, await cluster.changes()]).toEqual([[], changes])
    expect((await controller.settle()).did).toEqual([])
    expect(await cluster.attachments()).toEqual(['pv-data@here'])
  })

  it('and deletes what volctl is about to delete: refused, and the rest is left to it', async () => {
    await using cluster = await LiveCluster.start(moved(), 'process')
    await cluster.api.setFaults({ method: 'DELETE', times: 1, action: { type: 'hold' } })
    const apply = cluster.begin(...GONE)
    await expect.poll(() => cluster.api.held()).toBe(1)
    const controller = await cluster.controller()
    expect((await controller.pass()).did).toEqual(['detach pv-data gone'])
    await cluster.api.setFaults()
    expect(await apply.ended).toMatchObject({
      status: 3,
      ends: ['refused DetachVolume pv-data@gone Changed', 'skipped AttachVolume pv-data@here Predecessor'],
    })
    expect(await cluster.changes()).toEqual(['DELETE 409'])
    // As the plan says: the controller acts, and before it the attacher.
    expect(waitsOf(await cluster.plan())).toEqual(['AttachmentDeleting pv-data@gone', 'DetachFirst pv-data@here'])
    await using _ = await startAttacher(cluster.api, { driver: DRIVER })
    expect((await controller.settle()).did.filter((each) => !isReport(each))).toEqual(['attach pv-data here'])
    expect(await cluster.attachments()).toEqual(['pv-data@here'])
  })
})

describe('a controller that is frozen right before a change', () => {
  /** It is about to detach; then its lease expires. */
  async function frozen() {
    const cluster = await LiveCluster.start(moved())
    const controller = await cluster.controller()
    expect(await controller.stopBefore(1)).toBe('detach pv-data gone')
    controller.freeze()
    await cluster.elapse(10)
    return { cluster, controller }
  }

  it('and goes on after the whole apply: its change comes too late, and it finds nothing to do', async () => {
    const { cluster, controller } = await frozen()
    await using _ = cluster
    expect(await cluster.apply(...GONE)).toMatchObject({
      status: 0,
      ends: ['done DetachVolume pv-data@gone', 'done AttachVolume pv-data@here'],
    })
    controller.thaw()
    expect(await controller.goOn()).toMatchObject({ did: [], late: ['detach pv-data gone'] })
    expect((await controller.settle()).did.filter((each) => !isReport(each))).toEqual([])
    expect(await cluster.attachments()).toEqual(['pv-data@here'])
  })

  it('and goes on in mid-apply: the apply ends, and nothing is done twice', async () => {
    const { cluster, controller } = await frozen()
    await using _ = cluster
    await cluster.api.setFaults({ method: 'DELETE', times: 1, action: { type: 'hold' } })
    const apply = cluster.begin(...GONE)
    await expect.poll(() => cluster.api.held()).toBe(1)
    controller.thaw()
    expect((await controller.goOn()).did).toEqual(['detach pv-data gone'])
    expect((await controller.pass()).did.filter((each) => !isReport(each))).toEqual(['attach pv-data here'])
    await cluster.api.setFaults()
    expect(await apply.ended).toMatchObject({
      status: 3,
      ends: ['done DetachVolume pv-data@gone', 'refused AttachVolume pv-data@here ControllerRunning'],
    })
    expect(await cluster.attachments()).toEqual(['pv-data@here'])
  })
})
