/** volctl beside an API server, and a controller that is dead or comes back; with an external attacher: test/apply/cluster. */
import { expect, it } from 'vitest'
import { attached, claimed, node, pod } from '../../apply/cluster/scene.ts'
import { GONE, LiveCluster } from './live-cluster.ts'

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

it('a controller that attaches between the two looks of an apply stops it', async () => {
  await using cluster = await LiveCluster.start([
    ...[...node('here'), ...claimed('data')],
    ...[pod('web-0', 'here', 'data'), attached('data', 'gone')],
  ])
  cluster.api.setFaults({ method: 'POST', path: '/leases', times: 1, action: { type: 'hold' } })
  const { ended } = cluster.begin(...GONE)
  await expect.poll(() => cluster.api.held()).toBe(1)
  const [made] = node('here') as [{ status: object }]
  cluster.api.put({ ...made, status: { ...made.status, volumesAttached: [{ name: 'x', devicePath: '' }] } })
  cluster.api.setFaults()
  expect((await ended).ends).toContainEqual(expect.stringContaining('refused AttachVolume pv-data@here'))
  expect(await cluster.attachments()).not.toContain('pv-data@here')
})
