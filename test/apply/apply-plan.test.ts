import { beforeEach, describe, expect, it } from 'vitest'
import type { Journal } from '../../src/core/apply/journal/write-journal.ts'
import type { BlockCode } from '../../src/core/messages/codes.ts'
import { ExitStatus, Interrupted, said } from '../../src/core/messages/findings.ts'
import type { Outcome } from '../../src/core/plan/events.ts'
import type { Operation, Refusal } from '../../src/core/plan/plan.ts'
import { csiVolume, statesOf } from '../helpers/apply-plan.ts'
import { Fixture, operation, POD, planOf, ROOT, step } from './apply-fixture.ts'

const DIR = `${ROOT}/pods/${POD}/volumes/kubernetes.io~secret/token`

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture()
})

function secret(id: string, dir = DIR) {
  const expects = [fixture.host.mount(dir)]
  return operation(id, { steps: [step('umount', dir), step('rmdir', dir)], expects })
}

describe('the way of an apply', () => {
  it('unmounts, removes, journals, and says that nothing is left', async () => {
    const result = await fixture.apply([secret('a')])
    expect(statesOf(result)).toEqual({ a: 'done' })
    expect(result).toMatchObject({ exit: ExitStatus.Ok, left: [], interrupted: false })
    expect(fixture.host.log).toEqual([`umount plain ${DIR}`, `rmdir ${DIR}`])
    expect(fixture.events.map((event) => event.type)).toEqual(['start', 'step', 'step', 'done'])
    expect(fixture.journal().map((entry) => entry.type)).toEqual(['begin', 'intent', 'outcome', 'end'])
  })

  it('says what a new look still plans', async () => {
    const left = operation('b', { blocked: { code: 'HeldBy', message: 'held' } })
    const plan = planOf([secret('a')])
    const result = await fixture.apply(plan, (look) => (look === 0 ? plan : planOf([left])))
    expect(result.left).toEqual([left])
    expect(fixture.events.at(-1)).toMatchObject({ type: 'left', id: 'b', code: 'HeldBy' })
  })

  it('refuses as a whole what the plan, or the fresh plan, refuses as a whole', async () => {
    const refused: Refusal = { rule: 'S1', code: 'WrongMachine', message: 'not this machine' }
    const plan = planOf([secret('a')])
    for (const result of [await fixture.apply({ ...plan, refused }), await fixture.apply(plan, { ...plan, refused })]) {
      expect(result).toMatchObject({ exit: ExitStatus.Refused, refused: { rule: 'S1' } })
      expect(statesOf(result)).toEqual({ a: 'refused WrongMachine' })
    }
    expect(fixture.host.log).toEqual([])
  })
})

describe('what holds of every apply, of a node and of a cluster', () => {
  it('S14: the intent is on the disk before the first change', async () => {
    let written: readonly string[] = []
    fixture.host.beforeUmount = () => {
      written = fixture.journal().map(({ type }) => type)
    }
    await fixture.apply([secret('a')])
    expect(written).toEqual(['begin', 'intent'])
  })

  it('a look that fails changes nothing at first, and is said at the end', async () => {
    const plan = planOf([secret('a')])
    let failsAt = 0
    let looks = 0
    fixture.given = {
      look: async () => {
        if (looks++ === failsAt) throw new Error('the API server does not answer')
        return plan
      },
    }
    await expect(fixture.apply(plan)).rejects.toThrow('does not answer')
    expect(fixture.host.log).toEqual([])
    failsAt = 2
    expect(await fixture.apply(plan)).toMatchObject({ exit: ExitStatus.Ok, left: undefined })
    expect(fixture.events.at(-1)).toMatchObject({ type: 'note', code: 'ReadFailed' })
  })
})

it.each([
  { name: 'another node', change: { node: 'node-2' }, code: 'OtherNode' },
  { name: 'another root directory', change: { rootDir: '/other' }, code: 'OtherNode' },
  { name: 'before the last boot', change: { bootID: 'b1' }, code: 'Changed' },
])('a plan file: of $name is not applied', async ({ change, code }) => {
  const plan = planOf([secret('a')])
  await expect(fixture.apply({ ...plan, ...change }, { ...plan, bootID: 'b2' })).rejects.toMatchObject({
    code,
    exit: 1,
  })
  expect(fixture.host.log).toEqual([])
})

