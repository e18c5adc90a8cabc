import { linkSync, truncateSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type PastApplies, readJournal } from '../../../src/core/apply/journal/read-journal.ts'
import { JOURNAL_FILE } from '../../../src/core/apply/journal/write-journal.ts'
import { renderJournal } from '../../../src/core/views/journal-view.ts'
import { PLAIN } from '../../../src/core/views/screen.ts'
import { giveAway, noOthersFiles, TRICKS } from '../../helpers/others-files.ts'
import { volctl } from '../../helpers/run-main.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const at = (second: number): string => `2026-11-21T12:00:${String(second).padStart(2, '0')}.000Z`
const line = (second: number, entry: object): string => JSON.stringify({ time: at(second), run: 'r1', ...entry })
const BEGIN = line(0, {
  type: 'begin',
  node: 'n',
  rootDir: '/r',
  plan: 'p1',
  by: { pid: 7, uid: 0, user: 'root', sudoUser: 'ann' },
})
const intent = (id: string): object => ({
  ...{ id, kind: 'UnmountVolume', reason: 'PodGone', message: 'why', pod: { uid: 'u' }, volume: { name: 'v' } },
  steps: [{ op: 'umount', target: '/m' }],
})
const INTENT = line(1, { type: 'intent', operations: [intent('a'), intent('b')] })
const STATE_FILE = line(2, { type: 'stateFile', operation: 'a', path: '/s', content: '{}' })
const OUTCOME = line(3, {
  type: 'outcome',
  outcomes: [
    { id: 'a', kind: 'UnmountVolume', state: 'done', message: 'well', elapsedMs: 5 },
    {
      id: 'c',
      kind: 'DetachVolume',
      state: 'refused',
      code: 'Changed',
      message: 'x was 1, now 2',
      elapsedMs: 0,
      volume: 'w',
    },
  ],
})
const END = line(4, { type: 'end', exit: 3, interrupted: false })
/** The last line has no end. */
const read = (...lines: string[]): PastApplies => readText(lines.join('\n'))

function readText(text: string, last?: number, plan?: string): PastApplies {
  const directory = temporaryDirectory()
  writeFileSync(`${directory}/${JOURNAL_FILE}`, text, { mode: 0o600 })
  return readJournal(directory, last, plan)
}

describe('what a journal tells', () => {
  it('an apply with what was done, what was refused, and what it did not come back from', () => {
    const { applies, damaged } = read(BEGIN, INTENT, STATE_FILE, OUTCOME, END, '')
    expect(damaged).toEqual([])
    expect(applies).toMatchObject([{ plan: 'p1', begunAt: at(0), endedAt: at(4), exit: 3, by: { sudoUser: 'ann' } }])
    expect(applies[0]?.operations).toMatchObject([
      { id: 'a', state: 'done', why: 'why', message: 'well', stateFiles: [{ path: '/s', content: '{}' }] },
      { id: 'b', state: 'unfinished', volume: 'v' },
      { id: 'c', state: 'refused', code: 'Changed' },
    ])
  })

  it('steps of earlier versions as they were written', () => {
    const steps = [{ op: 'deleteScsiDevices', target: '/d' }]
    const { applies, damaged } = read(BEGIN, line(1, { type: 'intent', operations: [{ ...intent('a'), steps }] }), '')
    expect(damaged).toEqual([])
    expect(applies[0]?.operations[0]?.steps).toEqual(steps)
  })

  it('for people', () => {
    expect(renderJournal(read(BEGIN, INTENT, OUTCOME, END), PLAIN)).toMatchInlineSnapshot(`
      "2026-11-21T12:00:00Z  plan p1  node n  by ann as root (pid 7)  exit 3 after 4s  1 done, 1 unfinished, 1 refused
        done         UnmountVolume       u  v  5ms
        unfinished   UnmountVolume       u  v
                     began, but no end is recorded: volctl plan shows what is left to do
        refused      DetachVolume        -  w  0ms
                     Changed: x was 1, now 2
      "
    `)
    expect(renderJournal(read(), PLAIN)).toBe('The journal has no applies.\n')
  })

  it('two applies at once, on two root directories, are told apart', () => {
    const other = (text: string): string => text.replace('"r1"', '"r2"')
    const { applies } = read(BEGIN, other(BEGIN), INTENT, other(OUTCOME), END)
    expect(applies.map(({ run, operations }) => [run, operations.map(({ id }) => id)])).toEqual([
      ['r1', ['a', 'b']],
      ['r2', ['a', 'c']],
    ])
  })

  it.each([
    {
      name: 'the last line is cut off',
      lines: [BEGIN, INTENT.slice(0, 40)],
      at: 2,
    },
    { name: 'a line in between is', lines: [BEGIN, '{"type":"int', INTENT], at: 2 },
    { name: 'a line lacks what it needs', lines: [BEGIN, line(1, { type: 'intent' })], at: 2 },
  ])('$name: it is said, and the rest is told', ({ lines, at: number }) => {
    const { applies, damaged } = read(...lines)
    expect(damaged).toEqual([{ file: JOURNAL_FILE, line: number }])
    expect(applies).toHaveLength(1)
    expect(renderJournal({ applies, damaged }, PLAIN)).toContain(`${JOURNAL_FILE}, line ${number} cannot be read: `)
  })

  it.each([
    ['a line of a later version', line(1, { type: 'constructor' })],
    ['null', 'null'],
    ['an apply whose beginning was thrown away', INTENT.replace('"r1"', '"r0"')],
  ])('%s is passed over', (_, text) => {
    expect(read(text, BEGIN)).toMatchObject({ damaged: [], applies: [{ run: 'r1', operations: [] }] })
  })
})

