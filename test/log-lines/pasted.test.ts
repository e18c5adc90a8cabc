/** What people paste: broken lines, whole describes, tables of events, logs in which something is over or harmless. */
import { describe, expect, it } from 'vitest'
import { nodeScope } from '../../src/core/log-lines/explain-line.ts'
import { explainLog } from '../../src/core/log-lines/explain-log.ts'
import type { LogExplanation } from '../../src/core/log-lines/log-explanation.ts'
import { pastedLines } from '../../src/core/log-lines/pasted.ts'
import { sentencesIn } from '../../src/core/log-lines/sentences/sentences.ts'
import { answerDefects } from './schema.ts'

const klog = (severity: string, second: number, text: string): string =>
  `${severity}1122 20:01:${String(second).padStart(2, '0')}.123456     812 a.go:1] ${text}`
const failed = (cause: string): string => `MountVolume.SetUp failed for volume "data" pod "shop/web-0" : ${cause}`
const BUSY = 'UnmountVolume.TearDown failed for volume "data" : remove /m: device or resource busy'

function explained(...rows: string[]): LogExplanation {
  const log = explainLog({ lines: rows, total: rows.length, unfinished: false }, nodeScope(undefined))
  expect(answerDefects(log)).toEqual([])
  return log
}

const namesOf = (log: LogExplanation): (string | undefined)[] => log.troubles.map(({ sentence }) => sentence?.name)

describe('one line again', () => {
  const line = klog('E', 2, failed('mount failed: exit status 32'))
  it.each([
    {
      of: 'what mount(8) printed',
      rows: [line, 'Mounting command: mount', 'Output: mount.nfs: Connection refused'],
      name: 'NfsTimedOut',
    },
    {
      of: 'rows of a journal, each with a head',
      rows: [line, 'Mounting command: mount', 'Output: mount.nfs: Connection refused'].map(
        (row) => `May 27 12:30:35 node-1 kubelet[3799]: ${row}`,
      ),
      name: 'NfsTimedOut',
    },
    {
      of: 'a terminal of 80 columns',
      rows: `${line} Output: mount.nfs: Connection refused`.match(/.{1,80}/g) ?? [],
      name: 'NfsTimedOut',
    },
    {
      of: 'without a header',
      rows: [failed('mount failed: exit status 32'), 'Output: mount.nfs: Connection refused'],
      name: 'NfsTimedOut',
    },
  ])('$of', ({ rows, name }) => {
    const [only, ...more] = pastedLines(rows)
    expect(more).toEqual([])
    expect(only && sentencesIn(only)[0]).toBe(name)
  })

  it.each([
    { of: 'two lines with headers', rows: [line, klog('E', 3, BUSY)] },
    { of: 'two messages without', rows: [failed('x'), BUSY] },
    { of: 'a blank row between', rows: [line, '', 'rpc error: code = Internal desc = x'] },
  ])('$of stay two', ({ rows }) => expect(pastedLines(rows)).toHaveLength(2))
})

describe('a describe', () => {
  const events = [
    'Events:',
    '  Type     Reason       Age                 From     Message',
    '  ----     ------       ----                ----     -------',
    '  Normal   Scheduled    9m                  default-scheduler  Successfully assigned shop/web-0 to node-1',
    '  Warning  FailedMount  30s (x12 over 8m)   kubelet  MountVolume.SetUp failed for volume "conf" : configmap "conf" not found',
    '  Warning  FailedMount  10s (x3 over 7m)    kubelet  Unable to attach or mount volumes: unmounted volumes=[conf], unattached volumes=[]: timed out waiting for the condition',
  ]

  it('of a pod: its events are of that pod, and one trouble', () => {
    const rows = ['Name:         web-0', 'Namespace:    shop', 'Containers:', '  web:', ...events]
    expect(
      pastedLines(rows)
        .filter(({ format }) => format === 'event')
        .map(({ values }) => values.get('pod')),
    ).toEqual(Array.from({ length: 3 }, () => 'shop/web-0'))
    const log = explained(...rows)
    expect(log.troubles.map(({ count, sentence }) => [count, sentence?.name])).toEqual([[15, 'ContentNotFound']])
    expect(log.harmless.map(({ name }) => name)).toEqual(['PodNews'])
  })

  it('of a claim', () => {
    const rows = [
      'Name:          data',
      'Namespace:     shop',
      'StorageClass:  fast',
      'Status:        Pending',
      ...events,
    ]
    expect(pastedLines(rows).at(-1)?.values.get('pvc')).toBe('shop/data')
  })
})

