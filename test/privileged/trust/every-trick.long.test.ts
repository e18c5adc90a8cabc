/**
 * S33, S34: each thing that volctl looks at, with each trick that somebody else could play on it, on whole runs of its
 * commands: nothing is run for him, nothing hangs, nothing is written for him, and nothing grows.
 *
 * A seeded choice of trials; VOLCTL_TRICKS=500 tries as many with another seed, VOLCTL_TRICKS=all every one.
 */
import { expect, vi } from 'vitest'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
import { startNode } from './node.ts'
import { allTrials, chosenTrials, SUBJECTS, type Subject, type Trial, tryAll } from './untrusted.ts'

const { VOLCTL_TRICKS: asked } = process.env
vi.setConfig({ testTimeout: 1_200_000 })

const seed = asked === undefined ? 1207 : Math.floor(Math.random() * 2 ** 31)
const trials = asked === 'all' ? allTrials() : chosenTrials(Number(asked ?? 100), seed)

describeUnless(noRoot, 'what others had a hand in', () => {
  it('S34: does not hold up a Ctrl-C', async ({ directory }) => {
    await using node = await startNode(directory)
    const tricks = ['slow', 'endless', 'of 10 GB'] as const
    const looked = (Object.keys(SUBJECTS) as Subject[]).map((subject, index): Trial => {
      const trick = tricks[index % tricks.length] ?? 'slow'
      return { subject, trick, command: subject === 'snapshot file' ? 'plan' : 'apply' }
    })
    // At another moment of each.
    const found = await tryAll(node, looked, (index) => ({ interruptAtMs: 300 + 250 * (index % 5) }))
    expect(found.filter(({ wrong }) => wrong.length > 0)).toEqual([])
  })

  it('S33, S34: has no effect', async ({ directory }) => {
    await using node = await startNode(directory)
    const found = await tryAll(node, trials)
    expect(
      found.filter(({ wrong }) => wrong.length > 0),
      `seed ${seed}`,
    ).toEqual([])
    expect(found).toHaveLength(trials.length)
  })
})
