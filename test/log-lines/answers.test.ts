/** What `volctl explain 'LINE'` and `--log` answer: by the schema, on one screen of a terminal, and where no node can be looked at. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isLine, lineAnswer, onNode } from '../../src/core/cli/line-answers.ts'
import { VolctlError } from '../../src/core/errors/errors.ts'
import { nodeScope } from '../../src/core/log-lines/explain-line.ts'
import { explainLog } from '../../src/core/log-lines/explain-log.ts'
import { explainSentence } from '../../src/core/log-lines/explain-sentence.ts'
import type { LineExplanation } from '../../src/core/log-lines/line-explanation.ts'
import { LogTailReader } from '../../src/core/log-lines/log-tail.ts'
import { askedNode } from '../../src/core/log-lines/node-names.ts'
import { readLog } from '../../src/core/log-lines/read-log.ts'
import { planWithDecisions } from '../../src/core/reconcile/decisions.ts'
import { chunksOf } from '../../src/core/views/command-words.ts'
import { renderLine, renderSentence } from '../../src/core/views/line-view.ts'
import { renderLog } from '../../src/core/views/log-view.ts'
import { PLAIN_SCREEN, type Screen } from '../../src/core/views/screen.ts'
import { screenLines } from '../../src/core/views/screen-lines.ts'
import { DRIVER, type NodeBuilder, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { CASES, type Case } from './cases.ts'
import { GONE, LINES } from './lines.ts'
import * as nodes from './nodes.ts'
import { answerDefects } from './schema.ts'

const TERMINAL: Screen = { ...PLAIN_SCREEN, width: 80, rows: 24 }

async function answer(line: string, built: NodeBuilder): Promise<LineExplanation> {
  const state = built.build()
  const decided = planWithDecisions(state, planOptions())
  const asking = onNode(
    async () => ({ ...state, decided, standing: [] }),
    { words: [], settleMs: 0 },
    async (_, { explanation }) => explanation,
  )
  const { value } = await lineAnswer(line, asking)
  return value as LineExplanation
}

const cases = Object.entries(CASES) as [keyof typeof LINES, Case][]

const isCommand = (row: string): boolean => chunksOf(row.trim()).every((chunk) => chunk.isCommand)

describe.each(cases)('%s', (name, { node }) => {
  it('is answered by the schema, on one screen, and the whole of it with -o wide and in a pipe', async () => {
    for (const line of LINES[name]) {
      const value = await answer(line, node())
      expect(answerDefects(value)).toEqual([])
      const screen = renderLine(value, TERMINAL)
      // The prompt takes a line.
      expect(screenLines(screen, 80), screen).toBeLessThanOrEqual(23)
      for (const row of screen.split('\n').filter((each) => each.length > 80 && !isCommand(each)))
        expect(row).toMatch(/\S{60,}/)
      expect(screen).toContain(name)
      // Of another node's line nothing more is asked here.
      if (value.explanation !== undefined) expect(screen).toMatch(/\nMore: volctl explain \S+\n$/)
      const piped = renderLine(value, PLAIN_SCREEN)
      const { means, why, next, volctl } = value.sentence ?? { means: '', why: '', next: '', volctl: '' }
      for (const text of [means, why, next, volctl]) expect(piped).toContain(text)
      expect(renderLine(value, { ...TERMINAL, wide: true })).toContain(
        value.explanation === undefined ? '' : 'Identity:',
      )
    }
  })
})

describe('a line as it looks', () => {
  it('names what holds the thing open', async () => {
    const value = await answer(LINES.TargetBusy[0] ?? '', nodes.orphan())
    const { explanation } = value
    if (explanation === undefined || !('holders' in explanation)) throw new Error('nothing was explained')
    const pod = { name: 'web-0', namespace: 'shop', uid: GONE }
    const processes = [1, 2, 3].map((pid) => ({ pid, command: 'sh', holds: [] }))
    const namespaces = [{ pid: 9, command: 'agent', mountPoints: ['/m'], container: 'c', pod }]
    const holders = { ...explanation.holders, known: true, processes, namespaces }
    const screen = renderLine({ ...value, explanation: { ...explanation, holders } }, TERMINAL)
    expect(screen).toContain('    Held open by sh (pid 1), sh (pid 2), sh (pid 3), and 1 more.\n')
    expect(screen.split('\n').length - 1).toBeLessThanOrEqual(23)
  })

  it('known, on a terminal', async () => {
    const [line = ''] = LINES.TargetBusy
    expect(renderLine(await answer(line, nodes.orphan()), TERMINAL)).toMatchInlineSnapshot(`
      "On node node-1, as of 2026-11-21T12:00:00Z:
        volume pv-1 (Volume kubernetes.io/csi/disk.test^pv-1)
          PodGone: pod 00000000-0000-4000-8000-000000000009 was deleted from the API;
          no sandbox, container or process is left; volume pv-1 is mounted
        pod 00000000-0000-4000-8000-000000000009: something to do (PodGone)
        driver disk.test: answers and is registered
        - volctl apply --pod 00000000-0000-4000-8000-000000000009  # asks, and carries
          out the 3 operations that are ready

      TargetBusy, said by the kubelet, a CSI driver or a mount program

      What failed: The kubelet could not take a volume down; it tries again, with
                   longer and longer pauses of up to 2 minutes 2 seconds.
      Means:       The volume cannot be unmounted, because something on this node
                   still uses it.
      Why:         A process has a file or its working directory there, another mount
                   lies below or copies it, or a process in another mount namespace
                   still has it.
      What to do:  volctl explain names the processes, mounts and devices that hold it
                   open. Stop those; the kubelet then unmounts the volume.
      Left out for lack of room; -o wide shows all.

      More: volctl explain volume/00000000-0000-4000-8000-000000000009/pv-1
      "
    `)
  })

  it('unknown, of another node', async () => {
    const line = `E1122 20:01:02.123456       1 x.go:1] "Something new" node="node-7" volumeName="kubernetes.io/csi/${DRIVER}^pv-1"`
    expect(renderLine(await answer(line, nodes.unwanted()), PLAIN_SCREEN)).toMatchInlineSnapshot(`
      "The line is about node node-7, and this one is node-1: run volctl explain there.

      volctl does not know this sentence. What it names:
        Something new

      On node node-1, as of 2026-11-21T12:00:00Z:
        volume kubernetes.io/csi/disk.test^pv-1
          NotWanted: no pod on this node uses the volume; the attach/detach controller will not detach it while node.status.volumesInUse lists it, and the kubelet, which updates that, is down
        driver disk.test: it is on node-7, and was not looked for here
        node node-7: another node; this one is node-1
      "
    `)
  })
})

it('a sentence by its name, without a node', () => {
  const sentence = explainSentence('TargetBusy')
  if (sentence === undefined) throw new Error('nobody knows it')
  expect(answerDefects(sentence)).toEqual([])
  const screen = renderSentence(sentence, TERMINAL)
  expect(screen).toMatch(/^TargetBusy, said by the kubelet, a CSI driver or a mount program\n/)
  expect(screen).toContain('See also: HeldBy')
  expect(explainSentence('targetbusy')).toBeUndefined()
})

describe('WHAT is a line, or a name', () => {
  it.each([
    'Warning  FailedMount  2m  kubelet  x',
    '{"msg":"x"}',
    `stat /var/lib/x: transport endpoint is not connected`,
    'my pod',
    '/a/b/mount: transport endpoint is not connected',
    '/dev/sdb1 has gone around 23 times, check forced.',
    '/dev/sdb: recovering something',
    'kubernetes.io/csi: mounter.SetUpAt failed',
  ])('%s: a line', (text) => expect(isLine(text)).toBe(true))

  it.each([
    'web-0',
    'shop/web-0',
    'DriverUnavailable',
    '/srv/a directory/with blanks',
    'path//srv/a directory',
    'kubernetes.io/vsphere-volume/[store] kubevols/disk.vmdk',
    '',
    'volume/a b',
  ])('%j: a name', (text) => expect(isLine(text)).toBe(false))
})

describe('without a node', () => {
  const failure = new VolctlError('NoKubeconfig', 'no kubeconfig')
  const asking = onNode(
    () => Promise.reject(failure),
    { words: [], settleMs: 0 },
    () => Promise.reject(new Error('nobody asks')),
  )

  it('the meaning is answered, and why nothing was looked for', async () => {
    const { value, unseen: after, draw } = await lineAnswer(LINES.TargetBusy[0] ?? '', asking)
    expect(after).toBe(failure)
    expect(answerDefects(value as LineExplanation)).toEqual([])
    expect(draw(TERMINAL)).toContain('TargetBusy')
  })

  it('a line that nobody knows has no answer but the error', async () => {
    await expect(lineAnswer('something new happened', asking)).rejects.toBe(failure)
  })

  it('what begins volctl again in another namespace goes through', async () => {
    const again = new Error('again')
    await expect(lineAnswer(LINES.TargetBusy[0] ?? '', { ...asking, look: () => Promise.reject(again) })).rejects.toBe(
      again,
    )
  })
})

it.each([
  'server 10.0.0.9 is odd',
  'nfs: server nas.example.com frobbed',
  '/dev/sdz9 is odd',
  'volume "d" is odd',
  '/x/y: odd',
])('%s: what names a thing is answered', async (line) => {
  expect(await answer(line, nodes.orphan())).toMatchObject({ kind: 'LineExplanation' })
})

it('a line that says and names nothing is an error', async () => {
  await expect(answer('hello world', nodes.orphan())).rejects.toMatchObject({ code: 'NotFound', exit: 1 })
})

describe('a log', () => {
  const [orphaned = ''] = LINES.OrphanedPodFile
  const [busy = ''] = LINES.TargetBusy
  const [remount = ''] = LINES.RemountRequested
  const news = 'I1122 20:01:02.1     812 kubelet.go:1] "SyncLoop (PLEG): event for pod" pod="default/web-0"'
  const unknown = `E1122 20:01:09.1     812 x.go:1] "Something new" volumeName="kubernetes.io/csi/${DRIVER}^pv-1"`
  const lines = [
    ...Array.from({ length: 9 }, () => remount),
    ...Array.from({ length: 5 }, (_, n) => orphaned.replace('20:01:02', `20:01:0${n}`)),
    orphaned.replace(GONE, uid(77)),
    busy,
    busy,
    busy,
    news,
    unknown,
  ]
  const orphan = nodes.orphan().build()
  const asked = askedNode(orphan, planWithDecisions(orphan, planOptions()))
  const log = explainLog({ lines, total: 1000, unfinished: false }, nodeScope(asked))

  it('has each trouble once, the most frequent first, what is none last', () => {
    expect(answerDefects(log)).toEqual([])
    expect(log.lines).toEqual({ total: 1000, read: 20, explained: 10 })
    expect(log.troubles.map(({ count, sentence, main }) => [count, sentence?.name, main?.ask])).toEqual([
      [5, 'OrphanedPodFile', `pod/${GONE}`],
      [3, 'TargetBusy', `volume/${GONE}/pv-1`],
      [1, 'OrphanedPodFile', undefined],
      [1, undefined, `volume/kubernetes.io/csi/${DRIVER}^pv-1`],
    ])
    expect(log.harmless.map(({ name, count }) => [name, count])).toEqual([
      ['RemountRequested', 9],
      ['PodNews', 1],
    ])
    expect(log.troubles[0]).toMatchObject({ command: `volctl explain pod/${GONE}` })
  })

  it('on a screen: count, times, meaning, verdict, and what to type', () => {
    expect(renderLog({ ...log, troubles: log.troubles.slice(0, 3) }, { ...TERMINAL, rows: 40 })).toMatchInlineSnapshot(`
      "1,000 lines, the last 20 of them read: 3 troubles in 10 lines, the most frequent
      first; node node-1 as of 2026-11-21T12:00:00Z

      5x OrphanedPodFile, 11-22 20:01:00 to 11-22 20:01:04
          The pod was deleted from the API, and a plain file is left below volumes in
          the pod's directory.
          pod 00000000-0000-4000-8000-000000000009: was deleted from the API; no
          sandbox, container or process is left
          volctl explain pod/00000000-0000-4000-8000-000000000009

      3x TargetBusy, Nov 22 20:01:02 to Nov 22 20:01:02
          The volume cannot be unmounted, because something on this node still uses
          it.
          volume pv-1 (Volume kubernetes.io/csi/disk.test^pv-1): pod
          00000000-0000-4000-8000-000000000009 was deleted from the API; no sandbox,
          container or process is left; volume pv-1 is mounted
          volctl explain volume/00000000-0000-4000-8000-000000000009/pv-1

      1x OrphanedPodFile, 11-22 20:01:02
          The pod was deleted from the API, and a plain file is left below volumes in
          the pod's directory.
          pod 00000000-0000-4000-8000-000000000077: no such pod of this node in the
          API or on its disk: the directory was removed meanwhile, or it is another
          node's

      Nothing is wrong in 10 more lines: 9x RemountRequested, 1x PodNews
      "
    `)
    expect(screenLines(renderLog(log, TERMINAL), 80)).toBeLessThanOrEqual(23)
    expect(renderLog(log, TERMINAL)).toMatch(/\n\d more troubles?: -o wide shows all\.\n$/)
    expect(renderLog(log, { ...TERMINAL, wide: true })).toContain('RemountRequested')
  })

  it('without a node has counts and meanings', () => {
    const offline = explainLog({ lines, total: 20, unfinished: true }, nodeScope(undefined))
    expect(answerDefects(offline)).toEqual([])
    expect(renderLog(offline, PLAIN_SCREEN)).toContain('did not end in time')
  })

  it('of many different lines stays bounded, and says so', () => {
    const different = Array.from({ length: 5100 }, (_, n) => orphaned.replace(GONE, uid(1000 + n)))
    const found = explainLog({ lines: different, total: 5100, unfinished: false }, nodeScope(undefined))
    expect([found.troubles.length, found.more, found.lines.explained]).toEqual([200, 4900, 5100])
  })
})

describe('reading', () => {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-log-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it('a pipe that nobody closes is answered by what has come in time', async () => {
    const fifo = join(directory, 'fifo')
    execFileSync('mkfifo', [fifo])
    const fd = openSync(fifo, 'r+')
    writeSync(fd, 'first\nsecond\nthi')
    const log = await readLog(`/dev/fd/${fd}`, { maxLines: 10, pipeMs: 300 })
    expect(log).toEqual({ lines: ['first', 'second', 'thi'], total: 3, unfinished: true })
    await expect(readLog(fifo)).rejects.toMatchObject({
      code: 'FileUnreadable',
      message: expect.stringContaining('a FIFO'),
    })
  })

  it('a file, its last lines', async () => {
    const file = join(directory, 'log')
    writeFileSync(file, 'a\nb\nc')
    expect(await readLog(file, { maxLines: 2, pipeMs: 1 })).toEqual({ lines: ['b', 'c'], total: 3, unfinished: false })
  })
})

describe('the end of a log', () => {
  function tail(text: string | Buffer, most: number, piece: number) {
    const reader = new LogTailReader(most)
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += piece) reader.add(bytes.subarray(at, at + piece))
    return reader.end()
  }

  it.each([1, 2, 3, 7, 1000])('is the same in pieces of %d bytes', (piece) => {
    const text = 'erste\r\nzwëite\n\ndritte ohne Ende'
    expect(tail(text, 10, piece)).toEqual({ lines: ['erste', 'zwëite', '', 'dritte ohne Ende'], total: 4 })
  })

  it('keeps the last lines, and counts all', () => {
    const text = Array.from({ length: 1000 }, (_, n) => `line ${n}\n`).join('')
    expect(tail(text, 3, 100)).toEqual({ lines: ['line 997', 'line 998', 'line 999'], total: 1000 })
  })

  it('holds no more than the beginning of a long line', () => {
    const { lines, total } = tail(`${'x'.repeat(1_000_000)}\nshort\n`, 10, 65_536)
    expect([lines.map(({ length }) => length), total]).toEqual([[16 * 1024 + 1, 5], 2])
  })

  it("joins klog's values of several lines", () => {
    const { lines } = tail('E1 a] "x" err=<\n\tfirst\n\tsecond\n >\nE2 next\n', 10, 1000)
    expect(lines).toEqual(['E1 a] "x" err=<\n\tfirst\n\tsecond\n >', 'E2 next'])
  })
})
