/** What a plan says beside its operations: counts that add up, what to type next, groups, names. */
import { describe, expect, it } from 'vitest'
import { CODES, type ProblemCode } from '../../src/core/messages/codes.ts'
import { advice, commandLine, type Hint, volctl } from '../../src/core/messages/command.ts'
import { podTextIn } from '../../src/core/plan/names.ts'
import { type AdviceContext as Advised, endOf, withAdvice } from '../../src/core/plan/next-steps.ts'
import { namedPart, partOf } from '../../src/core/plan/part-of-plan.ts'
import type { NextStep, Operation, Plan, Problem, Severity, Waiting } from '../../src/core/plan/plan.ts'
import type { Answer } from '../../src/core/views/answer/answer.ts'
import { answerOf } from '../../src/core/views/answer/make-answer.ts'
import { countsText } from '../../src/core/views/answer/needs.ts'
import type { Because, CauseSubject, RowKey } from '../../src/core/volumes/finding.ts'
import { anOperation, aPlan } from '../cli/plan-builder.ts'

const STOP = 'crictl pods --label io.kubernetes.pod.uid=uid-7 -q | xargs -r crictl stopp'
const deletesData = { code: 'DeletesData', message: 'm' } as const
const held = { code: 'HeldBy', message: 'm' } as const
const noDriver = { code: 'DriverUnavailable', message: 'm', because: { byStart: true } } as const
const behind = { code: 'Predecessor', message: 'm' } as const
const op = (id: string, given: Partial<Operation> = {}): Operation => anOperation({ id, ...given })

type Given = Partial<Problem> & { readonly because?: Because }

/** An error, unless it says otherwise. */
const problem = (code: ProblemCode, given: Given = {}): Problem & Given => ({
  ...{ severity: 'error', code, message: 'm', about: {} },
  ...given,
})

/** What is answered, with its causes. */
function answered(given: Partial<Plan>, readFlags: string[] = []): Answer {
  return answerOf(withAdvice(aPlan(given), { applyFlags: [], readFlags, settleMs: 0 }))
}

const causesOf = (given: Partial<Plan>) => aPlan(given).summary.causes ?? []
const nextOf = (plan: Partial<Plan>, given: Partial<Advised> = {}): readonly NextStep[] =>
  withAdvice(aPlan(plan), { applyFlags: [], settleMs: 30_000, ...given }).summary.next ?? []

describe('the counts add up', () => {
  it.each([
    [
      'what comes after a blocked one is not ready',
      [op('a', { blocked: held }), op('b', { after: ['a'] })],
      '2 operations: 1 needs you first, 1 waits for another',
    ],
    [
      'a flag frees what waits for data, and what comes after that',
      [
        op('a', { blocked: deletesData }),
        op('b', { after: ['a'], blocked: behind }),
        op('c', { blocked: held }),
        op('d', { after: ['a', 'c'], blocked: behind }),
        op('e'),
      ],
      '5 operations: 1 ready, 3 need --orphans, 1 needs you first',
    ],
    [
      'each flag by itself',
      [
        op('a', { kind: 'RemountVolume', blocked: { code: 'NotAsked', message: 'm' } }),
        op('b', { kind: 'ExpandVolume', blocked: { code: 'NotAsked', message: 'm' } }),
      ],
      '2 operations: 1 needs --remount, 1 needs --expand',
    ],
  ])('%s', (_name, operations, line) => expect(countsText(aPlan({ operations }))).toBe(line))
})

describe('the verdict of a plan without operations', () => {
  const waits: Waiting = { kind: 'MountVolume', code: 'NotAttached', message: 'm', rule: 'S22' }
  const wrong = (severity: Severity): Problem => problem('TwoWriters', { severity })
  const refused = { rule: 'S1', code: 'WrongMachine', message: 'this is not node-1' } as const

  it.each<[name: string, plan: Partial<Plan>, line: string]>([
    ['a healthy node', {}, 'Nothing to do: every volume on this node is as it should be.'],
    ['only warnings', { problems: [wrong('warning'), wrong('info')] }, 'No operation is needed: see above.'],
    [
      'what flags leave out may be needed',
      { summary: { ...aPlan().summary, filtered: 3 } },
      'Nothing to do under these flags: 3 left out by flags.',
    ],
    ['only waits', { waiting: [waits, waits] }, 'Nothing to do yet: 2 waiting.'],
    [
      'errors and waits',
      { problems: [wrong('error'), wrong('error')], waiting: [waits, waits] },
      'Nothing is ready: see above.',
    ],
    ['refused', { refused }, 'Refused: nothing is done'],
    [
      'refused, with what stays undone',
      { refused, operations: [op('a', { blocked: held })], problems: [wrong('error')] },
      'Refused: nothing is done; 1 operation blocked',
    ],
  ])('%s', (_name, plan, line) => expect(countsText(aPlan(plan))).toBe(line))
})

