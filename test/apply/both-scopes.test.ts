/** What holds of every apply, of a node and of a cluster: order, what stops it, and what the reviewed plan is held to. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { failureOf } from '../api/connect.ts'
import { ClusterScope, type Ended, type Given, NodeScope, type Scope } from './scopes.ts'

/** `done`, or `refused HeldBy`, in the order of the plan. */
function statesOf({ result }: Ended): string[] {
  return result.outcomes.map(({ state, code }) => (code === undefined ? state : `${state} ${code}`))
}

function codesOf({ events }: Ended): (string | undefined)[] {
  return events.filter(({ type }) => type === 'note').map(({ code }) => code)
}

describe.each([
  { name: 'a node', start: NodeScope.start, cameBack: 'KubeletRunning' },
  { name: 'a cluster', start: ClusterScope.start, cameBack: 'ControllerRunning' },
])('an apply of $name', ({ start, cameBack }) => {
  let scope: Scope
  beforeEach(async () => {
    scope = await start()
  })
  afterEach(() => scope[Symbol.asyncDispose]())

  describe('order', () => {
    it('S14: begin, then for each operation its intent and its outcome, then the end', async () => {
      const ended = await scope.apply()
      expect(statesOf(ended)).toEqual(['done', 'done'])
      expect(ended.result).toMatchObject({ exit: 0, left: [], interrupted: false })
      expect(scope.journal().map(({ type }) => type)).toEqual([
        ...['begin', 'intent', 'outcome', 'intent', 'outcome'],
        'end',
      ])
    })

    it('S14: the intent is on the disk before the first change', async () => {
      let written: readonly string[] = []
      await scope.apply({
        during: () => {
          written = scope.journal().map(({ type }) => type)
        },
      })
      expect(written).toEqual(['begin', 'intent'])
    })

    it('S26: what comes after a failure is skipped, and says because of what', async () => {
      const ended = await scope.apply({ firstFails: true })
      const [first, second] = ended.result.outcomes
      expect([first?.state, second?.state, second?.because]).toEqual(['failed', 'skipped', first?.id])
      expect(second?.message).toMatch(/^not started: \w+ .+ must come first and was failed$/)
      expect(ended.result.exit).toBe(3)
    })

    it('S26: what comes after an operation that is not in the plan is skipped', async () => {
      const ended = await scope.apply({ reviewed: 'without the first' })
      expect(statesOf(ended)).toEqual(['skipped Predecessor'])
      expect(ended.result.outcomes[0]?.message).toContain('is not part of this apply')
      expect(await scope.changes()).toEqual([])
    })
  })

  describe('what stops it', () => {
    it('S11: somebody else who does this work comes back: what has begun ends, the rest is refused', async () => {
      const ended = await scope.apply({ during: () => scope.comeBack() })
      expect(statesOf(ended)).toEqual(['done', `refused ${cameBack}`])
      expect(ended.result).toMatchObject({ exit: 3 })
      expect(ended.result.refused).toBeUndefined()
    })

    it('an interruption: nothing more is started', async () => {
      const stop = new AbortController()
      const ended = await scope.apply({ during: () => stop.abort(), signal: stop.signal })
      expect(statesOf(ended)[1]).toBe('interrupted Interrupted')
      expect(ended.result).toMatchObject({ exit: 130, interrupted: true, left: undefined })
      expect(scope.journal().at(-1)).toMatchObject({ type: 'end', exit: 130, interrupted: true })
    })

    it('S14: a journal that cannot be written: nothing is changed', async () => {
      expect(await failureOf(scope.apply({ noJournal: true }))).toMatchObject({ code: 'JournalFailed' })
      expect(await scope.changes()).toEqual([])
    })

    it('an API server that is away at the first look: nothing is changed', async () => {
      await expect(scope.apply({ since: 'API away' })).rejects.toThrow()
      expect(await scope.changes()).toEqual([])
    })

    it('an API server that is away at the last look: done, and said', async () => {
      const ended = await scope.apply({ isAwayAtTheEnd: true })
      expect(statesOf(ended)).toEqual(['done', 'done'])
      expect(ended.result).toMatchObject({ exit: 0, left: undefined })
      expect(codesOf(ended)).toEqual(['ReadFailed'])
    })
  })

  describe('two applies', () => {
    it('the second is refused while the first is at work, and the lock is free afterwards', async () => {
      let another: Promise<{ code: string }> | undefined
      const ended = await scope.apply({
        during: () => {
          another = scope.failureOfAnother()
          return another
        },
      })
      expect(await another).toMatchObject({ code: 'Locked' })
      expect(statesOf(ended)).toEqual(['done', 'done'])
      expect(await scope.apply({ reviewed: 'refused' })).toMatchObject({ result: { exit: 4 } })
    })

    it('the lock of one that died is taken over, and it is said', async () => {
      await scope.leaveLock()
      const ended = await scope.apply()
      expect(ended.events.filter(({ code }) => code !== undefined)).toMatchObject([
        { code: 'Locked', message: expect.stringMatching(/took over the (?:lock|lease)/) },
      ])
      expect(statesOf(ended)).toEqual(['done', 'done'])
    })
  })

  describe('the reviewed plan', () => {
    it.each<{ name: string; given: Given; first: string; says?: string }>([
      { name: 'blocked in it', given: { reviewed: 'first blocked' }, first: 'blocked' },
      { name: 'edited in it', given: { reviewed: 'first edited' }, first: 'refused Changed', says: 'changed since' },
      { name: 'done since', given: { since: 'first done' }, first: 'skipped AlreadyDone' },
      {
        name: 'not needed any more',
        given: { since: 'first not needed' },
        first: 'refused Changed',
        says: 'no longer needed',
      },
    ])('S26: an operation that is $name is not carried out', async ({ given, first, says = '' }) => {
      const ended = await scope.apply(given)
      expect(statesOf(ended)[0]).toMatch(new RegExp(`^${first}`))
      expect(ended.result.outcomes[0]?.message).toContain(says)
      expect(ended.events.some(({ type, id }) => type === 'start' && id === ended.result.outcomes[0]?.id)).toBe(false)
    })

    it.each<{ name: string; given: Given }>([
      { name: 'refused as a whole', given: { reviewed: 'refused' } },
      { name: 'refused as a whole by a plan made now', given: { since: 'refused' } },
    ])('$name: everything is refused, with the rule', async ({ given }) => {
      const ended = await scope.apply(given)
      expect(new Set(statesOf(ended))).toEqual(new Set(['refused OutageSuspected']))
      expect(ended.result).toMatchObject({ exit: 4, refused: { rule: 'S29' } })
      expect(await scope.changes()).toEqual([])
    })
  })
})
