/**
 * The API server goes away while an apply is at work, in every way in which it can: it answers nothing, its process stops
 * for a while, connections end, it fails, throttles, forbids, or does what it is told and the answer is lost.
 */
import { expect } from 'vitest'
import { attachmentName } from '../../src/core/volumes/volume-names.ts'
import type { Fault } from '../helpers/api-server/faults.ts'
import { DRIVER, NODE } from '../helpers/scene/api-objects.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { endsOf, eventsOf, unclearOf } from './scenarios/outcomes.ts'
import { APPLY, applyMeanwhile, it, leftOf } from './story.ts'

const failing = (status: number, reason = ''): Fault['action'] => ({ type: 'status', status, reason, retryAfter: 0 })
const attachment = (handle: string): string => `/volumeattachments/${attachmentName(handle, DRIVER, NODE)}`
const undone = (ends: readonly string[]): string[] => ends.filter((end) => !end.endsWith(': done'))

async function applyWith(scene: Scene, ...faults: readonly Fault[]) {
  scene.api.setFaults(...faults)
  const run = await runVolctl(scene, APPLY)
  scene.api.setFaults()
  // Every failure is one clear line with a code of the catalogue and a next step.
  expect(unclearOf(run)).toEqual([])
  expect(run.stderr).not.toMatch(/^ +at /m)
  const notes = eventsOf(run).flatMap(({ type, code }) => (type === 'note' ? [code] : []))
  return { status: run.status, ends: endsOf(run), notes }
}

it('between two operations: what is done is done, and what comes next is not begun; while it is asked to detach: each failure by itself', async ({
  broken,
}) => {
  const contents = broken.contentHashes()
  // The driver is at work when the API server ends.
  const between = await applyMeanwhile(broken, () => broken.api.setFaults({ action: failing(500) }))
  broken.api.setFaults()
  expect([between.status, unclearOf(between)]).toEqual([3, []])
  for (const end of [
    'UnmountVolume pv-common: done',
    'UnmountVolume scratch: refused AlivenessUnknown',
    'UnmountDevice vol-old: refused AlivenessUnknown',
    'DetachVolume pv-idle: failed ApiFailed',
  ])
    expect(endsOf(between)).toContain(end)
  const detaching = await applyWith(
    broken,
    { path: attachment('vol-old'), method: 'GET', action: failing(500) },
    { path: attachment('vol-idle'), method: 'DELETE', action: failing(403, 'Forbidden') },
    { path: attachment('vol-batch'), method: 'DELETE', action: { type: 'drop' } },
  )
  expect([detaching.status, undone(detaching.ends)]).toEqual([
    3,
    [
      'DetachVolume pv-idle: failed Forbidden',
      'DetachVolume vol-batch: failed ApiUnreachable',
      'DetachVolume vol-old: failed ApiFailed',
    ],
  ])
  // Before its answer to a detach: what became of it is read; that it is away at the end changes no outcome.
  const once = { method: 'DELETE', times: 1, action: { type: 'lose' } } as const
  const lost = await applyWith(
    broken,
    { path: attachment('vol-old'), ...once },
    { path: attachment('vol-idle'), ...once },
    // Once for the plan, once for each of them: what is left cannot be read.
    { path: '/pods?', skip: 4, action: { type: 'drop' } },
  )
  expect(lost).toMatchObject({
    status: 0,
    ends: ['pv-batch', 'pv-idle', 'pv-old'].map((volume) => `DetachVolume ${volume}: done`),
    notes: ['ReadFailed'],
  })
  expect(await leftOf(broken)).toBe(0)
  expect(broken.contentHashes()).toEqual(contents)
})