const { inputs } = aPlan()
const withKubelet = (kubelet: Partial<Plan['inputs']['kubelet']>): Partial<Plan> => ({
  inputs: { ...inputs, kubelet: { state: 'running', ...kubelet } },
})
const running = withKubelet({ unit: 'k3s-agent.service' })
const stopped = withKubelet({ state: 'stopped', unit: 'k3s-agent.service' })
const wait = (given: Partial<Waiting> = {}): Waiting => ({
  kind: 'MountVolume',
  code: 'KubeletRunning',
  message: 'm',
  rule: 'S11',
  pod: { namespace: 'shop', name: 'db-0', uid: 'uid-2' },
  volume: { name: 'pv-b', podVolumeName: 'data', plugin: 'kubernetes.io/csi', mode: 'Filesystem' },
  ...given,
})
const staged = wait({
  kind: 'UnmountDevice',
  volume: { name: 'pv-c', plugin: 'kubernetes.io/csi', mode: 'Filesystem', inUse: false },
})

const twoWriters = problem('TwoWriters', { about: { pod: 'uid-9' } })

describe('what to type next on this node', () => {
  const stillListed = problem('ReportedUnused', { severity: 'warning', about: { volume: 'kubernetes.io/csi/d^v' } })
  const unread = (subject: CauseSubject): Problem => problem('ReadFailed', { because: { subject } })
  const stillRuns = (code: 'PodGoneButRunning' | 'PodStillRunning'): Problem =>
    problem(code, { about: { pod: 'uid-7' } })
  it.each<{ name: string; plan: Partial<Plan>; applyFlags?: string[]; next: string[] }>([
    {
      name: 'apply, with the flags of the plan',
      plan: { operations: [op('a')] },
      applyFlags: ['--pod', "a'b"],
      next: ["volctl apply --pod 'a'\\''b'"],
    },
    {
      name: 'a look at what a flag would free',
      plan: { operations: [op('a', { blocked: deletesData })] },
      next: ['volctl plan --orphans'],
    },
    {
      name: 'apply, once nobody uses what it would take away',
      plan: { operations: [op('a', { blocked: held })] },
      next: ['volctl apply'],
    },
    {
      name: 'to stop a deleted pod that still runs',
      plan: { problems: [stillRuns('PodGoneButRunning')] },
      next: [STOP, 'volctl plan'],
    },
    {
      name: 'not that, where the kubelet stops it',
      plan: { ...running, problems: [stillRuns('PodStillRunning')] },
      next: ['volctl explain uid-7'],
    },
    {
      name: 'not that of processes that the runtime did not start',
      plan: { problems: [{ ...stillRuns('PodStillRunning'), hint: 'Find out who started them.' }] },
      next: ['volctl explain uid-7'],
    },
    ...[0, 3].map((pods) => ({
      name: `not that, where the runtime does not answer and shows ${pods} pods`,
      plan: {
        inputs: { ...inputs, runtime: { source: 'cri', pods } },
        problems: [problem('RuntimeUnknown'), stillRuns('PodGoneButRunning')],
      },
      next: pods === 0 ? ['volctl explain RuntimeUnknown'] : [STOP, 'volctl plan'],
    })),
    ...[{ object: 'section tree' }, { attachment: 'csi-1' }, { claim: 'shop/db' }].map((subject, index) => ({
      name: `what is unread, by its code unless explain finds it: ${Object.keys(subject)}`,
      plan: { problems: [unread(subject)] },
      next: [`volctl explain ${['ReadFailed', 'va/csi-1', 'pvc/shop/db'][index]}`],
    })),
    {
      name: 'an error before a wait',
      plan: {
        waiting: [wait({ code: 'NotAttached' })],
        problems: [twoWriters],
      },
      next: ['volctl explain uid-9'],
    },
    {
      name: 'the kubelet, with which its drivers come, where nothing else is wrong',
      plan: { ...stopped, operations: [op('a', { blocked: noDriver })] },
      next: ['systemctl start k3s-agent.service', 'volctl plan'],
    },
    {
      name: 'not that, where something else is',
      plan: {
        ...stopped,
        operations: [op('a', { blocked: noDriver })],
        problems: [twoWriters],
      },
      next: ['volctl explain driver/disk.example.com'],
    },
    {
      name: 'what is left of orphaned pods',
      plan: { problems: [problem('OrphanPodDir', { severity: 'info' })] },
      next: ['volctl plan --orphans'],
    },
    {
      name: 'why all is refused',
      plan: { operations: [op('a')], refused: { rule: 'S1', code: 'WrongMachine', message: 'm' } },
      next: ['volctl explain WrongMachine'],
    },
    {
      name: 'the kubelet, where the controller goes on by what it reports',
      plan: { ...stopped, problems: [stillListed] },
      next: ['systemctl start k3s-agent.service'],
    },
    {
      name: 'not the kubelet, where a person has to see to something first',
      plan: {
        ...stopped,
        problems: [stillListed, { ...twoWriters, severity: 'warning' }],
      },
      next: ['volctl explain uid-9'],
    },
    {
      name: 'why the controller does not go on, where the kubelet runs',
      plan: { ...running, problems: [stillListed] },
      next: ['volctl explain kubernetes.io/csi/d^v'],
    },
    {
      name: 'not the kubelet, where not all was seen',
      plan: { ...stopped, complete: false },
      next: [],
    },
    {
      name: 'not the kubelet, where flags left something out',
      plan: {
        ...stopped,
        summary: { ...aPlan().summary, filtered: 1 },
      },
      next: [],
    },
    {
      name: 'what was left out, where a kubelet that starts ends all that is left of what was named',
      plan: {
        ...stopped,
        problems: [stillListed],
        summary: { ...aPlan().summary, filtered: 1 },
      },
      next: ['volctl plan'],
    },
    {
      name: 'when to go on, of a kubelet that stopped a moment ago',
      plan: {
        createdAt: '2026-11-22T08:50:19.354Z',
        waiting: [wait({ code: 'Settling', until: '2026-11-22T08:52:00Z' })],
      },
      applyFlags: ['--orphans'],
      next: ['volctl apply --orphans'],
    },
    { name: 'nothing on a healthy node', plan: running, next: [] },
    {
      name: 'without a known unit what is known',
      plan: { ...withKubelet({}), waiting: [staged] },
      next: ['volctl explain shop/db-0'],
    },
  ])('$name', ({ plan, applyFlags = [], next }) => {
    expect(nextOf(plan, { applyFlags }).map(({ command }) => command)).toEqual(next)
  })
})

