/** Lines taken apart: header, quotes, pairs, and what they name; hostile ones too. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_LINE_CHARS, parseLine } from '../../src/core/explain/log-lines/log-line.ts'
import { saidBy } from '../../src/core/explain/log-lines/sentences.ts'
import { namesIn } from '../../src/core/explain/log-lines/take-names.ts'
import { DRIVER, ROOT, uid } from '../helpers/node-builder.ts'

const U = uid(9)

describe('the parts of a line', () => {
  it.each([
    {
      line: 'Nov 22 20:01:02 node-1 kubelet[812]: E1122 20:01:02.123456     812 file.go:123] "It broke" err="open \\"a\\": no" pod="ns/web-0"',
      want: {
        host: 'node-1',
        program: 'kubelet',
        severity: 'error',
        source: 'file.go:123',
        message: 'It broke',
      },
    },
    {
      line: 'Nov 24 20:01:02 node-1 microshift[1]: kubelet I1124 20:01:02.123456     812 file.go:123] plain text',
      want: { host: 'node-1', program: 'microshift', severity: 'info', message: 'plain text' },
    },
    {
      line: '[csi-attacher-58b8-dcscp] W1122 20:01:02.123456     812 file.go:123] plain text',
      want: { severity: 'warning', message: 'plain text' },
    },
    {
      line: '{"ts":1795377662123.4,"caller":"a.go:1","msg":"It broke","pod":{"name":"w","namespace":"ns"},"err":"x"}',
      want: {
        source: 'a.go:1',
        severity: 'error',
        message: 'It broke',
      },
    },
    {
      line: '  Warning  FailedMount  2m (x5 over 10m)  kubelet  MountVolume.SetUp failed',
      want: {
        severity: 'warning',
        message: 'MountVolume.SetUp failed',
      },
    },
    {
      line: 'shop   2m35s   Warning   FailedMount   pod/web-0   It failed',
      want: { severity: 'warning', message: 'pod/web-0   It failed' },
    },
    { line: 'csi_handler.go:98] It broke', want: { source: 'csi_handler.go:98', message: 'It broke' } },
    {
      line: 'I0505 16:18:36.777260 manager.go:245 [files] Starting',
      want: { severity: 'info', source: 'manager.go:245', message: '[files] Starting' },
    },
    {
      line: 'node-1 kubelet[812]: W1122 20:01:02.123456     812 file.go:12] It broke',
      want: { host: 'node-1', program: 'kubelet', severity: 'warning', message: 'It broke' },
    },
    {
      line: '{"stream":"stderr","message":"E1122 20:01:02.123456       1 file.go:12] It broke"}',
      want: { severity: 'error', message: 'It broke' },
    },
  ])('$line', ({ line, want }) => expect(parseLine(line)).toMatchObject(want))

  it('quotes of any depth', () =>
    expect(parseLine('x: err="volume \\"a\\" of \\\\\\"b\\\\\\"\\nnext" y')).toMatchObject({
      error: 'volume "a" of "b"\nnext',
      said: 'x: err="volume "a" of "b"\nnext" y',
    }))
})

const names = (line: string): string[] => namesIn(parseLine(line)).map(({ kind, name }) => `${kind} ${name}`)

it.each([
  { line: `orphaned pod "${U}" found`, want: [`podUid ${U}`] },
  {
    line: `stat ${ROOT}/pods/${U}/volumes/kubernetes.io~csi/pv-1/mount: busy`,
    want: [`path ${ROOT}/pods/${U}/volumes/kubernetes.io~csi/pv-1/mount`, `podUid ${U}`, 'podVolume pv-1'],
  },
  {
    line: `(UniqueName: "kubernetes.io/csi/${DRIVER}^projects/a/b#c")`,
    want: [`volume kubernetes.io/csi/${DRIVER}^projects/a/b#c`, `driver ${DRIVER}`],
  },
  {
    line: `{volumeName:kubernetes.io/secret/${U}-tls podName:${U} nodeName:}`,
    want: [`podUid ${U}`, 'podVolume tls'],
  },
  { line: `PVC shop/data is not bound: pvc-${U}`, want: [`persistentVolume pvc-${U}`, 'claim shop/data'] },
  {
    line: `node="node-7" attachment="csi-${'ab'.repeat(32)}"`,
    want: [`attachment csi-${'ab'.repeat(32)}`, 'node node-7'],
  },
  {
    line: `E1122 20:01:02.1 1 a.go:1] "x" pods=["a/b","c/d"] attachedTo=["n-2"]`,
    want: ['pod a/b', 'pod c/d', 'node n-2'],
  },
  { line: 'driver name a.b.c not found in the list', want: ['driver a.b.c'] },
  {
    line: 'unmounted volumes=[a b], failed to process volumes=[c]: x',
    want: ['podVolume a', 'podVolume b', 'podVolume c'],
  },
  { line: 'unmounted volumes=[a b], unattached volumes=[c d', want: ['podVolume a', 'podVolume b'] },
  { line: '2m35s Warning FailedMount pod/web-0 It failed', want: ['pod web-0'] },
  { line: 'GRPC call: /csi.v1.Node/NodePublishVolume https://kubernetes.io/docs/a', want: [] },
  { line: 'Could not attach volume "vol-1" to node "i-0abc"', want: ['podVolume vol-1'] },
  { line: 'rbd: map failed: (2); Pulling image quay.io/a/b', want: [] },
  { line: 'An operation with the given Volume ID vol-fs1 already exists', want: ['volume vol-fs1'] },
  { line: 'An operation with the given volume="vol-0a1b" is already in progress', want: ['volume vol-0a1b'] },
  {
    line: 'An operation with the given Volume ID /subscriptions/s/disks/d already exists',
    want: ['volume /subscriptions/s/disks/d'],
  },
  { line: 'detachment for VolumeAttachment for volume [vol-n3] failed: x', want: ['volume vol-n3'] },
  { line: 'attacher.WaitForDetach timeout after 2m0s [volume=vol-n3; attachment.ID=csi-1]', want: ['volume vol-n3'] },
  { line: 'failed to attach volume vol-n3: x', want: ['volume vol-n3'] },
  { line: 'attachment timeout for volume vol-0ddf', want: ['volume vol-0ddf'] },
  { line: 'failed to attach volume to node', want: [] },
  { line: `for volume "pv-1" : to attach volume pv-1`, want: ['podVolume pv-1'] },
  {
    line: 'AttachVolume.Attach failed for volume "projects/p/zones/z/disks/d" : x',
    want: ['volume projects/p/zones/z/disks/d'],
  },
  { line: 'volume "kubernetes.io/csi/a.b^h" x', want: ['volume kubernetes.io/csi/a.b^h', 'driver a.b'] },
  { line: 'E1122 20:01:02.1 1 a.go:1] "called" volumeID="vol-fs1"', want: ['volume vol-fs1'] },
])('what a line names: $line', ({ line, want }) => expect(names(line).toSorted()).toEqual(want.toSorted()))

describe('hostile lines', () => {
  const whole = (line: string): void => {
    const parsed = parseLine(line)
    namesIn(parsed)
    saidBy(parsed)
  }
  const nasty = [
    '"',
    '\\',
    '\\"',
    '[',
    '{',
    '=<\n',
    'a=',
    '/',
    ' ',
    'pod "',
    'kubernetes.io/csi/',
    '^',
    '00000000-',
    'pvc-',
    '.',
    ':',
    '\u001b[31m',
    '\u0000',
    '\u202e',
    '{"a":',
    'volume "',
    'a="\\',
    'E1122 20:01:02.1 1 a:1] "',
    // The beginnings of sentences and causes, whose ends never come.
    'orphaned pod found, but ',
    'Operation for "',
    'MountVolume.SetUp failed dial unix csi',
    'MountVolume.SetUp failed Get "https://',
    'timeout after 1 [volume=',
    'rpc error: code = ',
    'exit status 1\n',
  ]

  it('no text makes parsing throw', () => {
    const texts = fc.array(fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: 'binary', maxLength: 8 })), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(texts, (parts) => whole(parts.join(''))),
      { numRuns: 150 },
    )
  })

  it.each(nasty)('a megabyte of %j takes no longer than it should', (part) => {
    const line = `E1122 20:01:02.123456     812 file.go:1] ${part.repeat(Math.ceil(1_000_000 / part.length))}`
    const start = process.threadCpuUsage()
    whole(line)
    whole(part.repeat(Math.ceil(1_000_000 / part.length)))
    // Each takes a few milliseconds of this thread, whatever else runs; what is quadratic takes seconds.
    const { user, system } = process.threadCpuUsage(start)
    expect(user + system).toBeLessThan(1_500_000)
    expect(parseLine(line).message.length).toBeLessThanOrEqual(MAX_LINE_CHARS)
  })
})
