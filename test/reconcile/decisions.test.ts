import fc from 'fast-check'
import { expect, it } from 'vitest'
import { globalMounts } from '../../src/core/facts/global-mounts.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import { decisionsOf } from '../../src/core/reconcile/decisions.ts'
import { decideNode, planNode } from '../../src/core/reconcile/plan-node.ts'
import { podPathOf } from '../../src/core/volumes/desired-state.ts'
import { podParts } from '../../src/core/volumes/on-disk/pod-volumes.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { buildNode, randomNode } from '../helpers/random-node.ts'

/** Paths of what is on the node, or should be, of which nothing says why it is left or acted on. */
function unexplained(state: NodeState, given: Partial<PlanOptions> = {}): string[] {
  const decided = decideNode(state, planOptions(given))
  const { plan, context } = decided
  const decisions = decisionsOf(decided)
  expect(plan).toEqual(planNode(state, planOptions(given)))
  const { inputs, classes, desired, staged, blocks } = context
  // One word for all: no phase has run.
  if (decisions.some(({ path, rule }) => path === inputs.rootDir && rule === 'S3')) return []
  const said = new Set([
    ...decisions.map(({ path }) => path),
    ...plan.operations.flatMap(({ paths, steps }) => [...paths, ...steps.map(({ target }) => target)]),
    ...plan.problems.flatMap(({ about }) => about.path ?? []),
  ])
  const waits = (pod: string, name: string): boolean =>
    [...plan.waiting, ...plan.operations].some((each) => each.pod?.uid === pod && each.volume?.name === name)
  const { volumeAttachments = [] } = state.snapshot.api ?? {}
  return [
    ...classes.all.map(({ uid: pod }) => [inputs.absolute(`pods/${pod}`)]),
    ...classes.all.flatMap(({ uid: pod }) =>
      podParts(inputs, pod)
        .volumes.filter(({ name }) => !waits(pod, name))
        .map(({ dir, target }) => [dir, target].map((path) => inputs.absolute(path))),
    ),
    ...desired.volumes
      .filter((volume) => classes.of(volume.podUid)?.class === 'Desired' && !waits(volume.podUid, volume.specName))
      .map((volume) => [inputs.absolute(podPathOf(volume))]),
    ...staged.map(({ target, dir }) => [target, dir].map((path) => inputs.absolute(path))),
    ...blocks.map(({ dir }) => [inputs.absolute(dir)]),
    ...globalMounts(inputs).map(({ path }) => [inputs.absolute(path)]),
    ...volumeAttachments
      .filter(({ spec }) => spec.nodeName === state.snapshot.nodeName)
      .map(({ metadata }) => [`volumeattachments/${metadata.name}`]),
  ]
    .filter((paths) => !paths.some((path) => said.has(path)))
    .filter(() => !plan.waiting.some(({ kind }) => kind === 'UnmountDevice' || kind === 'UnmapDevice'))
    .map(([first = '']) => first)
    .filter(
      (path) => !(path.startsWith('volumeattachments/') && plan.waiting.some(({ kind }) => kind === 'DetachVolume')),
    )
}

it.each(captureFiles())('nothing on a real node is left without a word: %s', async (path) => {
  const state = await recorded(path)
  expect(unexplained(state)).toEqual([])
  expect(unexplained(state, { orphans: true })).toEqual([])
})

it('nothing on any node is left without a word', () =>
  fc.assert(
    fc.property(randomNode, fc.boolean(), (random, orphans) => {
      expect(unexplained(buildNode(random), { orphans })).toEqual([])
    }),
    { numRuns: 50, seed: 1136 },
  ))