describe('objects, as kubectl get -o yaml or json', () => {
  const claim = [
    'apiVersion: v1',
    'kind: PersistentVolumeClaim',
    'metadata:',
    '  name: data',
    '  namespace: shop',
    'spec:',
    '  volumeName: pvc-1',
    'status:',
  ]
  const failing = [
    '  conditions:',
    '  - message: "rpc error: code = ResourceExhausted desc = no room',
    '      for it"',
    '    type: ControllerResizeError',
    '  phase: Bound',
  ]
  const said = (rows: readonly string[]) =>
    pastedLines(rows).map((line) => [sentencesIn(line)[0], line.values.get('pvc'), line.message])

  it.each([
    { of: 'a claim', rows: [...claim, ...failing], about: 'shop/data' },
    {
      of: 'a list',
      rows: [
        'items:',
        ...claim.map((row, at) => (at === 0 ? `- ${row}` : `  ${row}`)),
        ...failing.map((row) => `  ${row}`),
        'kind: List',
      ],
      about: 'shop/data',
    },
    { of: 'its status alone', rows: ['status:', ...failing], about: undefined },
    {
      of: 'after another one',
      rows: ['---', 'kind: Secret', 'data: {}', '---', ...claim, ...failing],
      about: 'shop/data',
    },
  ])('the status of $of', ({ rows, about }) =>
    expect(said(rows)).toEqual([
      ['DriverExhausted', about, 'rpc error: code = ResourceExhausted desc = no room for it'],
    ]),
  )

  it('JSON', () => {
    const object = {
      kind: 'VolumeAttachment',
      metadata: { name: 'csi-1' },
      status: { attachError: { message: 'timed out waiting for the condition' } },
    }
    const [line] = pastedLines(JSON.stringify(object, undefined, 4).split('\n'))
    expect([line?.message, line?.values.get('attachment')]).toEqual(['timed out waiting for the condition', 'csi-1'])
  })

  it('how far a claim has grown', () => {
    const state = (word: string) => said([...claim, '  allocatedResourceStatuses:', `    storage: ${word}`])[0]?.[0]
    expect(['NodeResizePending', 'NodeResizeInProgress', 'ControllerResizeInfeasible'].map(state)).toEqual([
      'ExpansionWaits',
      'Expanding',
      'ExpansionFailed',
    ])
  })

  it('events', () => {
    const event = [
      'kind: Event',
      'involvedObject:',
      '  kind: Pod',
      '  name: web-0',
      '  namespace: shop',
      'message: \'MountVolume.SetUp failed for volume "c" : configmap "c" not found\'',
      'reason: FailedMount',
      'type: Warning',
    ]
    const [line] = pastedLines(event)
    expect([line && sentencesIn(line)[0], line?.values.get('pod'), line?.severity]).toEqual([
      'ContentNotFound',
      'shop/web-0',
      'warning',
    ])
  })

  it('that say nothing are named', () =>
    expect(said([...claim, '  phase: Bound'])).toEqual([[undefined, 'shop/data', 'PersistentVolumeClaim: Bound']]))

  it.each([
    { of: 'no YAML', rows: ['kind: Pod', 'a: b: c'] },
    { of: 'no object', rows: ['status:', '- 1'] },
    {
      of: 'aliases of aliases',
      rows: [
        'items:',
        '- &a {status: {x: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}',
        ...Array.from({ length: 30 }, () => '- &a {status: {x: [*a, *a, *a, *a, *a, *a, *a, *a, *a]}}'),
      ],
    },
    { of: 'any depth', rows: ['status:', `  a: ${'['.repeat(100_000)}${']'.repeat(100_000)}`] },
  ])('$of stays rows', ({ rows }) => expect(pastedLines(rows).length).toBeGreaterThan(0))
})

