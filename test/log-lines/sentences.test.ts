/** The catalogue of sentences: real lines are known by the sentence that they say, and every entry is whole. */
import { describe, expect, it, vi } from 'vitest'
import { CODES } from '../../src/core/codes/codes.ts'
import { whatIsSaid } from '../../src/core/log-lines/explain-line.ts'
import { parseLine } from '../../src/core/log-lines/parse-line.ts'
import type { Sentence } from '../../src/core/log-lines/sentences/sentence.ts'
import { SENTENCES, type SentenceName, sentencesIn } from '../../src/core/log-lines/sentences/sentences.ts'
import { plainText } from '../../src/core/log-lines/sentences/ways.ts'
import { LINES } from './lines.ts'
import { CAUSES_INSIDE, ROWS } from './rows.ts'

const ORPHAN = '00000000-0000-4000-8000-000000000009'

const cases = (Object.entries(LINES) as [SentenceName, readonly string[]][]).flatMap(([name, lines]) =>
  lines.map((line) => ({ name, line, short: line.slice(0, 110) })),
)

describe('a line is known by what it says', () => {
  it.each(cases)('$name: $short', ({ name, line }) => expect(sentencesIn(parseLine(line))[0]).toBe(name))

  it.each(Object.entries(ROWS))('%s: %s', (name, line) => expect(sentencesIn(parseLine(line))[0]).toBe(name))

  it.each(CAUSES_INSIDE)('by what stands furthest in, and what failed around it: %s', (text, cause, failed) => {
    const { name, failed: said } = whatIsSaid(parseLine(text))
    expect([name, said]).toEqual([cause, failed === undefined ? undefined : SENTENCES[failed].means])
  })

  it.each<{ name: SentenceName; words: string[] }>([
    {
      name: 'MapSkipped',
      words: [
        'Warning: Map skipped because bind mount already exist on the path: /m',
        'Warning: Map skipped because bind mount already exists on the path: /m',
      ],
    },
    {
      name: 'VolumesNotReady',
      words: [
        'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition',
        'unmounted volumes=[data], unattached volumes=[], failed to process volumes=[]: context deadline exceeded',
      ],
    },
    {
      name: 'OrphanedPodVolumes',
      words: [
        `orphaned pod "${ORPHAN}" found, but volume paths are still present on disk`,
        `Orphaned pod "${ORPHAN}" found, but volumes are not cleaned up; volumes paths are still present on disk`,
      ],
    },
    {
      name: 'PluginUnknown',
      words: [
        'MountVolume.SetUp failed for volume "x" : no volume plugin matched',
        'MountVolume.SetUp failed for volume "x" : failed to get plugin from volumeSpec for volume "x" err=no volume plugin matched',
      ],
    },
  ])('$name, as kubelets of several versions say it', ({ name, words }) =>
    expect(words.map((line) => sentencesIn(parseLine(line))[0])).toEqual(words.map(() => name)),
  )

  it('no error is harmless for what it says in passing', () =>
    expect(sentencesIn(parseLine('E1122 20:01:02.1 1 a.go:1] failed to frob, starting controller again'))).toEqual([]))

  it('whatever tool has shown it: a container log, docker, journalctl -o json, dmesg', () => {
    const [line = ''] = LINES.TargetBusy
    const bare = line.slice(line.indexOf('E1122'))
    const wraps = [
      `2026-11-22T20:01:02.123456789Z stderr F ${bare}`,
      `2026-11-22T20:01:02+0000 node-1 kubelet[812]: ${bare}`,
      `11月 22 20:01:02 node-1 kubelet[812]: ${bare}`,
      JSON.stringify({ log: `${bare}\n`, stream: 'stderr', time: '2026-11-22T20:01:02.1Z' }),
      JSON.stringify({ MESSAGE: bare, __REALTIME_TIMESTAMP: '1795377662123456', _HOSTNAME: 'node-1' }),
      JSON.stringify({ level: 'error', msg: 'failed', error: bare }),
      `time="2026-11-22T20:01:02Z" level=error msg="StopPodSandbox failed" error=${JSON.stringify(bare)}`,
    ]
    for (const each of wraps) expect(sentencesIn(parseLine(each))[0], each).toBe('TargetBusy')
  })

  it('a line costs the search of few ways, of the thousands that there are: a log of a million lines is read in seconds', () => {
    const lines = Object.values(ROWS).map((line) => parseLine(line))
    const searches = vi.spyOn(String.prototype, 'lastIndexOf')
    try {
      for (const line of lines) sentencesIn(line)
      expect(searches.mock.calls.length / lines.length).toBeLessThan(7)
    } finally {
      searches.mockRestore()
    }
  })

  it.each([
    '',
    'hello world',
    'E1122 20:01:02.123456     812 cni.go:361] "Error adding pod to network"',
    '{"msg": "ok"}',
  ])('%j is not known', (line) => expect(sentencesIn(parseLine(line))).toEqual([]))
})

describe('the catalogue', () => {
  const entries: [string, Sentence][] = Object.entries(SENTENCES)

  it('has lines with klog text and structured ones, or an event, for every sentence', () => {
    for (const [name, lines] of Object.entries(LINES)) {
      const formats = new Set(lines.map((line) => parseLine(line).format))
      expect(formats.size, name).toBeGreaterThan(1)
    }
  })

  it.each(entries)('%s has texts of a size for one screen', (_, { means, why = means, next, volctl = means }) => {
    for (const text of [means, volctl]) expect(text.length).toBeLessThanOrEqual(220)
    for (const text of [why, next]) expect(text.length).toBeLessThanOrEqual(260)
    for (const text of [means, why, next, volctl]) expect(text).toMatch(/^[A-Z'"a-z].*(?:[.)]|: [a-z].*[^.])$/)
  })

  it.each(entries)('%s is said in words of lower case without quotes, with a gap only between words', (_, { says }) => {
    for (const way of says) {
      expect(way).toBe(plainText(way))
      for (const part of way.split(' … ')) expect(part).toMatch(/^[^…|]*[\p{L}\p{N}][^…|]*$/u)
    }
  })

  it('names only codes and kinds that there are', () => {
    const kinds = [
      'VolumeAttachment',
      'PersistentVolume',
      'UnmountVolume',
      'MountVolume',
      'DetachVolume',
      'RemountVolume',
      'CleanOrphanVolume',
      'RemountVolume',
    ]
    const said = entries.flatMap(([, { volctl }]) => volctl?.match(/\b(?:[A-Z][a-z]+){2,}\b/g) ?? [])
    expect(said.filter((word) => !kinds.includes(word) && !Object.hasOwn(CODES, word))).toEqual([])
  })

  it('has names that no code has, and cites what there is', () => {
    for (const [name, { codes = [], rules = [] }] of entries) {
      expect(Object.keys(CODES)).not.toContain(name)
      for (const rule of rules) expect(rule, name).toMatch(/^[SRCPNO]\d+$/)
      for (const code of codes) expect(Object.keys(CODES), name).toContain(code)
    }
  })
})
