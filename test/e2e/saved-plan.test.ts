/** Holding to a plan: saved, reviewed, carried out later; the journal of it; a disk that is full; a session that drops. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/plan/events.ts'
import { noMounts, noRoot } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { Report } from './scenarios/saved-plan.ts'

describe.skipIf(noMounts !== undefined)(`a saved plan${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  let report: Report
  beforeAll(async () => {
    report = await runScenario('saved-plan')
  })

  it('is for its owner alone, says how to be called, and is the plan that was printed', () => {
    const { saved, asPrinted } = report.savedPlan
    expect(saved).toMatchObject({ status: 0, mode: '600' })
    expect(saved.stderr).toMatch(/^wrote .*node\.plan: plan [0-9a-f]{12}, \d+ operations\n$/)
    expect(asPrinted).toBe(true)
  })

  it('what is another file or another mount now is refused, with was and now; what depends on it is dropped (S26)', () => {
    const { partly, otherFile, otherMount } = report.savedPlan
    expect(partly.status).toBe(3)
    const ends = endsOf(partly.stdout)
    expect(ends.get(otherFile)).toMatchObject({
      type: 'refused',
      code: 'Changed',
      message: expect.stringMatching(/vol_data\.json was inode (\d+) .*, now inode (?!\1 )\d+ /),
      differences: [{ what: expect.stringContaining('/vol_data.json') }],
    })
    expect(ends.get(otherMount)).toMatchObject({
      type: 'refused',
      code: 'Changed',
      message: expect.stringMatching(/was mount (\d+) of .*, now mount (?!\1 )\d+ of /),
    })
    expect([...ends.values()].filter(({ type }) => type === 'skipped').map(({ code }) => code)).toEqual(['Changed'])
  })

  it('the rest is done', () => {
    const { partly, saved } = report.savedPlan
    const done = [...endsOf(partly.stdout).values()].filter(({ type }) => type === 'done')
    expect(done).toHaveLength(saved.operations - 3)
  })

  it('carried out again it does nothing, and says of each why', () => {
    const { again, unchangedAgain, saved } = report.savedPlan
    const ends = [...endsOf(again.stdout).values()]
    expect(again.status).toBe(3)
    expect(unchangedAgain).toBe(true)
    expect(ends.filter(({ code }) => code === 'AlreadyDone')).toHaveLength(saved.operations - 3)
  })

  it('of which everything is done says so plainly, by number and name, and is no failure', () => {
    const { status, stdout } = report.savedPlan.done
    expect(status).toBe(0)
    expect(stdout).toMatch(/^skipped {2}1 {2}UnmountVolume +\S+ {2}\S+ /m)
    expect(stdout).toContain('AlreadyDone: already done')
    expect(stdout).toContain('This plan is already done: of its operations none is left to do.')
  })

  it('a new one does what is left', () => {
    const { rest } = report.savedPlan
    expect(rest.status).toBe(0)
    expect([...endsOf(rest.stdout).values()].map(({ type }) => type)).toEqual(['done', 'done', 'done'])
  })

  it('an edited one is found out, operation by operation; fields that nobody knows are no matter', () => {
    const { edited, editedChanged, saved } = report.savedPlan
    expect(edited.status).toBe(3)
    expect(editedChanged).toBe(false)
    const codes = [...endsOf(edited.stdout).values()].map(({ code }) => code)
    expect(codes).toEqual(Array.from({ length: saved.operations }, () => 'Changed'))
  })

  it.for(['writable', 'foreign'])('one that others could have written is not obeyed: %s', (how, { skip }) => {
    skip(how === 'foreign' && noRoot !== undefined, noRoot)
    const run = report.savedPlan.unsafe[how]
    expect(run?.status).toBe(1)
    expect(JSON.parse(run?.stderr ?? '')).toMatchObject({
      code: 'NotBelieved',
      message: expect.stringMatching(/plan file/),
    })
  })

  it('the journal tells of each apply: which plan, who, from which file, and how every operation ended', () => {
    const { journal, otherFile, otherMount, saved } = report.savedPlan
    expect(journal.damaged).toEqual([])
    expect(journal.applies.map(({ exit }) => exit)).toEqual([3, 3, 0])
    const [partly, , rest] = journal.applies
    expect(partly).toMatchObject({
      exit: 3,
      plan: /plan ([0-9a-f]+)/.exec(saved.stderr)?.[1],
      planFile: expect.stringMatching(/node\.plan$/),
      by: { pid: expect.any(Number), uid: 0, user: expect.any(String) },
      guards: { orphans: true },
    })
    const states = new Map(partly?.operations.map((operation) => [operation.id, operation]))
    expect(states.get(otherFile)).toMatchObject({ state: 'refused', code: 'Changed' })
    expect(states.get(otherMount)).toMatchObject({ state: 'refused', code: 'Changed' })
    expect(rest?.operations.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
    const unmounted = rest?.operations.find(({ id }) => id === otherFile)
    expect(unmounted?.stateFiles).toEqual([
      { path: expect.stringMatching(/vol_data\.json$/), content: expect.stringContaining('"volumeHandle"') },
    ])
  })

  it('for people as well', () => {
    const { status, stdout } = report.savedPlan.journalTable
    expect(status).toBe(0)
    expect(stdout).toMatch(/^\S+Z {2}plan [0-9a-f]{12} {2}node \S+ {2}by \S+ .*exit 0 after \d+m?s {2}3 done\n/)
    expect(stdout).toContain('  done         UnmountVolume ')
  })

  it.each(['stopped', 'readOnly'] as const)(
    'a journal that cannot be written stops it before anything is done: %s',
    (how) => {
      const run = report.fullDisk[how]
      expect(run).toMatchObject({ status: 1, stdout: '' })
      expect(JSON.parse(run.stderr)).toMatchObject({
        code: 'JournalFailed',
        hint: expect.stringContaining('--no-journal'),
      })
      expect(report.fullDisk.changed).toBe(false)
    },
  )

  it.each([
    ['out', 'no space is left on the disk'],
    ['readOnlyOut', 'the file system is read-only'],
  ] as const)('a plan that cannot be saved is printed, and one line says why: %s', (how, why) => {
    const run = report.fullDisk[how]
    expect(run.status).toBe(1)
    expect(run.stdout).toMatch(/\n\d+ operations: /)
    expect(run.stderr).toMatch(new RegExp(`^volctl: plan file .*node\\.plan: ${why}\n.*\n$`))
  })

  it('told to do without a journal it says what the state files held (S14)', () => {
    const { status, stdout } = report.fullDisk.without
    expect(status).toBe(0)
    const notes = eventsOf(stdout).filter(({ code }) => code === 'JournalFailed')
    expect(notes.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/vol_data\.json is removed; its content was .*volumeHandle/),
    )
  })

  it('a session that drops lets it finish, and the journal tells', () => {
    const { journal, left } = report.hangUp
    expect(left).toBe(0)
    expect(journal.applies).toHaveLength(1)
    expect(journal.applies[0]).toMatchObject({ exit: 0, interrupted: false })
    expect(new Set(journal.applies[0]?.operations.map(({ state }) => state))).toEqual(new Set(['done']))
  })

  it('apply NAMESPACE/NAME: a name that nothing has is an error, and no apply of everything', () => {
    const { unknown, unknownChanged } = report.named
    expect({ status: unknown.status, stdout: unknown.stdout, unknownChanged }).toEqual({
      status: 1,
      stdout: '',
      unknownChanged: false,
    })
    expect(JSON.parse(unknown.stderr)).toMatchObject({
      code: 'NothingNamed',
      hint: expect.stringMatching(/^Did you mean .*There is no file of this name either: --plan FILE$/),
    })
  })

  it('a file of exactly this name is the plan; without it only this pod is repaired', () => {
    const { pod, own, ready, inFile, ofFile, ofName, left } = report.named
    const done = (run: typeof ofFile): string[] =>
      [...endsOf(run.stdout)].filter(([, { type }]) => type === 'done').map(([id]) => id)
    expect(inFile).toHaveLength(1)
    expect({ status: ofFile.status, done: done(ofFile) }).toEqual({ status: 0, done: inFile })
    expect(ofName.status).toBe(0)
    expect(own.length).toBeGreaterThan(0)
    expect(done(ofName).toSorted()).toEqual([...own].toSorted())
    expect(own).not.toContain(inFile[0])
    const others = new Set(ready).difference(new Set([pod]))
    expect(others.size).toBeGreaterThan(1)
    expect(new Set(left)).toEqual(others)
  })

  it('one that drops while the question waits is a no', () => {
    expect(report.unanswered).toEqual({ status: 130, applies: 0 })
  })
})

function eventsOf(stdout: string): ApplyEvent[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ApplyEvent)
}

/** How each operation ended. */
function endsOf(stdout: string): Map<string, ApplyEvent> {
  const ends = eventsOf(stdout).filter(({ type, id }) => id !== undefined && !['start', 'step', 'left'].includes(type))
  return new Map(ends.map((event) => [event.id ?? '', event]))
}
