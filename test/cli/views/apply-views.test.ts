import { describe, expect, it, vi } from 'vitest'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import type { ApplyEvent, ApplyResult, Outcome } from '../../../src/core/plan/events.ts'
import type { AdviceContext } from '../../../src/core/plan/next-steps.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { closing, eventLine, numbered } from '../../../src/core/views/apply-lines.ts'
import { Progress } from '../../../src/core/views/progress.ts'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'
import { cluster } from '../../helpers/cluster-builder.ts'
import { planOf } from '../../helpers/cluster-plan.ts'
import { WORKED_CLUSTERS } from '../../helpers/worked-clusters.ts'
import { anOperation, aPlan } from '../plan-builder.ts'

const nameOf = numbered(
  aPlan({
    operations: [
      anOperation({ id: 'op-0' }),
      anOperation({
        volume: { name: 'pv-a', podVolumeName: 'data', plugin: 'kubernetes.io/csi', mode: 'Filesystem' },
      }),
    ],
  }),
)
const event = (given: Partial<ApplyEvent>): ApplyEvent => ({
  type: 'done',
  time: '2026-11-01T12:00:00Z',
  message: '',
  id: 'op-1',
  kind: 'UnmountVolume',
  pod: { namespace: 'shop', name: 'web-0', uid: 'uid-1' },
  volume: 'pv-a',
  ...given,
})

describe('a line for each operation that ends', () => {
  it.each([
    ['done', { elapsedMs: 120 }, 'done     2  UnmountVolume       shop/web-0  data  120ms\n'],
    [
      'failed',
      {
        type: 'failed' as const,
        code: 'DriverRefused' as const,
        message: 'busy\u001b[2J',
        hint: 'Look at its log.',
      },
      'failed   2  UnmountVolume       shop/web-0  data\n         DriverRefused: busy\\x1b[2J\n         Look at its log.\n',
    ],
    ['a note', { type: 'note' as const, message: 'took over the lock' }, 'note     took over the lock\n'],
    ['start', { type: 'start' as const }, undefined],
  ])('%s', (_name, given, line) => expect(eventLine(event(given), nameOf, PLAIN_SCREEN)).toBe(line))
})

const outcome = (state: Outcome['state'], deleted?: Outcome['deleted']): Outcome => ({
  id: state,
  kind: 'UnmountVolume',
  state,
  message: '',
  elapsedMs: 1,
  deleted,
})
const result = (given: Partial<ApplyResult>): ApplyResult => ({
  outcomes: [],
  left: [],
  plan: 'plan-1',
  interrupted: false,
  exit: 0,
  ...given,
})
const GIVEN: AdviceContext = { applyFlags: [], settleMs: 120_000 }
const ending = (given: Partial<ApplyResult>, plan: Partial<Plan> = {}, context = GIVEN): string =>
  closing(result(given), aPlan(plan), PLAIN_SCREEN, context)

