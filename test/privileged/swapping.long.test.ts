/**
 * S12, while somebody works against it: nothing outside of the volume changes, not even a time stamp, however often its
 * directories are swapped for links and mounts while they are being deleted.
 *
 * By hand it was shown that the swapper wins these races where deletion goes by paths, and that each guard counts: without
 * the comparison of mount ids `traps` and `mounts` fail, without O_NOFOLLOW `links` fails, and without the look at the opened
 * directory's real path `parents` fails.
 */
import { expect } from 'vitest'
import { it } from '../helpers/machine.ts'
import { noSystemCalls } from '../helpers/namespace.ts'
import { describeUnless } from './describe-unless.ts'
import { race } from './swapping.ts'

describeUnless(noSystemCalls, 'deleting what is being swapped', () => {
  it.for([
    { kind: 'links', rounds: 10_000, stops: ['Swapped'] },
    { kind: 'traps', rounds: 5_000, stops: ['ForeignMount', 'Swapped'] },
    { kind: 'mounts', rounds: 2_000, stops: ['ForeignMount', 'Swapped'] },
    { kind: 'moves', rounds: 3_000, stops: ['Swapped'] },
  ])('$kind: $rounds times, and nothing outside has changed', async ({ kind, rounds, stops }, { directory }) => {
    const { untouched, ended, changed, outcomes, left } = await race(directory, kind, rounds)
    expect({ untouched, ended, left }).toEqual({ untouched: true, ended: 0, left: [] })
    // It was a race: the volume's own files were deleted all along, and walks that met a swap stopped and said so.
    expect(changed).toBeGreaterThan(0)
    expect(outcomes).toContain('done')
    expect(outcomes.length).toBeGreaterThan(1)
    expect(['done', ...stops]).toEqual(expect.arrayContaining([...outcomes]))
  })

  it('parents: the way to the volume itself leads elsewhere 10,000 times', async ({ directory }) => {
    const { untouched, ended, outcomes } = await race(directory, 'parents', 10_000)
    expect({ untouched, ended }).toEqual({ untouched: true, ended: 0 })
    expect(outcomes).toContain('Swapped')
  })
})
