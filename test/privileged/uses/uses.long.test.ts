/**
 * S12, S18, S20, S21, S24: a volume of each kind, with each way to use it, under each operation that takes something away, in
 * whole runs of plan and apply. Either volctl refuses and names the use, or it can be shown, by writing through the use and
 * reading it back, that nothing was hurt.
 *
 * A seeded choice of combinations; VOLCTL_USES=200 tries about as many with another seed, VOLCTL_USES=all every one, and
 * VOLCTL_USES='KIND;KIND/OPERATION/USE' those of these names (an empty list is all).
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { sweep, temporary } from '../../helpers/left-behind.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'
import { unmountBelow } from '../../helpers/scenario.ts'
import { describeUnless } from '../describe-unless.ts'
import { type Combination, chosenCombinations, KINDS, type Kind, meaningful } from './combinations.ts'
import { applied, isDone, nameOf, undoneOf, type Verdict, wrongOf } from './trials.ts'

const { VOLCTL_USES: asked } = process.env
vi.setConfig({ hookTimeout: 7_200_000 })

const SAMPLE = 40
const HIDDEN_SAMPLE = 5
const SEED = 2107
const seed = asked === undefined ? SEED : Math.floor(Math.random() * 2 ** 31)

function chosen(): readonly Combination[] {
  if (asked === 'all') return meaningful()
  if (!asked?.includes('/')) return chosenCombinations(Number(asked ?? SAMPLE), HIDDEN_SAMPLE, seed)
  const [kinds, operations, uses] = asked.split('/').map((list) => (list === '' ? undefined : list.split(';')))
  return meaningful().filter(
    ({ kind, operation, use }) =>
      (kinds?.includes(kind) ?? true) && (operations?.includes(operation) ?? true) && (uses?.includes(use) ?? true),
  )
}

describeUnless(noBlockDevices, 'whoever uses a volume', () => {
  const combinations = chosen()
  let root = ''
  let verdicts: readonly Verdict[] = []
  beforeAll(async () => {
    root = temporary('volctl-uses-')
    verdicts = await applied(`${root}/applied`, combinations)
  })
  afterAll(() => {
    unmountBelow(root)
    sweep(root)
  })

  it('has been tried, but for what this machine has not', ({ skip }) => {
    expect(combinations, `VOLCTL_USES=${asked} names none`).not.toEqual([])
    expect(verdicts).toHaveLength(combinations.length)
    const skipped = verdicts.flatMap((each) => (each.skipped === undefined ? [] : [`${nameOf(each)}: ${each.skipped}`]))
    skip(skipped.length > 0, skipped.join('\n'))
  })

  it('control: where nobody uses it, all of it is taken away', () => {
    const left = verdicts.filter(({ use }) => use === 'none').filter((each) => !isDone(each) || each.hurt !== '')
    expect(left.map((each) => `${nameOf(each)}: ${wrongOf(each)}`)).toEqual([])
  })

  it.each(Object.keys(KINDS) as Kind[])('S12, S18, S20, S21, S24: is named, or not hurt: %s', (kind) => {
    const wrong = verdicts
      .filter((each) => each.kind === kind && each.use !== 'none')
      .flatMap((each) => (wrongOf(each) === '' ? [] : [`${nameOf(each)}: ${wrongOf(each)}`]))
    expect(wrong, `seed ${seed}`).toEqual([])
  })

  it('what the plan calls ready is done', () => {
    expect(verdicts.flatMap(undoneOf), `seed ${seed}`).toEqual([])
  })
})