describe('finding operations again', () => {
  it.each([
    { name: 'no longer planned', change: () => [], want: 'refused Changed' },
    {
      name: 'something else comes first now',
      change: (op: object) => [{ ...op, after: ['z'] }],
      want: 'refused Changed',
    },
    { name: 'another message only', change: (op: object) => [{ ...op, message: 'other' }], want: 'done' },
  ])('$name: $want', async ({ name, change, want }) => {
    const planned = secret('a')
    const plan = planOf([planned])
    const result = await fixture.apply(plan, (look) => planOf(look === 0 ? (change(planned) as never) : []))
    expect(statesOf(result)).toEqual({ a: want })
    // One code, two shades.
    if (want === 'refused Changed')
      expect(result.outcomes[0]?.message).toContain(name === 'no longer planned' ? 'no longer needed' : 'changed since')
    expect(result.exit).toBe(want === 'done' ? ExitStatus.Ok : ExitStatus.Partial)
  })

  it('never runs an operation that the plan has blocked', async () => {
    const planned: Operation = { ...secret('a'), blocked: { code: 'HeldBy', message: 'held' } }
    const result = await fixture.apply(planOf([planned]), planOf([secret('a')]))
    expect(statesOf(result)).toEqual({ a: 'blocked HeldBy' })
    expect(fixture.host.log).toEqual([])
  })
})

describe('order and exit status', () => {
  it('skips what depends on a failure, and says because of what', async () => {
    fixture.host.busy.add(DIR)
    const plan = planOf([
      secret('a'),
      operation('b', { after: ['a'], steps: [step('rmdir', `${ROOT}/pods/${POD}`)] }),
      operation('c', { after: ['b'] }),
    ])
    const result = await fixture.apply(plan)
    expect(statesOf(result)).toEqual({ a: 'failed HeldBy', b: 'skipped HeldBy', c: 'skipped HeldBy' })
    expect(result.outcomes[1]).toMatchObject({
      because: 'a',
      message: expect.stringMatching(/ of (?!a )\S+ must come first, and ended as failed$/),
    })
    expect(result.exit).toBe(ExitStatus.Partial)
  })

  it.each<{ code: BlockCode; exit: ExitStatus }>([
    { code: 'DeletesData', exit: ExitStatus.Ok },
    { code: 'NotAsked', exit: ExitStatus.Ok },
    { code: 'HeldBy', exit: ExitStatus.Partial },
  ])('an operation blocked with $code, and what depends on it, exits $exit', async ({ code, exit }) => {
    const blocked = operation('a', { blocked: { code, message: 'blocked' } })
    const result = await fixture.apply([blocked, operation('b', { after: ['a'] })])
    expect(result.exit).toBe(exit)
  })

  it('goes on after what an earlier apply of the same file has done', async () => {
    fixture.given = { isDone: ({ id }) => id === 'a' }
    const [first, second] = [secret('a'), operation('b', { after: ['a'] })]
    const result = await fixture.apply(planOf([first, second]), (look) => planOf(look === 0 ? [second] : []))
    expect(statesOf(result)).toEqual({ a: 'skipped AlreadyDone', b: 'done' })
    expect(result.exit).toBe(ExitStatus.Ok)
  })

  it('drops an operation whose predecessor was filtered out', async () => {
    const result = await fixture.apply([operation('b', { after: ['filtered'] })])
    expect(statesOf(result)).toEqual({ b: 'skipped Predecessor' })
    expect(result.outcomes[0]?.message).toContain('is not part of this apply')
  })
})