describe('plan and apply go in no circle', () => {
  const volume = { ...staged.volume, name: 'pv-c', driver: 'd.example' } as Waiting['volume']
  const silent = problem('DriverUnavailable', { severity: 'warning', about: { driver: 'd.example' } })

  it('nobody stops a kubelet for a volume whose driver does not answer', () => {
    const waiting = [{ ...staged, ...(volume && { volume }) }]
    expect(nextOf({ ...running, waiting })[0]?.command).toBe('volctl apply --stop-kubelet')
    expect(nextOf({ ...running, waiting, problems: [silent] })[0]?.command).toBe('volctl explain driver/d.example')
  })

  it('what the last apply failed at is said where it is advised again', () => {
    const hung = { kind: 'UnmountDevice', volume: 'pv-c', pod: { uid: 'uid-2' }, message: 'it hung' } as const
    const why = (failed: (typeof hung)[]) => nextOf({ ...running, waiting: [staged] }, { failed })[0]?.why
    expect(why([hung])).toMatch(/; in the last apply UnmountDevice failed: it hung$/)
    expect(why([])).not.toMatch(/last apply/)
  })

  it('a kubelet is started only for a driver that comes with it', () => {
    const blocked = { code: 'DriverUnavailable', message: 'm', hint: 'h' } as const
    const of = (given: object) => [op('a', { blocked: { ...blocked, ...given } as never, ...(volume && { volume }) })]
    const first = (given: object) => nextOf({ ...stopped, operations: of(given) })[0]?.command
    expect(first({ because: { byStart: true } })).toMatch(/^systemctl start /)
    expect(first({})).not.toMatch(/^systemctl/)
  })
})

