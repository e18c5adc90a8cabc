/**
 * S12, S18, S20, S21, S24: a volume of each kind, with each way to use it, under each operation that takes something away, in
 * whole runs of plan and apply. Either volctl refuses and names the use, or it can be shown, by writing through the use and
 * reading it back, that nothing was hurt. Commands that look for nobody are the control: they hurt it.
 *
 * A seeded choice of combinations; VOLCTL_USES=200 tries about as many with another seed, VOLCTL_USES=all every one, and
 * VOLCTL_USES='KIND;KIND/OPERATION/USE' those of these names (an empty list is all). VOLCTL_USES_TABLE=1 prints what came of
 * each as Markdown, VOLCTL_USES_TABLE=json each as a line of JSON before.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'
import {
  allCombinations,
  type Combination,
  chosenCombinations,
  grouped,
  harmless,
  KINDS,
  type Kind,
  meaningful,
  meaningless,
  USES,
} from './combinations.ts'
import { outcomeOf, reasonsOf, tableOf } from './table.ts'
import { isDone, nameOf, type Verdict, wrongOf } from './verdicts.ts'

const WORKER = new URL('./uses.worker.ts', import.meta.url)

const { VOLCTL_USES: asked, VOLCTL_USES_TABLE: table } = process.env
vi.setConfig({ hookTimeout: 7_200_000 })

const SAMPLE = 40
const HIDDEN_SAMPLE = 5
const SEED = 2107
const seed = asked === undefined ? SEED : Math.floor(Math.random() * 2 ** 31)

/** On the nodes of one worker, so that whatever hangs is ended with all of it. */
const GROUPS_AT_ONCE = 3

/** Another test that runs beside has disks as well, which may be in the way. */
const MOST_TRIES = 4

function chosen(): readonly Combination[] {
  if (asked === 'all') return meaningful()
  if (!asked?.includes('/')) return chosenCombinations(Number(asked ?? SAMPLE), HIDDEN_SAMPLE, seed)
  const [kinds, operations, uses] = asked.split('/').map((list) => (list === '' ? undefined : list.split(';')))
  return meaningful().filter(
    ({ kind, operation, use }) =>
      (kinds?.includes(kind) ?? true) && (operations?.includes(operation) ?? true) && (uses?.includes(use) ?? true),
  )
}

async function tried(scenario: 'apply' | 'plain', combinations: readonly Combination[]): Promise<readonly Verdict[]> {
  const found: Verdict[] = []
  let left = combinations
  for (let tries = 1; left.length > 0; tries++) {
    const verdicts = await triedOnce(scenario, left)
    const disturbed = verdicts.filter((each) => each.disturbed)
    left = tries === MOST_TRIES ? [] : disturbed.map(({ kind, operation, use }) => ({ kind, operation, use }))
    found.push(...verdicts.filter((each) => !each.disturbed || tries === MOST_TRIES))
  }
  return found
}

async function triedOnce(scenario: string, combinations: readonly Combination[]): Promise<readonly Verdict[]> {
  const groups = grouped(combinations)
  const found: Verdict[] = []
  for (let at = 0; at < groups.length; at += GROUPS_AT_ONCE) {
    const some = JSON.stringify(groups.slice(at, at + GROUPS_AT_ONCE))
    const verdicts = await inNamespace<Verdict[]>(WORKER, scenario, [some])
    found.push(...verdicts)
    // As they come: all of them take a while.
    if (table === 'json')
      for (const each of verdicts) process.stdout.write(`${JSON.stringify(rowOf(scenario, each))}\n`)
  }
  return found
}

function rowOf(scenario: string, verdict: Verdict): object {
  return scenario === 'plain' ? verdict : { ...verdict, outcome: outcomeOf(verdict), wrong: wrongOf(verdict) }
}

describe('the list of combinations', () => {
  it('has every kind and operation with every use, or a reason why there is no such thing', () => {
    const all = allCombinations()
    expect(all).toHaveLength(Object.values(KINDS).flat().length * Object.keys(USES).length)
    expect(Object.values(reasonsOf([...all])).reduce((sum, count) => sum + count, 0)).toBe(
      all.filter((each) => meaningless(each) ?? harmless(each)).length,
    )
  })

  it('loses none when a choice is made: each state without a use, and with some use, and each use', () => {
    const sample = chosenCombinations(SAMPLE, HIDDEN_SAMPLE, SEED)
    const states = (some: readonly Combination[]): Set<string> =>
      new Set(some.map(({ kind, operation }) => `${kind}, ${operation}`))
    const all = states(allCombinations())
    expect(states(sample.filter(({ use }) => use === 'none'))).toEqual(all)
    const without = sample.filter(({ use }) => use !== 'none')
    // Nobody could use it here.
    expect([...all].filter((state) => !states(without).has(state))).toEqual(['CSI directory, DetachVolume'])
    expect(new Set(sample.map(({ use }) => use))).toEqual(new Set(Object.keys(USES)))
  })
})

describe.skipIf(noBlockDevices !== undefined)(
  `whoever uses a volume${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    const combinations = chosen()
    let verdicts: readonly Verdict[] = []
    beforeAll(async () => {
      verdicts = await tried('apply', combinations)
    })

    afterAll(() => {
      if (table !== undefined) process.stdout.write(`${tableOf(verdicts)}\n`)
    })

    it('has been tried, but for what this machine has not', ({ skip }) => {
      expect(combinations, `VOLCTL_USES=${asked} names none`).not.toEqual([])
      expect(verdicts).toHaveLength(combinations.length)
      const skipped = verdicts.flatMap((each) =>
        each.skipped === undefined ? [] : [`${nameOf(each)}: ${each.skipped}`],
      )
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
      const found = verdicts.filter(({ outcomes }) =>
        outcomes.some(({ state }) => state === 'failed' || state === 'refused'),
      )
      const told = ({ outcomes }: Verdict): string =>
        outcomes.map(({ kind, state, message }) => `${kind} ${state}: ${message}`).join('; ')
      expect(
        found.map((each) => `${nameOf(each)}: ${told(each)}`),
        `seed ${seed}`,
      ).toEqual([])
    })

    it('control: commands that look for nobody hurt him, but where the table says why not', async () => {
      const found = (await tried('plain', combinations)).filter(({ skipped }) => skipped === undefined)
      const hurt = found.filter((each) => each.hurt !== '').map(nameOf)
      const expected = found.filter((each) => harmless(each) === undefined).map(nameOf)
      expect(hurt.toSorted(), `seed ${seed}`).toEqual(expected.toSorted())
    }, 7_200_000)
  },
)
