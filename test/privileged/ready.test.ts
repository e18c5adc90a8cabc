/** What a plan calls ready, an apply does: who uses what it would take away is seen by the plan, live and from a snapshot. */
import { describe, expect } from 'vitest'
import type { Plan } from '../../src/core/plan/plan.ts'
import { it } from '../helpers/machine.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { holdByShell, holdElsewhere } from './holder.ts'
import { applyTo, blockedOf, onBroken, planOf } from './safety/broken-scene.ts'

/** What is the same of two looks: all but when they were. */
function comparable({ inputs, operations, waiting, problems, summary }: Plan): object {
  const { next: _, ...rest } = summary
  return { operations, waiting, problems, summary: rest, unjudged: inputs.unjudged }
}

/** The plan, which is the same from a snapshot. */
async function plansOf(scene: Scene, directory: string): Promise<Plan> {
  const plan = await planOf(scene)
  const file = `${directory}/node.json.gz`
  await runVolctl(scene, ['snapshot', '-o', file])
  expect(comparable(await planOf(scene, '--snapshot', file))).toEqual(comparable(plan))
  return plan
}

/** Nothing that was ready is left undone. */
async function appliesWhatIsReady(scene: Scene): Promise<readonly string[]> {
  const { ends } = await applyTo(scene)
  expect(ends.filter((end) => /: (?:failed|refused|skipped)/.test(end))).toEqual([])
  return ends
}

describe('ready for real', () => {
  it('S12, S21: a process in a mount is named by the plan, what follows waits for it, and the rest is done', ({
    directory,
  }) =>
    onBroken(directory, async (scene) => {
      const volume = `${scene.rootDir}/pods/${scene.pods.db.uid}/volumes/kubernetes.io~csi/pv-common/mount`
      const { pid, end } = await holdByShell(':', volume)
      const held = await plansOf(scene, directory)
      expect(blockedOf(held)).toEqual(['UnmountVolume pv-common: HeldBy'])
      const cause = held.summary.causes?.find(({ kind }) => kind === 'in-use')
      expect(cause?.message).toMatch(new RegExp(`^pv-common of \\S+ is in use by sh \\(pid ${pid}, cwd\\)$`))
      expect(held.inputs.unjudged.map(({ rule }) => rule)).not.toContain('S21')
      const applied = await appliesWhatIsReady(scene)
      expect(applied).toContain('UnmountVolume pv-common: blocked HeldBy')
      expect(applied.filter((each) => each.endsWith(': done')).length).toBeGreaterThan(8)
      await end()
      expect(blockedOf(await plansOf(scene, directory))).toEqual([])
      expect((await appliesWhatIsReady(scene)).every((each) => each.endsWith(': done'))).toBe(true)
    }))

  // As a monitoring container has them: the directory cannot be removed. Of a user's own they hold back what takes the device away alone.
  it.for([
    { whose: 'somebody', kinds: '-m', held: true },
    { whose: 'a user in namespaces of his own', kinds: '-Urm', held: false },
  ])(
    'S24, S39, R036: mounts that $whose has copied: an unmount is held back: $held',
    ({ kinds, held }, { directory }) =>
      onBroken(directory, async (scene) => {
        const { pid, end } = await holdElsewhere(`cd ${directory}`, kinds)
        const blocked = blockedOf(await plansOf(scene, directory))
        expect(blocked.includes('UnmountVolume pv-common: HeldBy')).toBe(held)
        const { stdout: screen } = await runVolctl(scene, ['plan'])
        expect(screen).toMatch(new RegExp(`\\d volumes are in use by sh \\(pid ${pid}\\)`))
        await appliesWhatIsReady(scene)
        await end()
        expect((await appliesWhatIsReady(scene)).every((each) => each.endsWith(': done'))).toBe(true)
      }),
  )
})
