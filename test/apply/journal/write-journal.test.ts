import { spawnSync } from 'node:child_process'
import fs, {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { readJournal } from '../../../src/core/apply/journal/read-journal.ts'
import {
  JOURNAL_FILE,
  type JournalEntry,
  KEPT_FILES,
  openJournal,
} from '../../../src/core/apply/journal/write-journal.ts'
import { giveAway, noOthersFiles, TRICKS } from '../../helpers/others-files.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const BEGIN: JournalEntry = {
  type: 'begin',
  node: 'n',
  rootDir: '/r',
  plan: 'p',
  plannedAt: '2026-11-21T12:00:00Z',
  volctlVersion: '0.0.0-test',
  by: { pid: 1, uid: 0, user: 'root' },
}

let directory: string
beforeEach(() => {
  directory = `${temporaryDirectory()}/log`
})
const path = () => `${directory}/${JOURNAL_FILE}`

function write(): void {
  using journal = openJournal(directory)
  journal.write(BEGIN)
}

it('appends, for its owner alone', () => {
  write()
  write()
  expect(lstatSync(path()).mode & 0o777).toBe(0o600)
  const lines = readFileSync(path(), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([{ type: 'begin' }, { type: 'begin' }])
  expect(lines[0].run).not.toBe(lines[1].run)
})

it('closes a line that a crash cut off', () => {
  write()
  appendFileSync(path(), '{"type":"int')
  write()
  const lines = readFileSync(path(), 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  expect(JSON.parse(lines[2] ?? '')).toMatchObject({ type: 'begin' })
})

it('after a write that failed half-way it goes on in a new line', () => {
  using journal = openJournal(directory)
  const { writeSync } = fs
  fs.writeSync = ((fd: number, data: string | Uint8Array) => {
    writeSync(fd, Buffer.from(data).subarray(0, 9))
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
  }) as unknown as typeof writeSync
  syncBuiltinESMExports()
  try {
    expect(() => journal.write(BEGIN)).toThrow('cannot be written')
  } finally {
    fs.writeSync = writeSync
    syncBuiltinESMExports()
  }
  journal.write(BEGIN)
  const { applies, damaged } = readJournal(directory)
  expect([applies.length, damaged.length]).toEqual([1, 1])
})

it.each(['fsyncSync', 'readSync'] as const)('leaves nothing open where %s fails', (call) => {
  write()
  appendFileSync(path(), 'x')
  const real = fs[call]
  fs[call] = (() => {
    throw Object.assign(new Error('EIO'), { code: 'EIO' })
  }) as never
  syncBuiltinESMExports()
  try {
    expect(() => openJournal(directory)).toThrow('cannot be written')
  } finally {
    fs[call] = real as never
    syncBuiltinESMExports()
  }
  // Other tests may have descriptors in this process, which come and go.
  const open = spawnSync('ls', ['-l', `/proc/${process.pid}/fd`], { encoding: 'utf8' }).stdout
  expect(open).toContain('/dev/null')
  expect(open).not.toContain(directory)
})

it.for(TRICKS)('is not written where $name lies in its place, and nothing waits', (trick, context) => {
  const { make, says, skip } = trick
  context.skip(skip !== undefined, skip)
  mkdirSync(directory)
  const victim = `${directory}/victim`
  writeFileSync(victim, 'precious')
  make(path(), victim)
  expect(() => openJournal(directory)).toThrow(
    expect.objectContaining({
      code: 'JournalFailed',
      message: expect.stringMatching(new RegExp(`^the journal ${path()} cannot be written: it [^\\n]*${says}\\)?$`)),
    }),
  )
  expect(readFileSync(victim, 'utf8')).toBe('precious')
})

it.skipIf(noOthersFiles !== undefined).each([
  { name: 'its directory is of another user', how: 'owner', levels: 1 },
  { name: 'others may write to a directory above', how: 'mode', levels: 2 },
  { name: 'a directory above is of another user, and it is to be made', how: 'owner', levels: 3 },
] as const)('is not written where $name', ({ how, levels }) => {
  const given = levels === 1 ? directory : dirname(directory)
  if (levels < 3) mkdirSync(directory)
  giveAway(given, how)
  expect(() => openJournal(directory)).toThrow(
    expect.objectContaining({ code: 'JournalFailed', message: expect.stringContaining(`: ${given} `) }),
  )
  expect(existsSync(path())).toBe(false)
})

it('remembers nothing where others may write, wherever it is itself', () => {
  mkdirSync(directory)
  chmodSync(directory, 0o777)
  using journal = openJournal(`${directory}-own`, { lazyDirectory: directory })
  const lazy = { type: 'lazy', operation: 'o', bootID: 'b', path: '/p', dev: '0:1', fsType: 'nfs' } as const
  expect(() => journal.write(lazy)).toThrow(
    expect.objectContaining({ code: 'JournalFailed', hint: expect.stringContaining('chown root') }),
  )
})

it('with a second name, which somebody else may read, is not written to', () => {
  write()
  linkSync(path(), `${directory}/second`)
  expect(() => openJournal(directory)).toThrow(expect.objectContaining({ code: 'JournalFailed' }))
})

it('is for its owner alone again when somebody opened it up', () => {
  write()
  chmodSync(path(), 0o644)
  write()
  expect(lstatSync(path()).mode & 0o777).toBe(0o600)
  expect(lstatSync(directory).mode & 0o777).toBe(0o700)
})

it('is put aside when it is large, before an apply, and the oldest goes', () => {
  const runs: string[] = []
  for (let apply = 0; apply < KEPT_FILES + 3; apply++) {
    using journal = openJournal(directory, { rotateBytes: 1 })
    journal.write({ ...BEGIN, plan: `plan-${apply}` } as JournalEntry)
    runs.push(`plan-${apply}`)
  }
  expect(readdirSync(directory).toSorted()).toEqual(
    [JOURNAL_FILE, ...Array.from({ length: KEPT_FILES }, (_, n) => `${JOURNAL_FILE}.${n + 1}`)].toSorted(),
  )
  expect(readJournal(directory).applies.map(({ plan }) => plan)).toEqual(runs.slice(-KEPT_FILES - 1))
})
