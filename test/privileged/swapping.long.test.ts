/**
 * S12, while somebody works against it: nothing outside of the volume changes, not even a time stamp, however often its
 * directories are swapped for links and mounts while they are being deleted.
 *
 * The control below shows that these races are won by the swapper where deletion goes by paths. By hand it was shown
 * that each guard counts: without the comparison of mount ids `traps` and `mounts` fail, without O_NOFOLLOW `links`
 * fails, and without the look at the opened directory's real path `parents` fails.
 */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noMounts, noSystemCalls } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/swapping.ts', import.meta.url)

interface Race {
  readonly untouched: boolean
  readonly swaps: number
  readonly deleted: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly left: readonly string[]
}

const race = (kind: string, rounds: number, how: string): Promise<Race> =>
  inNamespace<Race>(WORKER, 'race', [kind, String(rounds), how])

const why = noMounts ?? noSystemCalls

describe.skipIf(why !== undefined)(`deleting what is being swapped${why === undefined ? '' : ` (${why})`}`, () => {
  it.each([
    { kind: 'links', rounds: 10_000, stops: ['Swapped'] },
    { kind: 'traps', rounds: 5_000, stops: ['ForeignMount', 'Swapped'] },
    { kind: 'mounts', rounds: 2_000, stops: ['ForeignMount', 'Swapped'] },
    { kind: 'moves', rounds: 3_000, stops: ['Swapped'] },
  ])('$kind: $rounds times, and nothing outside has changed', async ({ kind, rounds, stops }) => {
    const { untouched, swaps, deleted, outcomes, left } = await race(kind, rounds, 'by descriptors')
    expect({ untouched, left }).toEqual({ untouched: true, left: [] })
    expect(swaps).toBeGreaterThanOrEqual(rounds)
    // It was a race: the volume's own files were deleted all along, and walks that met a swap stopped and said so.
    expect(deleted).toBeGreaterThan(100)
    expect(Object.keys(outcomes).toSorted()).toEqual(expect.arrayContaining(['done', ...stops.slice(0, 1)]))
    expect(['done', ...stops]).toEqual(expect.arrayContaining(Object.keys(outcomes)))
  })

  it('parents: the way to the volume itself leads elsewhere 10,000 times', async () => {
    const { untouched, swaps, outcomes } = await race('parents', 10_000, 'by descriptors')
    expect(untouched).toBe(true)
    expect(swaps).toBe(10_000)
    expect(outcomes.Swapped).toBeGreaterThan(0)
  })

  it.each(['links', 'traps', 'mounts', 'parents'])(
    'control: %s send a deletion by paths to the outside',
    async (kind) => {
      expect(await race(kind, 10_000, 'naive')).toMatchObject({ untouched: false })
    },
  )
})