it('in a container, what needs a stopped kubelet is typed on the node, without what speaks of the container', () => {
  const plan = { ...running, operations: [op('a')], waiting: [staged] }
  const given = { applyFlags: ['--orphans', '--host-root', '/host'], nodeFlags: ['--orphans'] }
  expect(nextOf(plan, given).map(({ command, node }) => [node, command])).toEqual([
    [undefined, 'volctl apply --orphans --host-root /host'],
    ['node-1', 'volctl apply --orphans --stop-kubelet'],
  ])
})

describe('what to type about a snapshot', () => {
  const steps = (plan: Partial<Plan>, snapshot = 'node.json'): unknown =>
    nextOf(plan, { snapshot }).map(({ command, node }) => [node, command])

  it('what a person does before it stays with it', () => {
    const users = [{ pid: 191, process: 'sleep' }]
    const operations = [op('a', { blocked: { ...held, users } })]
    expect(nextOf({ operations }, { snapshot: 'node.json' })).toEqual([
      {
        first: 'stop sleep (pid 191)',
        command: 'volctl apply',
        why: 'does what waits for that',
        node: 'node-1',
      },
    ])
  })

  it('what reads, reads the snapshot', () => {
    const waiting = [wait({ code: 'NotAttached' })]
    expect(steps({ waiting })).toEqual([[undefined, 'volctl explain shop/db-0 --snapshot node.json']])
    expect(steps({ waiting }, 'my node.json')).toEqual([
      [undefined, "volctl explain shop/db-0 --snapshot 'my node.json'"],
    ])
  })
})

describe('a kubelet that runs', () => {
  const told = (given: Partial<Plan>) => {
    const { parts, needs } = answered({ ...running, ...given })
    return {
      does: parts.find(({ name }) => name === 'Left to others')?.rows.map(({ text }) => text),
      never: needs.map(({ text, names, blocks }) => [text, ...(names === undefined ? [] : [names]), ...blocks]),
    }
  }

  it('does what it remembers, and never what it has forgotten', () =>
    expect(told({ waiting: [wait(), staged] })).toEqual({
      does: ['sets up 1 volume of 1 pod'],
      never: [['The kubelet has lost track of a staged volume, and never unstages it', 'pv-c']],
    }))

  it('has one volume where two things are left to do about it', () => {
    const subject = { row: 'kubernetes.io/csi/d^v' as RowKey }
    const waiting = (['UnmapVolume', 'UnmapDevice'] as const).map((kind) => wait({ kind, subject }))
    expect(told({ waiting }).does).toEqual(['unmaps 1 volume of 1 pod'])
  })

  it('has until the settle time to clean up after a pod', () =>
    expect(told({ waiting: [wait({ code: 'Settling', until: '2026-11-01T12:02:00.000Z' })] })).toEqual({
      does: ['tears down what changed a moment ago: shop/db-0; after 12:02:00Z volctl does it'],
      never: [],
    }))
})

