/** Clocks of this host and of the API server that disagree. One that jumps while an apply is at work: meanwhile.test.ts. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'vitest'
import { node, pod } from '../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../helpers/scene/pods.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { hostSays, it, planOf } from './story.ts'

const HOUR = 3_600_000

/** What the cluster says about this node, with all times so much later, and by a clock that is so much ahead. */
async function clusterSays({ pods, sources, api }: Scene, timesMs: number, clockSkewMs: number): Promise<void> {
  const volumes = Object.values(pods).flatMap((each) => each.volumes)
  const objects = JSON.stringify([node([...volumes, FORGOTTEN, IDLE]), pod(pods.web, sources.hostPath)])
  const later = (text: string): string => new Date(Date.parse(text) + timesMs).toISOString().replace(/\.\d+/, '')
  const shifted = objects.replaceAll(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"/g, (_, text: string) => `"${later(text)}"`)
  await api.put(...(JSON.parse(shifted) as object[]))
  await api.set({ clockSkewMs })
}

/** Ids of what would be done, and codes of what is waited for. */
async function planned(
  scene: Scene,
): Promise<{ readonly ready: readonly string[]; readonly waiting: readonly string[] }> {
  const { operations, waiting } = (await planOf(scene, '--orphans')).plan
  return {
    ready: operations.flatMap(({ id, blocked }) => (blocked ? [] : [id])),
    waiting: [...new Set(waiting.map(({ code }) => code))].toSorted(),
  }
}

it("S28: what is done is the same, whether the cluster's clock is right, an hour behind or an hour ahead", async ({
  broken,
}) => {
  await clusterSays(broken, 0, 0)
  const right = await planned(broken)
  expect(right.ready.length).toBeGreaterThan(10)
  for (const off of [-HOUR, HOUR]) {
    await clusterSays(broken, off, off)
    expect((await planned(broken)).ready).toEqual(right.ready)
  }
})

it('S29: a cluster whose clock is right, and whose times are an hour old, is one from a backup', async ({ broken }) => {
  await clusterSays(broken, -HOUR, 0)
  const { status, stderr } = await runVolctl(broken, ['plan'])
  expect(status).toBe(4)
  expect(stderr).toMatch(/^volctl: refused: directory pods\/\S+ is newer than anything/)
})

it("S28: while a kubelet runs, nothing looks settled because this host's clock was set forward", async ({ broken }) => {
  // As if nothing had changed for ten minutes.
  const directories = [broken.pods.db, broken.pods.batch].map(({ uid }) => join(broken.rootDir, 'pods', uid))
  execFileSync('find', [...directories, '-xdev', '-exec', 'touch', '-h', '-d', '10 minutes ago', '{}', '+'])
  hostSays(broken, { kubelet: { running: true, mayReturn: true } })
  await clusterSays(broken, 0, 0)
  const settled = await planned(broken)
  expect(settled.ready.length).toBeGreaterThan(5)
  expect(settled.waiting).not.toContain('Settling')
  await clusterSays(broken, -24 * HOUR, -24 * HOUR)
  expect(await planned(broken)).toEqual({ ready: [], waiting: expect.arrayContaining(['Settling']) })
})
