/** S33: the journal, what it remembers and the lock are root's own, or nothing is done, and nobody waits. */
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { noFuse } from '../faults/no-fuse.ts'
import type { Tried } from './journal-files.worker.ts'

const WORKER = new URL('./journal-files.worker.ts', import.meta.url)

type Report = Readonly<Record<string, Readonly<Record<string, Tried>>>>

const DIRECTORIES = ["another user's", 'for a group to write', 'for all to write', "another user's link"]
const FIFO = 'a FIFO'
const FILES = [
  "another user's file",
  FIFO,
  "another user's FIFO",
  "a hard link to another user's file",
  "another user's link",
  'a device',
]
const OWN_HARD_LINK = "a hard link to root's file"

const rows = (where: readonly string[], tricks: readonly string[]) =>
  where.flatMap((each) => tricks.map((trick) => ({ where: each, trick })))

const REFUSED = { status: 1, ended: 'itself', said: 'one line', changed: [], kept: true }

describe.skipIf(noRoot !== undefined)(`the journal${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  let journal: Report
  let memory: Report
  let lock: Report
  beforeAll(async () => {
    journal = await inNamespace<Report>(WORKER, 'journal')
    memory = await inNamespace<Report>(WORKER, 'memory')
    lock = await inNamespace<Report>(WORKER, 'lock')
  })

  it.each([
    ...rows(['the directory', 'the directory that is given'], [...DIRECTORIES, FIFO]),
    ...rows(['the file', 'the file in a directory that is given'], [...FILES, OWN_HARD_LINK]),
  ])('S33: apply does nothing where $where is $trick', ({ where, trick }) => {
    expect(journal[where]?.[trick]).toMatchObject({ ...REFUSED, code: 'JournalFailed' })
  })

  it('control: what root wrote of a file system that was detached lazily is believed (S20)', () => {
    expect(memory.control).toEqual(['/where/a/forger/says'])
  })

  it.each([...rows(['the directory'], DIRECTORIES), ...rows(['the file'], FILES)])(
    'S33: a plan says that it does not believe what is remembered where $where is $trick',
    ({ where, trick }) => {
      const tried = memory[where]?.[trick]
      expect(tried).toMatchObject({ ended: 'itself', changed: [], named: true })
      expect([0, 1, 4]).toContain(tried?.status)
    },
  )

  it.each([...rows(['the directory, for a snapshot'], DIRECTORIES), ...rows(['the file, for a snapshot'], FILES)])(
    'S33: what is remembered is not believed: $where, $trick',
    ({ where, trick }) => {
      expect(memory[where]?.[trick]).toMatchObject({ ended: 'itself', changed: [], believed: false })
    },
  )

  it.each(rows(['the directory'], [...DIRECTORIES, FIFO]))(
    'S33: apply does nothing where $where of the lock is $trick',
    ({ where, trick }) => {
      const { changed: _, ...refused } = REFUSED
      expect(lock[where]?.[trick]).toMatchObject(refused)
    },
  )

  it.each(rows(['the file'], [...FILES, OWN_HARD_LINK]))(
    'S33: nobody waits for a lock that is $trick',
    ({ where, trick }) => {
      const tried = lock[where]?.[trick]
      expect(tried?.ended).toBe('itself')
      expect(tried?.changed.filter((line) => line.includes('/victim'))).toEqual([])
      // Taken over, or refused.
      const refused = { status: 1, kept: true, said: 'one line' }
      expect(tried).toMatchObject(tried?.status === 0 ? { kept: false } : refused)
    },
  )
})

describe.skipIf(noFuse !== undefined)(`what is detached lazily${noFuse === undefined ? '' : ` (${noFuse})`}`, () => {
  let found: Readonly<Record<string, object>>
  beforeAll(async () => {
    found = await inNamespace(WORKER, 'rememberingDead')
  })

  it('control: is remembered (S20)', () => {
    expect(found.control).toMatchObject({ ended: 'itself', remembered: true })
  })

  it.each([...FILES, OWN_HARD_LINK])('S33: is not written through %s', (trick) => {
    expect(found[trick]).toEqual({ ended: 'itself', changed: [] })
  })
})