describe('causes', () => {
  it('the finding that a cause speaks with says what is done, by its code where it has no hint', () => {
    const about = { driver: 'd.example' }
    const problems = [
      problem('DriverRegistration', { about, message: 'no driver answers' }),
      problem('DriverRegistration', { about, message: 'two sockets', hint: 'Remove one.' }),
    ]
    const [{ message, remedy } = {}, ...others] = causesOf({ problems })
    expect([message, remedy, others]).toEqual(['no driver answers', [CODES.DriverRegistration.remedy], []])
  })
  it('name the processes that the findings carry, each once, whatever the sentences say', () => {
    const heldBy = (name: string, ...users: { pid: number; process: string }[]): Operation =>
      op(name, {
        blocked: { code: 'HeldBy', message: `${name} is in use by somebody (pid 99, cwd)`, users },
        volume: { name, plugin: 'kubernetes.io/csi', mode: 'Filesystem' },
      })
    const tmux = { pid: 7, process: 'tmux: server' }
    const operations = [heldBy('pv-a', tmux), heldBy('pv-b', tmux, { pid: 8, process: 'less (2)' })]
    expect(causesOf({ operations }).map(({ users }) => users)).toEqual([
      [tmux],
      [tmux, { pid: 8, process: 'less (2)' }],
    ])
    const needsOf = (...more: Operation[]) => answered({ operations: [...operations, ...more] }).needs
    const own = (name: string): string => `${name} is in use by somebody (pid 99, cwd)`
    expect(needsOf().map(({ text }) => text)).toEqual(['pv-a', 'pv-b'].map(own))
    // What one process has of several volumes is one thing to end.
    const [both] = needsOf(heldBy('pv-c', tmux))
    expect(both).toMatchObject({
      text: '2 volumes are in use by tmux: server (pid 7)',
      names: 'shop/web-0 pv-a, shop/web-0 pv-c',
    })
  })

  it('S37: of two devices in use each has its sentence and its way out, and process 1 is ended by nobody', () => {
    const held = (name: string): Operation =>
      op(name, {
        blocked: { code: 'HeldBy', message: `${name} is in use: /dev/${name} is a loop device`, hint: `Free ${name}.` },
        volume: { name, plugin: 'kubernetes.io/csi', mode: 'Filesystem' },
      })
    const { needs } = answered({ operations: [held('pv-a'), held('pv-b')] })
    expect(needs.map(({ text, remedy }) => [text, ...remedy])).toEqual([
      ['pv-a is in use: /dev/pv-a is a loop device', 'Free pv-a.'],
      ['pv-b is in use: /dev/pv-b is a loop device', 'Free pv-b.'],
    ])
    expect(endOf([{ pid: 1, process: 'systemd' }])).not.toContain('systemd')
  })

  it('of a driver and of a pod that may still run are one, whatever the code and the volume', () => {
    const { pod: _, ...ofVolume } = op('a', { blocked: noDriver })
    const about = { driver: 'disk.example.com' }
    const problems = [problem('DriverRegistration', { about })]
    const blocked = { code: 'UnknownPodProcess', message: 'm' } as const
    const alive = ['b', 'c'].map((id) => op(id, { blocked, volume: { ...ofVolume.volume, name: id } as never }))
    expect(causesOf({ operations: [ofVolume, ...alive], problems }).map(({ subject }) => subject)).toEqual([
      { pod: alive[0]?.pod },
      about,
    ])
  })

  it('what only follows never speaks for what it follows from', () => {
    const operation = op('a', { blocked: { code: 'ForeignMount', message: 'a tmpfs lies below' } })
    const because: Because = {
      code: 'ForeignMount',
      subject: { pod: operation.pod, volume: 'pv-a' } as never,
      follows: true,
    }
    const follows = { ...twoWriters, message: 'so it stays', because }
    const problems = [follows, follows]
    expect(causesOf({ operations: [operation], problems }).map(({ message }) => message)).toEqual([
      'a tmpfs lies below',
    ])
  })

  it('of something in its row names the pods of what follows from that', () => {
    const pod = { namespace: 'shop', name: 'web-0', uid: 'u' }
    const because = { row: 'csi/d^x' }
    const waits = problem('PodWaitsForVolume', { about: { pods: [pod] } as never, because })
    const problems = [{ ...twoWriters, subject: because }, waits]
    expect(causesOf({ problems }).map(({ affects }) => affects.pods)).toEqual([[pod]])
  })

  it('of two volumes that go by one name are two', () => {
    const blocked = { code: 'ForeignMount', message: 'a tmpfs lies below' } as const
    const of = (id: string, row: string): Operation => {
      const { pod: _, ...rest } = op(id, { blocked, subject: { row } })
      return rest
    }
    const operations = [of('a', 'csi/one^x'), of('b', 'csi/two^x')]
    expect(causesOf({ operations }).map(({ affects }) => affects.operations)).toEqual([['a'], ['b']])
  })
})

describe('names', () => {
  const pods = ['0c4a1111-a', '0c4a1111-b', 'ffffffff-c']
  const podText = podTextIn({
    operations: [
      ...pods.map((uid, n) => op(`${n}`, { pod: { uid } })),
      op('3', { pod: { namespace: 'shop', name: 'web-0', uid: '11111111-d' } }),
      op('4', { pod: { namespace: 'shop', name: 'web-0', uid: '22222222-e' } }),
    ],
  })

  it('a UID is as short as it is unique, and has eight letters at least', () =>
    expect(pods.map((uid) => podText({ uid }))).toEqual(['0c4a1111-a', '0c4a1111-b', 'ffffffff']))

  it('two pods of one name are told apart', () =>
    expect(podText({ namespace: 'shop', name: 'web-0', uid: '22222222-e' })).toBe('shop/web-0 (22222222)'))
})

