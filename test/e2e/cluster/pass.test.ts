/** volctl beside an API server, a controller that is dead or lives, and an external attacher. */
import { expect, it } from 'vitest'
import { attached, claimed, controllerLease, DRIVER, node, pod } from '../../cluster/apply/scene.ts'
import { startAttacher } from '../../cluster/attacher.ts'
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
  cluster.api.setFaults({ method: 'POST', path: '/leases', times: 1, action: { type: 'hold' } })
  const { ended } = cluster.begin(...GONE)
  await expect.poll(() => cluster.api.held()).toBe(1)
  const [made] = node('here') as [{ status: object }]
  cluster.api.put({ ...made, status: { ...made.status, volumesAttached: [{ name: 'x', devicePath: '' }] } })
  cluster.api.setFaults()
  expect((await ended).ends).toContainEqual(expect.stringContaining('refused AttachVolume pv-data@here'))
  expect(await cluster.attachments()).not.toContain('pv-data@here')
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