describe('the end says what was done, what was not, and what is left', () => {
  it('all of it, by what was found; files of a config map are not data', () => {
    const config = { name: 'c', plugin: 'kubernetes.io/configmap', mode: 'Filesystem' } as const
    const outcomes = [
      outcome('done', { files: 3, bytes: 99 }),
      { ...outcome('done', { files: 1, bytes: 1024 }), id: 'data' },
    ]
    const operations = [
      anOperation({ id: 'data', deletes: { files: 2, bytes: 2048 } }),
      anOperation({ id: 'done', deletes: { files: 3, bytes: 99 }, volume: config }),
    ]
    expect(ending({ outcomes }, { operations })).toMatchInlineSnapshot(`
      "
      Apply: 2 done. Deleted 1 file, 1.0 KiB. Removed 3 files that the kubelet made.
      Nothing is left to do.
      "
    `)
  })

  it('an error, a wait or a refusal is never called nothing', () => {
    const wait = { kind: 'MountVolume', code: 'NotAttached', message: 'x', rule: 'S22' } as const
    const error = { severity: 'error', code: 'TwoWriters', message: 'x', about: {} } as const
    const note = { severity: 'info', code: 'OrphanPodDir', message: 'x', about: {} } as const
    const refused = { rule: 'S1', code: 'WrongMachine', message: 'x' } as const
    const end = (plan: Partial<Plan>): string => ending({ after: aPlan(plan) })
    expect(end({ problems: [note] })).toContain('\nNothing is left to do.\n')
    const open = end({ problems: [error, note], waiting: [wait] })
    expect(open).not.toContain('Nothing is left')
    expect(open).toContain('\nNothing is ready: see above.\n')
    expect(end({ refused })).toContain('\nRefused: nothing is done\n')
  })

  it('only where every operation was done before, the plan is called so', () => {
    const before = { ...outcome('skipped'), code: 'AlreadyDone' } as const
    expect(ending({ outcomes: [before] })).toContain('This plan is already done')
    expect(ending({ outcomes: [before, outcome('done')] })).not.toContain('already done')
  })

  it('where flags or names left something out, only of the rest', () => {
    const after = aPlan({ summary: { ...aPlan({}).summary, filtered: 7 } })
    expect(ending({ after })).toContain('\nOf what was asked for, nothing is left to do.\n')
  })

  const held = { code: 'HeldBy', message: 'pid 7 holds it', hint: 'End it.' } as const
  const operations = [anOperation({ id: 'failed' })]
  const partly: Partial<ApplyResult> = {
    outcomes: [outcome('done'), { ...outcome('failed'), code: 'HeldBy' }, outcome('skipped')],
    left: [anOperation()],
    after: aPlan({
      operations: [anOperation({ blocked: held })],
      waiting: [{ kind: 'MountVolume', code: 'NotAttached', message: 'x', rule: 'S22' }],
    }),
    exit: 3,
  }

  it('part of it: what is left and why, and what lifts what failed', () =>
    expect(ending(partly, { operations })).toMatchInlineSnapshot(`
      "
      Apply: 1 done, 1 failed, 1 skipped.

      Needs you
        x pid 7 holds it
            shop/web-0 pv-a
          -> End it.

      Left to others
        -   x

      1 operation: 1 needs you first
      Next: end that use, then: volctl apply --volume pv-a  # does this volume again
      "
    `))

  it('what lifts it names who uses it, and has the flags in force', () => {
    const users = [{ pid: 191, process: 'sleep' }]
    const after = aPlan({ operations: [anOperation({ id: 'failed', blocked: { ...held, users } })] })
    const given = { applyFlags: ['--orphans', '--kubeconfig', 'k'], readFlags: ['--kubeconfig', 'k'], settleMs: 0 }
    const end = (code: Outcome['code'] & string): string => {
      const outcomes = [{ ...outcome('failed'), code }]
      return ending({ ...partly, outcomes, after }, { operations }, given)
    }
    expect(end('HeldBy')).toContain(
      'Next: stop sleep (pid 191), then: volctl apply --orphans --kubeconfig k --volume pv-a  #',
    )
    expect(end('DriverRefused')).toContain('Next: volctl explain --kubeconfig k shop/web-0  #')
  })

  it('interrupted', () =>
    expect(
      ending({ outcomes: [outcome('interrupted')], left: undefined, interrupted: true, exit: 130 }),
    ).toMatchInlineSnapshot(`
      "
      Apply: 1 interrupted.
      Interrupted: operations that were not started changed nothing.
      The node was not read again: volctl plan shows what is left to do.
      "
    `))
})

it('on a terminal one line has how many have ended, and what runs for longest; what ends scrolls away above', () => {
  vi.useFakeTimers()
  let written = ''
  const terminal = { columns: 80, rows: 6, write: (text: string) => (written += text) }
  const shown = (): string => {
    const [, last = ''] = /([^\r]*)$/.exec(written) ?? []
    return last.replace('\u001b[0J', '')
  }
  {
    using progress = new Progress(terminal, nameOf, 3)
    progress.follow(event({ type: 'start' }))
    progress.follow(event({ type: 'start', id: 'op-2', volume: 'pv-b' }))
    vi.advanceTimersByTime(12_000)
    expect(shown()).toBe('0 of 3 operations ended, 2 running; for 12s: 2  UnmountVolume       shop/web-0 ')
    progress.follow(event({ type: 'done' }))
    progress.above(() => terminal.write('done pv-a\n'))
    expect(shown()).toMatch(/^done pv-a\n1 of 3 operations ended, 1 running; for 12s: - {2}UnmountVolume /)
  }
  expect(shown()).toBe('')
  vi.useRealTimers()
})

describe('the end of an apply of a cluster', () => {
  const worked = (name: string): ClusterState => WORKED_CLUSTERS[name] ?? cluster()
  const ended = (state: ClusterState, outcomes: readonly Outcome[] = []): string => {
    const after = planOf(state)
    const done = { ...result({ outcomes }), left: after.operations, after }
    return closing(done, after, PLAIN_SCREEN, { ...GIVEN, applyFlags: ['--cluster'] })
  }

  it('names what is left, and why', () => {
    const text = ended(worked('stuck-attachment'))
    expect(text).toContain('no external attacher of driver disk.csi.example.com runs')
    expect(text).toMatch(/\nNext: volctl explain AttacherSilent /)
    expect(text).not.toMatch(/Left: \d/)
  })

  it('looks first at what failed', () => {
    const state = worked('node-gone')
    const after = planOf(state, { nodeGone: ['node-1'] })
    const [operation] = after.operations
    const failed = { ...outcome('failed'), id: operation?.id ?? '', code: 'TimedOut' } as const
    const text = closing({ ...result({ outcomes: [failed] }), left: [], after }, after, PLAIN_SCREEN, GIVEN)
    expect(text).toMatch(/\nNext: volctl plan --cluster va\/csi-/)
  })
})