describe('one sentence for several causes', () => {
  const about = (message: string, code: ProblemCode, hint: Hint) =>
    problem(code, {
      ...{ message, hint },
      about: code === 'PodGoneButRunning' ? { podRef: { uid: message } } : { volume: message },
    })

  it('pods that run are all to be stopped', () => {
    const problems = ['p', 'q'].map((uid) =>
      about(uid, 'PodGoneButRunning', advice`Stop the pod: ${commandLine('crictl', 'stopp', uid)}`.alike()),
    )
    expect(answered({ problems }).needs[0]?.remedy).toEqual([
      'Stop the pod: crictl stopp p',
      'a kubelet that starts unmounts the volumes before it stops the pod',
    ])
  })

  it('has three ways out at most', () => {
    const problems = ['a', 'b', 'c', 'd'].map((each) => about(each, 'MountedButNotAttached', `Do ${each}.`))
    expect(answered({ problems }).needs).toMatchObject([{ remedy: ['Do a.', 'Do b.', 'Do c.'] }])
  })

  it('has a remedy that holds for all of them, with the flags in force: others stand by themselves', () => {
    const unstage = (name: string) =>
      about(name, 'MountedButNotAttached', advice`Then: ${volctl('apply', '--volume', name)}`.alike())
    const problems = [about('pv-a', 'MountedButNotAttached', 'First stop the pods.'), ...['pv-b', 'pv-c'].map(unstage)]
    expect(answered({ problems }, ['--node', 'a']).needs).toMatchObject([
      { text: 'pv-a', remedy: ['First stop the pods.'] },
      { names: 'pv-b, pv-c', remedy: ['Then: volctl apply --node a --volume pv-b'] },
    ])
  })
})

it('what comes after something left out is left out, too', () => {
  interface Draft {
    readonly kind: Operation['kind']
    readonly after: readonly Draft[]
  }
  const first: Draft = { kind: 'DetachVolume', after: [] }
  const operations: Draft[] = [first, { kind: 'AttachVolume', after: [first] }]
  const isNamed = () => true
  const is = { operation: isNamed, wait: isNamed, problem: isNamed }
  const left = namedPart({ operations, waiting: [], problems: [] }, { skip: ['DetachVolume'] }, is)
  expect(left).toMatchObject({ kept: [], filtered: 2 })
})

it('a part of a plan counts what it leaves out', () => {
  const plan = aPlan({ operations: [op('a'), op('b'), op('c')] })
  expect(partOf(plan, new Set(plan.operations.slice(2))).summary).toMatchObject({ filtered: 2, ready: 1 })
})

it('what needs a person is no note as well', () => {
  const message = 'pod default/web has phase Failed and still runs: container c running'
  const runs = (severity: Severity): Problem =>
    problem('PodStillRunning', { severity, message, about: { pod: 'default/web' } })
  const { needs, notes } = answerOf(
    withAdvice(aPlan({ problems: [runs('error'), runs('info')] }), { applyFlags: [], settleMs: 0 }),
  )
  expect(needs.map(({ text }) => text)).toEqual([message])
  expect(notes).toEqual([])
})

it('one pod with volumes of several reasons has ended', () => {
  const pod = { namespace: 'default', name: 'web', uid: 'u' }
  const operations = [op('a', { pod, reason: 'PodFinished' }), op('b', { pod, reason: 'NotReconstructable' })]
  expect(answered({ operations }).parts[0]?.title).toBe('unmount for ended pod default/web (2 operations)')
})

it('a refusal is said once, with what hangs on it, and nothing is kept beside it', () => {
  const refused = { rule: 'S1', code: 'WrongMachine', message: 'this is not node-1', hint: 'Check --node.' } as const
  const operations = [op('a', { blocked: { code: 'Refused', message: refused.message } })]
  const problems = [problem('OrphanPodDir', { severity: 'info' })]
  const { needs, parts } = answered({ refused, operations, problems })
  const blocks = ['1 deleted pod keeps volumes: shop/web-0 (1 operation)']
  expect(needs).toEqual([{ severity: 'error', text: refused.message, blocks, remedy: ['Check --node.'] }])
  expect(parts.flatMap(({ rows }) => rows)).toEqual([])
})

it('a pod that ended is not called deleted', () => {
  const { needs } = answerOf(
    aPlan({ operations: [op('a', { reason: 'PodFinished', blocked: { code: 'DriverUnavailable', message: 'm' } })] }),
  )
  expect(needs[0]?.blocks).toEqual(['1 pod keeps volumes: shop/web-0 (1 operation)'])
})

it('pods that were not read are not counted', () => {
  const pods = { listed: 0, onDisk: 3, gone: 0 }
  const headlines = [true, false].map((complete) => answered({ complete, inputs: { ...inputs, pods } }).headline)
  expect(headlines).toEqual(['node-1: kubelet stopped; 0 pods', 'node-1: kubelet stopped'])
})
