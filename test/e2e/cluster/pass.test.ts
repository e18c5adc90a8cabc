/** volctl beside an API server, a controller that is dead or lives, and an external attacher. */
import { expect, it } from 'vitest'
import { attached, claimed, controllerLease, DRIVER, node, pod } from '../../cluster/apply/scene.ts'
import { startAttacher } from '../../cluster/attacher.ts'
import type { Fault } from '../../helpers/api-server/faults.ts'
import { ATTACH, DETACH, GONE, LiveCluster, moved, operationsOf, waitsOf } from './live-cluster.ts'

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

it('a controller that is dead: volctl does what it would have done', async () => {
  await using cluster = await LiveCluster.start(abandoned())
  const applied = await cluster.apply(...GONE)
  expect(applied.ends.toSorted()).toEqual(LEFT.map((each) => `done ${each}`))
  expect(applied.status).toBe(0)
  expect(await cluster.attachments()).toEqual(DONE)
})

it('a controller that lives, while pods come and go: every plan is empty, and an apply does nothing', async () => {
  await using cluster = await LiveCluster.start(
    [...node('n1'), ...node('n2'), ...['a', 'b'].flatMap(claimed), attached('a', 'n1')],
    'own',
  )
  for (const on of ['n1', 'n2', 'n1']) {
    cluster.api.put(controllerLease(0), ...['a', 'b'].map((claim) => pod(`${claim}-0`, on, claim)))
    await cluster.kubelets()
    const plan = await cluster.plan()
    expect([plan.inputs.controller.state, plan.operations]).toEqual(['lives', []])
  }
  expect(await cluster.apply()).toMatchObject({ status: 0, ends: [] })
  expect(cluster.changes()).toEqual([])
})

it('a controller that attaches between the two looks of an apply stops it', async () => {
  await using cluster = await LiveCluster.start(moved())
  const { ended } = await cluster.beginHeld({ method: 'POST', path: '/leases' })
  const [made] = node('here') as [{ status: object }]
  cluster.api.put({ ...made, status: { ...made.status, volumesAttached: [{ name: 'x', devicePath: '' }] } })
  cluster.api.setFaults()
  expect((await ended).ends).toContainEqual(expect.stringContaining('refused AttachVolume pv-data@here'))
  expect(await cluster.attachments()).not.toContain('pv-data@here')
})

it('a controller that comes back and deletes what volctl is about to delete: refused, and the rest is left to it', async () => {
  await using cluster = await LiveCluster.start(moved(), 'own')
  const { ended } = await cluster.beginHeld({ method: 'DELETE' })
  cluster.api.put(controllerLease(0))
  await cluster.detach('data', 'gone')
  cluster.api.setFaults()
  expect(await ended).toMatchObject({
    status: 3,
    ends: ['refused DetachVolume pv-data@gone Changed', 'skipped AttachVolume pv-data@here Predecessor'],
  })
  expect(cluster.changes()).toEqual(['DELETE 409'])
  // As the plan says: the controller acts, and before it the attacher.
  expect(waitsOf(await cluster.plan())).toEqual(['AttachmentDeleting pv-data@gone', 'DetachFirst pv-data@here'])
})

it('an attacher that fails to detach: its words are shown, nothing is attached, and the next plan waits for it', async () => {
  await using cluster = await LiveCluster.start(moved(), 'own')
  await using _ = await startAttacher(cluster.api, { driver: DRIVER, detachError: 'the disk is busy' })
  const applied = await cluster.apply(...GONE, '--timeout', '100ms')
  expect(applied).toMatchObject({
    status: 3,
    ends: [`failed ${DETACH} TimedOut`, `skipped ${ATTACH} Predecessor`],
  })
  expect(applied.stdout).toContain('the last attempt to detach failed: the disk is busy')
  const plan = await cluster.plan()
  expect([operationsOf(plan), waitsOf(plan)]).toEqual([
    [],
    ['AttachmentDeleting pv-data@gone', 'DetachFirst pv-data@here'],
  ])
  expect(await cluster.attachments()).toEqual(['pv-data@gone!'])
})

const PAGE = { path: '/api/v1/pods?', skip: 1 }

it.each<{ name: string; fault: Fault; operations: readonly string[]; complete: boolean }>([
  {
    name: 'whose token expires once, is read again',
    fault: { ...PAGE, times: 1, action: { type: 'expire' } },
    operations: ['DetachVolume pv-free@here'],
    complete: true,
  },
  {
    name: 'whose page ends in its middle',
    fault: { ...PAGE, action: { type: 'body', body: '{"kind":"PodList","items":[' } },
    operations: [],
    complete: false,
  },
])('a list $name: no operation rests on what was not read', async ({ fault, operations, complete }) => {
  // Nobody wants volume free. That web-1 wants its own stands on a later page.
  const idle = Array.from({ length: 500 }, (_, n) => pod(`idle-${n}`, 'here', 'one'))
  const volumes = ['free', 'one'].flatMap((name) => [...claimed(name), attached(name, 'here')])
  await using cluster = await LiveCluster.start([...node('here'), ...volumes, ...idle, pod('web-1', 'here', 'one')])
  cluster.api.setFaults(fault)
  const plan = await cluster.plan()
  expect([operationsOf(plan), plan.complete]).toEqual([operations, complete])
})