describe('what a message is made of', () => {
  it('is said with the outcome, its event and in the journal, and of no other message', async () => {
    const blocked = { ...said('HeldBy.device', { path: DIR, who: 'pid 7' }), hint: 'x' }
    const plan = planOf([secret('a'), operation('b', { after: ['filtered'] }), operation('c', { blocked })])
    const { outcomes } = await fixture.apply(plan)
    const want = { a: undefined, b: { because: 'filtered' }, c: blocked.args }
    expect(Object.fromEntries(outcomes.map(({ id, args }) => [id, args]))).toEqual(want)
    const ends = fixture.events.filter(({ type }) => ['done', 'skipped', 'blocked'].includes(type))
    expect(Object.fromEntries(ends.map(({ id, args }) => [id, args]))).toEqual(want)
    const written = fixture.journal().flatMap((line) => (line.type === 'outcome' ? (line.outcomes as Outcome[]) : []))
    expect(Object.fromEntries(written.map(({ id, args }) => [id, args]))).toEqual({ a: want.a, b: want.b })
  })

  it('is said of each operation that is refused with the whole plan', async () => {
    const refused: Refusal = { rule: 'S1', ...said('WrongMachine.noNode', { server: 'https://api', nodeName: 'n' }) }
    const { outcomes } = await fixture.apply({ ...planOf([secret('a')]), refused })
    expect(outcomes).toMatchObject([{ state: 'refused', args: refused.args }])
  })
})

describe('a kubelet that was stopped for it (S35)', () => {
  const refused = { rule: 'S29', code: 'OutageSuspected', message: 'the API lists no pod' } as const
  const stop = { leftMs: () => Number.POSITIVE_INFINITY, over: new AbortController().signal, downtime: undefined }

  it.each([
    { by: 'is refused by', begin: async () => planOf([], { refused }), exit: ExitStatus.Refused, interrupted: false },
    {
      by: 'fails in',
      begin: () => Promise.reject(new Error('no answer')),
      exit: ExitStatus.Failed,
      interrupted: false,
    },
    {
      by: 'is interrupted in',
      begin: () => Promise.reject(new Interrupted()),
      exit: ExitStatus.Interrupted,
      interrupted: true,
    },
  ])('an apply that $by the look after the stop has an end in the journal, after the start', async (row) => {
    const { begin, exit, interrupted } = row
    let journal: Journal | undefined
    fixture.given = {
      kubeletStop: {
        ...stop,
        begin: (opened) => {
          journal = opened
          return begin()
        },
        end: async () => {
          journal?.write({ type: 'start', unit: 'kubelet.service', downMs: 1, runs: true })
          journal = undefined
        },
      },
    }
    await fixture.apply([operation('a')]).catch(() => {})
    expect(fixture.journal().map(({ type }) => type)).toEqual(['begin', 'start', 'end'])
    expect(fixture.journal().at(-1)).toMatchObject({ exit, interrupted })
  })
})

describe('interruption', () => {
  it.each([
    { by: 'the first signal', want: 'interrupted Interrupted', exit: ExitStatus.Interrupted },
    { by: 'a kubelet that may come back (S11)', want: 'refused KubeletRunning', exit: ExitStatus.Partial },
  ])('starts nothing new after $by, and waits for what runs', async ({ want, exit }) => {
    const abort = new AbortController()
    fixture.given = { signal: abort.signal, parallel: 1 }
    fixture.driver = () => {
      if (exit === ExitStatus.Interrupted) abort.abort()
      else fixture.kubelet = { running: false, mayReturn: true }
    }
    const unpublish = (id: string): Operation =>
      operation(id, { volume: csiVolume(), steps: [step('NodeUnpublishVolume', `${DIR}-${id}/mount`)] })
    const result = await fixture.apply([unpublish('a'), unpublish('b')])
    expect(statesOf(result)).toEqual({ a: 'done', b: want })
    const interrupted = exit === ExitStatus.Interrupted
    expect(result).toMatchObject({ exit, interrupted, left: interrupted ? undefined : [] })
  })

  it('leaves at once on the second, naming what is unfinished', async () => {
    const abandon = new AbortController()
    fixture.given = { abandon: abandon.signal, signal: abandon.signal }
    fixture.driver = async () => {
      abandon.abort()
      await new Promise(() => {})
    }
    const result = await fixture.apply([
      operation('a', { volume: csiVolume(), steps: [step('NodeUnpublishVolume', DIR)] }),
    ])
    expect(statesOf(result)).toEqual({ a: 'interrupted StillAtWork' })
    expect(result.outcomes[0]?.message).toContain('abandoned before it ended')
    expect(result.exit).toBe(ExitStatus.Interrupted)
  })
})
