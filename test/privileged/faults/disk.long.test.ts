/**
 * Disks that are full, read-only or broken: below the kubelet's root, below the journal, and where volctl writes files. What
 * fails says so in one line with a next step, what was half-made is gone or named, and once the disk is well again the next
 * apply comes to the end that it would have come to.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noMounts } from '../../helpers/namespace.ts'
import { noFuse } from './no-fuse.ts'

const DISK = new URL('./disk.worker.ts', import.meta.url)
const FULL = new URL('./full.worker.ts', import.meta.url)

/** By hand each kind of failure strikes every change; else they take turns. */
const KINDS = ['EROFS', 'ENOSPC', 'EIO']
const turns = process.env.VOLCTL_FAULTS === 'all' ? KINDS.map((kind) => [kind]) : [KINDS]

/** Every way in which a change reaches a disk. */
const CHANGES = ['CREATE', 'FSYNC', 'FSYNCDIR', 'MKDIR', 'RENAME', 'RMDIR', 'SETATTR', 'SYMLINK', 'UNLINK', 'WRITE']

interface Found {
  /** In words. */
  readonly problems: readonly string[]
  readonly violations: readonly unknown[]
}

describe.skipIf(noFuse !== undefined)(
  `a disk that fails what it is told to${noFuse === undefined ? '' : ` (${noFuse})`}`,
  () => {
    it.each(turns)(
      'fails one change after another of a pod that comes and goes (%s, %s, %s)',
      async (...kinds: readonly string[]) => {
        const found = await inNamespace<Found & { rounds: number; struck: string[] }>(DISK, 'everywhere', kinds)
        expect([...found.problems, ...found.violations]).toEqual([])
        expect(found.rounds).toBeGreaterThan(7)
        if (kinds.length > 1) expect(found.struck).toEqual(CHANGES)
      },
    )

    it('shows nothing of one directory or file: nobody takes it for absent, and what lives is left alone (S3)', async () => {
      const found = await inNamespace<Found & { paths: number }>(DISK, 'unreadable')
      expect([...found.problems, ...found.violations]).toEqual([])
      expect(found.paths).toBeGreaterThan(50)
    })
  },
)

/** What becomes of an apply that meets the disk, and of the next one, which does not. */
interface Seen {
  readonly ends: readonly string[]
  readonly thrown?: readonly [string, boolean]
  readonly left: unknown
  readonly again: readonly string[]
  readonly after: number
  readonly neighbour: boolean
}

const ALL = ['conf', 'pass', 'scratch', 'tok']
const each = (what: string): string[] => ALL.map((volume) => `${volume} ${what}`)
const FULL_DISK = 'failed WriteFailed is full (ENOSPC)'
const NOT_WRITTEN = 'failed WriteFailed is read-only (EROFS)'
const NOT_REMOVED = 'failed WriteFailed is read-only (EROFS)'
const REFUSED = 'refused JournalFailed journal'
const first = (state: string): string[] => each(state).map((end) => (end.startsWith('scratch') ? 'scratch done' : end))

describe.skipIf(noFuse !== undefined)(
  `a disk that is full or read-only${noFuse === undefined ? '' : ` (${noFuse})`}`,
  () => {
    let report: Readonly<Record<string, { readonly up: Seen; readonly down: Seen; readonly damaged?: number }>>
    beforeAll(async () => {
      report = await inNamespace(FULL, 'everyCase')
    })

    it.each<{ name: string; up: readonly string[]; down: readonly string[] | undefined }>([
      {
        name: 'a full root',
        up: [`conf ${FULL_DISK}`, 'pass done', 'scratch done', 'tok done'],
        down: ['- done', ...each('done')],
      },
      { name: 'a root without inodes', up: each(FULL_DISK), down: ['- done', ...each('done')] },
      { name: 'a read-only root', up: each(NOT_WRITTEN), down: each(NOT_REMOVED) },
      { name: 'a root that becomes read-only', up: first(NOT_WRITTEN), down: first(NOT_REMOVED) },
      { name: 'a journal on a full disk', up: [], down: [] },
      { name: 'a journal on a read-only disk', up: [], down: [] },
      // Which ones have their intents on the disk by then depends on how long these are.
      { name: 'a journal whose disk becomes full', up: first(REFUSED), down: undefined },
      { name: 'a journal whose disk becomes read-only', up: first(REFUSED), down: undefined },
      { name: 'a journal whose disk fails', up: first(REFUSED), down: undefined },
    ])('$name: what fails says why and leaves nothing, and the next apply does the rest', ({ name, up, down }) => {
      const seen = report[name]
      const well = { after: 0, neighbour: true }
      expect(seen?.up).toMatchObject({ ends: up, left: [], again: ['done'], ...well })
      expect(seen?.down).toMatchObject({ ...(down === undefined ? {} : { ends: down }), left: 0, ...well })
      expect(seen?.down.again.filter((state) => state !== 'done')).toEqual([])
    })

    it.each(['a journal on a full disk', 'a journal on a read-only disk'])(
      '%s stops apply before its first operation',
      (name) => {
        const stopped = { ends: [], thrown: ['JournalFailed', true] }
        expect(report[name]).toMatchObject({ up: stopped, down: stopped, damaged: 0, unfinished: 0 })
      },
    )

    it.each(['full', 'read-only'])('a journal whose disk becomes %s stops apply where it is', (what) => {
      const { ends = [] } = report[`a journal whose disk becomes ${what}`]?.down ?? {}
      expect(ends.filter((end) => end.includes('JournalFailed')).length).toBeGreaterThan(0)
    })
  },
)

describe.skipIf(noMounts !== undefined)(
  `files on a small disk${noMounts === undefined ? '' : ` (${noMounts})`}`,
  () => {
    it('a journal that was cut off in the middle of a line by a full disk goes on with a line of its own', async () => {
      expect(await inNamespace(FULL, 'torn')).toEqual({ thrown: ['JournalFailed', 'JournalFailed'], whole: [0, 1] })
    })

    it('of a plan, a snapshot or a lock that finds no room nothing is left, and a line says why', async () => {
      const told = (plan: string, why: string) => ({
        found: [
          ['plan', 'NotWritten', `plan file DISK/node.plan: ${plan}`, true],
          ['snapshot', 'NotWritten', `snapshot DISK/node.json: ${why}`, true],
          ['lock', 'Locked', `the lock file DISK/lock could not be created: ${why}`, true],
        ],
        left: [],
      })
      expect(await inNamespace(FULL, 'files')).toEqual({
        full: told('no space is left on the disk', 'its file system is full (ENOSPC)'),
        readOnly: told('the file system is read-only', 'its file system is read-only (EROFS)'),
      })
    })
  },
)