describe('order in time', () => {
  const done = (second: number): string =>
    klog('I', second, 'MountVolume.SetUp succeeded for volume "data" pod "shop/web-0"')

  it('what a later line ended is over, and stands behind what goes on', () => {
    const rows = [1, 2, 3].map((second) => klog('E', second, failed('rpc error: code = Internal desc = x')))
    const log = explained(
      ...rows,
      done(4),
      klog('E', 5, 'MountVolume.SetUp failed for volume "other" : permission denied'),
    )
    expect(log.troubles.map(({ sentence, over }) => [sentence?.name, over])).toEqual([
      ['AccessDenied', undefined],
      ['DriverInternalError', true],
    ])
  })

  it('a failure after the success goes on', () => {
    const log = explained(done(1), klog('E', 2, failed('permission denied')))
    expect(log.troubles.map(({ over }) => over)).toEqual([undefined])
  })

  it('events are ordered by their age, whatever row they are in', () => {
    const success = '2m   Normal   SuccessfulMountVolume  pod/web-0  MountVolume.SetUp succeeded for volume "data"'
    const failure = (age: string): string =>
      `${age}   Warning   FailedMount   pod/web-0   MountVolume.SetUp failed for volume "data" : permission denied`
    expect(explained(success, failure('10m')).troubles[0]?.over).toBe(true)
    expect(explained(success, failure('30s')).troubles[0]?.over).toBeUndefined()
  })

  it('events count as often as they say', () => {
    const log = explained(
      'Warning  FailedMount  3s (x3290 over 4d15h)  kubelet  MountVolume.SetUp failed for volume "data" : permission denied',
      '1h  3m  25  web-0.15ab  Pod    Warning  FailedMount  kubelet, node-1  MountVolume.SetUp failed for volume "logs" : permission denied',
    )
    expect(log.troubles.map(({ count }) => count)).toEqual([3290, 25])
  })
})

describe('nothing is wrong in', () => {
  it.each([
    'Normal  WaitForFirstConsumer  3s (x9 over 2m)  persistentvolume-controller  waiting for first consumer to be created before binding',
    'I1122 20:01:02.123456 1 operation_generator.go:1] UnmountDevice succeeded for volume "pvc-1" %!(EXTRA string=x)',
    'I1122 20:01:02.123456 1 reconciler.go:1] operationExecutor.VerifyControllerAttachedVolume started for volume "conf"',
    'I1122 20:01:02.123456 1 clientconn.go:1] ccResolverWrapper: sending update to cc',
    'Nov 22 20:01:02 node-1 kernel: EXT4-fs (sdb): mounted filesystem 7 r/w with ordered data mode',
    'Nov 22 20:01:02 node-1 kernel: XFS (sdc): Ending clean mount',
    '{"log":"I0816 20:56:15.902508 659 mount_linux.go:413] Checking for issues with fsck on disk: /dev/sdb\\n","stream":"stderr"}',
    'INFO 2025-04-18T20:16:28.291135220Z "Resize volume succeeded, start to update PV\'s capacity" PV="pvc-1"',
    'I1122 20:01:02.123456 1 connection.go:1] "GRPC error" err="<nil>" GRPC error: <nil>',
    'W1122 20:01:02.123456 812 plugin-defaults.go:32] flexVolume driver x/y: using default GetVolumeName for volume pvc-1',
    'Starting operationExecutor.MountVolume for volume "c" (UniqueName: "kubernetes.io/configmap/u-c") Volume is already mounted to pod, but remount was requested.',
  ])('%s', (line) => {
    const log = explained(line, line)
    expect(namesOf(log)).toEqual([])
    expect(log.harmless.length + (line.includes('ccResolver') ? 1 : 0)).toBe(1)
  })
})
