/** volctl beside an external attacher that is slow, fails, dies in the middle, or is gone for good. */
import { expect, it } from 'vitest'
import { attached, claimed, DRIVER, node, pod } from '../../cluster/apply/scene.ts'
import { startAttacher } from '../../helpers/attacher/start.ts'
import { LiveCluster, operationsOf, waitsOf } from './live-cluster.ts'

const GONE = ['--node-gone', 'gone']
const DETACH = 'DetachVolume pv-data@gone'
const ATTACH = 'AttachVolume pv-data@here'

/** Web-0 was moved from a node that is gone to one that is ready. */
function moved(): Promise<LiveCluster> {
  return LiveCluster.start(
    [...node('here'), ...claimed('data'), pod('web-0', 'here', 'data'), attached('data', 'gone')],
    'process',
  )
}

it('one that fails to detach: its words are shown, nothing is attached, and the next plan waits for it', async () => {
  await using cluster = await moved()
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

it('one that is killed in mid-detach, and another that takes its place: the apply goes on', async () => {
  await using cluster = await moved()
  const slow = await startAttacher(cluster.api, { driver: DRIVER, delayMs: 600_000 })
  const apply = cluster.begin(...GONE)
  await expect.poll(() => cluster.attachments()).toEqual(['pv-data@gone!'])
  await slow.end('SIGKILL')
  await using _ = await startAttacher(cluster.api, { driver: DRIVER, delayMs: 50 })
  expect(await apply.ended).toMatchObject({ status: 0, ends: [`done ${DETACH}`, `done ${ATTACH}`] })
  expect(await cluster.attachments()).toEqual(['pv-data@here'])
})

it('one that is gone for good, with its driver: its finalizer is taken off on request, and with the digest of the plan', async () => {
  await using cluster = await moved()
  expect((await cluster.apply(...GONE, '--timeout', '100ms')).status).toBe(3)
  await cluster.api.remove('CSIDriver', DRIVER)
  await cluster.withoutDriver('here')
  await cluster.elapse(10)
  const strip = [...GONE, '--strip-finalizers']
  const refused = await cluster.apply(...strip)
  const digest = /--confirm (\S+?)\.?"/.exec(refused.stderr)?.[1] ?? ''
  expect([refused.status, JSON.parse(refused.stderr)]).toEqual([1, expect.objectContaining({ code: 'NotConfirmed' })])
  expect(await cluster.apply(...strip, '--confirm', digest)).toMatchObject({ status: 0, ends: [`done ${DETACH}`] })
  expect(await cluster.attachments()).toEqual([])
})
