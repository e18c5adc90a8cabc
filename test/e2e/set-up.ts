/** The other half of the main job: what pods want and do not have is brought up, by the built volctl; on one layout of mounts. */
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { clusterObjects } from '../helpers/scene/api-objects.ts'
import { type Layout, timesInTable } from '../helpers/scene/layouts.ts'
import { makeScene, type Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './scenarios/fingerprint.ts'
import { planOf } from './story.ts'

const APPLY = ['apply', '--yes', '-o', 'ndjson'] as const

export function setsUp(layout: Layout): void {
  let scene: Scene
  let before: Fingerprint
  /** All that volctl printed: no secret may be in it. */
  let said = ''
  const fileOf = (plugin: string, ...names: readonly string[]): string =>
    join(scene.rootDir, 'pods', scene.pods.web.uid, 'volumes', `kubernetes.io~${plugin}`, ...names)
  const apply = async (...flags: readonly string[]): Promise<void> => {
    const run = await runVolctl(scene, [...APPLY, ...flags])
    said += run.stdout + run.stderr
    expect(run).toMatchObject({ status: 0, stderr: '' })
  }
  beforeAll(async () => {
    scene = await makeScene({ layout })
    before = await fingerprint(scene)
    await scene.reboot()
  })
  afterAll(() => scene.dispose())

  it('after a reboot everything is planned, and nothing is blocked (O25)', async () => {
    const { plan, text } = await planOf(scene)
    said += text
    expect(plan.operations.filter(({ blocked }) => blocked !== undefined)).toEqual([])
    expect(plan.waiting).toEqual([])
    expect(new Set(plan.operations.map(({ kind }) => kind)).has('MountVolume')).toBe(true)
  })

  it('apply brings it up: what was mounted is mounted, no byte has changed, and the next plan is empty', async () => {
    const calls = scene.driver.succeeded().length
    await apply()
    const count = (rpc: string): number =>
      scene.driver
        .succeeded()
        .slice(calls)
        .filter((each) => each === rpc).length
    // Two pods share a volume: it is staged once.
    expect(count('NodePublishVolume') - count('NodeStageVolume')).toBe(1)
    expect(scene.driver.violations()).toEqual([])
    const { status, plan } = await planOf(scene)
    expect([status, plan.operations, plan.problems]).toEqual([0, [], []])
    const end = await fingerprint(scene)
    expect(end.mounts.length / new Set(end.mounts).size).toBe(timesInTable(layout))
    // Containers get sub-paths.
    const own = (paths: readonly string[]): string[] =>
      paths.filter((path) => !path.includes('volume-subpaths')).toSorted()
    expect(own(end.mounts)).toEqual(own(before.mounts))
    const { 'pod that lives': _, ...contents } = before.contents
    expect(end.contents).toMatchObject(contents)
  })

  it('a configMap that changed waits to be asked for, and is written anew then (S23)', async () => {
    const settings = clusterObjects().find((object) => (object as { kind: string }).kind === 'ConfigMap')
    await scene.api.put({ ...settings, data: { 'app.conf': 'greeting = good morning\n' } })
    const { plan } = await planOf(scene)
    expect(plan.operations.map(({ kind, blocked }) => [kind, blocked?.code])).toEqual(
      Array(3).fill(['RemountVolume', 'NotAsked']),
    )
    await apply('--remount')
    expect(readFileSync(fileOf('configmap', 'settings', 'app.conf'), 'utf8')).toBe('greeting = good morning\n')
    expect((await planOf(scene)).plan.operations).toEqual([])
  })

  it('a secret is where it belongs, and nowhere else', () => {
    expect(readFileSync(fileOf('secret', 'password', 'password'), 'utf8')).toBe('open sesame')
    expect(lstatSync(fileOf('secret', 'password', '..data', 'password')).mode & 0o7777).toBe(0o644)
    said += readFileSync(join(scene.directory, 'journal', 'journal.jsonl'), 'utf8')
    for (const secret of ['open sesame', Buffer.from('open sesame').toString('base64')])
      expect(said).not.toContain(secret)
  })
}