describe('the files', () => {
  it('none: no apply', () => expect(readJournal('/nonexistent')).toEqual({ applies: [], damaged: [] }))

  it.for(TRICKS)('$name in its place is not read, and nothing waits', ({ make, says, skip }, context) => {
    context.skip(skip !== undefined, skip)
    const directory = temporaryDirectory()
    writeFileSync(`${directory}/victim`, `${BEGIN}\n`)
    make(`${directory}/${JOURNAL_FILE}`, `${directory}/victim`)
    expect(() => readJournal(directory)).toThrow(
      expect.objectContaining({
        code: 'FileUnreadable',
        message: expect.stringMatching(
          new RegExp(`^the journal ${directory}/${JOURNAL_FILE} cannot be read: it [^\\n]*${says}$`),
        ),
        hint: expect.any(String),
      }),
    )
  })

  it('larger than any that apply writes are not read', () => {
    const directory = temporaryDirectory()
    writeFileSync(`${directory}/${JOURNAL_FILE}.1`, '')
    truncateSync(`${directory}/${JOURNAL_FILE}.1`, 2 ** 40)
    expect(() => readJournal(directory)).toThrow(/jsonl\.1 cannot be read: it is larger than \d+ bytes$/)
  })

  it('with a second name, under which somebody may have written, they are not read', () => {
    const directory = temporaryDirectory()
    writeFileSync(`${directory}/mine`, `${BEGIN}\n`)
    linkSync(`${directory}/mine`, `${directory}/${JOURNAL_FILE}.3`)
    expect(() => readJournal(directory)).toThrow(
      expect.objectContaining({
        code: 'FileUnreadable',
        message: expect.stringContaining('.3 cannot be read: it has'),
      }),
    )
  })

  it.skipIf(noOthersFiles !== undefined).each(['owner', 'mode'] as const)(
    'in a directory that others may write to are not read (%s), not even none of them',
    (how) => {
      const directory = temporaryDirectory()
      giveAway(directory, how)
      expect(() => readJournal(directory)).toThrow(
        expect.objectContaining({ code: 'FileUnreadable', message: expect.stringContaining(`: ${directory} `) }),
      )
    },
  )

  it('what was put aside comes first', () => {
    const directory = temporaryDirectory()
    writeFileSync(`${directory}/${JOURNAL_FILE}.1`, `${BEGIN}\n`)
    writeFileSync(`${directory}/${JOURNAL_FILE}`, `${BEGIN.replace('"r1"', '"r2"')}\n`)
    expect(readJournal(directory).applies.map(({ run }) => run)).toEqual(['r1', 'r2'])
  })
})

describe('what is asked for', () => {
  const apply = (number: number): string[] =>
    [BEGIN.replace('p1', `p${number}`), INTENT, OUTCOME, END].map((text) => `${text.replace('r1', `r${number}`)}\n`)
  const text = [1, 2, 3, 12].flatMap(apply).join('')

  it.each([
    { name: 'the newest', last: 2, want: ['p3', 'p12'] },
    { name: 'all', last: 0, want: ['p1', 'p2', 'p3', 'p12'] },
    { name: 'those of a plan', plan: 'p1', want: ['p1', 'p12'] },
    { name: 'the newest of a plan', plan: 'p1', last: 1, want: ['p12'] },
  ])('$name', ({ last, plan, want }) =>
    expect(readText(text, last, plan).applies.map((each) => each.plan)).toEqual(want),
  )
})

it('30,000 operations are printed as JSON, whole', async () => {
  const directory = temporaryDirectory()
  const ids = Array.from({ length: 30_000 }, (_, index) => `op-${index}`)
  const operations = ids.map((id) => ({ ...intent(id), basis: 'x'.repeat(1600) }))
  // A batch is one line, and has 5000 operations at most.
  const intents = Array.from({ length: 6 }, (_, batch) =>
    line(1, { type: 'intent', operations: operations.slice(batch * 5000, (batch + 1) * 5000) }),
  )
  writeFileSync(`${directory}/${JOURNAL_FILE}`, `${[BEGIN, ...intents, END].join('\n')}\n`, { mode: 0o600 })
  const { status, stdout, stderr } = await volctl(['journal', '--journal', directory, '-o', 'json'])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const { applies } = JSON.parse(stdout)
  expect(applies[0].operations.map(({ id }: { id: string }) => id)).toEqual(ids)
})
