/**
 * File systems that are full or read-only for real, below the kubelet's root and below the journal: what fails says why and leaves
 * nothing, and the next apply does the rest.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { VolctlError } from '../../../src/core/base/errors.ts'
import { readJournal } from '../../../src/core/plan/documents/read-journal.ts'
import { JOURNAL_FILE, openJournal } from '../../../src/core/plan/documents/write-journal.ts'
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { remountTmpfs, sh } from '../../helpers/scenario.ts'
import { hashOfTree } from '../../helpers/scene/content-hashes.ts'
import { describeUnless } from '../describe-unless.ts'
import { startMirror } from '../fuse/start.ts'
import { noFuse } from './no-fuse.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const PAGE = 4096

/** A file system of its own with this many pages. */
function smallDisk(path: string, pages: number): string {
  mkdirSync(path, { recursive: true })
  sh('mount', '-t', 'tmpfs', '-o', `size=${pages * PAGE}`, 'small', path)
  return path
}

/** Takes every page that is left; the inodes are for others. */
function fill(disk: string): () => void {
  const filler = `${disk}/filler`
  writeFileSync(filler, '')
  try {
    for (;;) writeFileSync(filler, Buffer.alloc(PAGE), { flag: 'a' })
  } catch {
    return () => rmSync(filler)
  }
}

function readOnly(disk: string): () => void {
  remountTmpfs(disk, 'ro')
  return () => remountTmpfs(disk, 'rw')
}

/** A pod lives with content of its own; another one is to come. */
async function nodeOn(directory: string, spoil: Partial<LiveNode['context']> = {}): Promise<LiveNode> {
  const node = new LiveNode(directory)
  node.context = { parallel: 1, ...spoil }
  node.configMaps.push({ metadata: { name: 'cm', namespace: 'default', uid: 'cm' }, data: { a: 'x'.repeat(3 * PAGE) } })
  node.addSecret('s', { password: 'open sesame' })
  node.cluster = { requestToken: async () => ({ token: 'token', expirationTimestamp: '' }) }
  node.pod(OTHER, 'b', VOLUMES, { spec: { serviceAccountName: 'default' } })
  await node.apply()
  writeFileSync(`${volumesOf(node, OTHER)}/kubernetes.io~empty-dir/scratch/file`, 'precious')
  node.running(OTHER)
  return node
}

const VOLUMES = [
  { name: 'scratch', emptyDir: {} },
  { name: 'conf', configMap: { name: 'cm' } },
  { name: 'pass', secret: { secretName: 's' } },
  { name: 'tok', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
]

function volumesOf({ root }: LiveNode, pod: string): string {
  return `${root}/pods/${pod}/volumes`
}

function wantPod(node: LiveNode): void {
  node.pod(POD, 'a', VOLUMES, { spec: { serviceAccountName: 'default' } })
}

/** `VOLUME STATE`, sorted, and whatever is not clear about a failure. */
function ends(events: readonly ApplyEvent[]): string[] {
  return events
    .filter(({ type }) => ['done', 'failed', 'refused'].includes(type))
    .map(({ volume = '-', type, code, message, hint }) => {
      const isClear = type === 'done' || (hint !== undefined && !message.includes('\n'))
      const why = /(is full|is read-only) \(\w+\)|journal/.exec(message)?.[0]
      return [volume, type, code, why, isClear ? '' : `UNCLEAR ${message}`].filter(Boolean).join(' ')
    })
    .sort()
}

/** Told when an apply begins, and all that it says; returns how to put things right once they are spoilt. */
type Spoil = (event?: ApplyEvent) => (() => void) | undefined

/** Applies while something is wrong, looks at what is left, puts it right and applies again. */
async function through(node: LiveNode, spoil: Spoil) {
  const neighbour = hashOfTree(volumesOf(node, OTHER))
  const there = existing(node)
  const events: ApplyEvent[] = []
  let repair = spoil()
  let thrown: VolctlError | undefined
  try {
    await node.apply({ orphans: true }, (event) => {
      events.push(event)
      repair ??= spoil(event)
    })
  } catch (error) {
    if (!(error instanceof VolctlError)) throw error
    thrown = error
  }
  const failed = events.flatMap(({ type, volume }) => (type === 'failed' || type === 'refused' ? (volume ?? []) : []))
  const left = existing(node).filter(
    (path) =>
      !there.includes(path) && failed.some((name) => path.includes(`/${name}`) || path.includes(`wrapped_${name}`)),
  )
  repair?.()
  const again = await node.apply({ orphans: true })
  return {
    ends: ends(events),
    ...(thrown !== undefined && { thrown: [thrown.code, thrown.hint !== undefined] }),
    left,
    again: [...new Set(Object.values(statesOf(again)))],
    after: again.left?.length,
    neighbour: hashOfTree(volumesOf(node, OTHER)) === neighbour,
  }
}

/** Files, directories and mounts of the pod that comes and goes. */
function existing(node: LiveNode): string[] {
  const { root } = node
  const files = readdirSync(`${root}/pods`, { recursive: true, encoding: 'utf8' })
  const mounted = node
    .mounts()
    .under(`${root}/pods`)
    .map(({ mountPoint }) => `mount ${mountPoint}`)
  return [...files, ...mounted].filter((path) => path.includes(POD))
}

type Seen = Awaited<ReturnType<typeof bothWays>>

/** Up while it is spoilt, then down while it is. */
async function bothWays(node: LiveNode, spoil: Spoil) {
  wantPod(node)
  const up = await through(node, spoil)
  node.forget(POD)
  const down = await through(node, spoil)
  return { up, down: { ...down, left: existing(node).length } }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Lines that nobody can read, and operations whose end nobody knows. */
function journalTells(journal: string): { damaged: number; unfinished: number } {
  const { applies, damaged } = readJournal(journal)
  const operations = applies.flatMap((each) => each.operations)
  return { damaged: damaged.length, unfinished: operations.filter(({ state }) => state === 'unfinished').length }
}

const atOnce =
  (spoil: () => () => void): Spoil =>
  (event) =>
    event === undefined ? spoil() : undefined
/** After the first operation. */
const inMidRun =
  (spoil: () => () => void): Spoil =>
  (event) =>
    event?.type === 'done' ? spoil() : undefined

/** The kubelet's root on such a disk. */
const root = (when: (spoil: () => () => void) => Spoil, spoil: (disk: string) => () => void) => {
  return async (directory: string) => {
    const disk = smallDisk(`${directory}/kubelet`, 64)
    return bothWays(
      await nodeOn(directory),
      when(() => spoil(disk)),
    )
  }
}

/** The journal on such a disk, without a file that has room in its last page. */
const journal = (when: (spoil: () => () => void) => Spoil, spoil: (disk: string) => () => void) => {
  return async (directory: string) => {
    const disk = smallDisk(`${directory}/journal`, 8)
    const spoilNew = (): (() => void) => {
      if (when === atOnce) rmSync(`${disk}/${JOURNAL_FILE}`)
      return spoil(disk)
    }
    const result = await bothWays(await nodeOn(directory, { journalDir: disk }), when(spoilNew))
    return { ...result, ...journalTells(disk) }
  }
}

/** A journal whose disk begins to fail in mid-run, as an ext4 does that the kernel makes read-only. */
async function failingJournal(directory: string) {
  const mirror = await startMirror(`${directory}/journal`, `${directory}/behind`)
  const node = await nodeOn(directory, { journalDir: `${directory}/journal` })
  const result = await bothWays(
    node,
    inMidRun(() => {
      mirror.fail({ errno: 'EIO', ops: ['WRITE', 'FSYNC'] })
      return () => mirror.fail()
    }),
  )
  return { ...result, ...journalTells(`${directory}/journal`) }
}

const ALL = ['conf', 'pass', 'scratch', 'tok']
const each = (what: string): string[] => ALL.map((volume) => `${volume} ${what}`)
const READ_ONLY = 'failed WriteFailed is read-only (EROFS)'
const REFUSED = 'refused JournalFailed journal'
const first = (state: string): string[] => each(state).map((end) => (end.startsWith('scratch') ? 'scratch done' : end))
const STOPPED = { ends: [], thrown: ['JournalFailed', true] }

describeUnless(noFuse, 'a disk that is full or read-only', () => {
  it.for<{ name: string; run: (directory: string) => Promise<Seen>; up: object; down: object; told?: object }>([
    {
      name: 'a full root',
      run: root(atOnce, fill),
      up: { ends: ['conf failed WriteFailed is full (ENOSPC)', 'pass done', 'scratch done', 'tok done'] },
      down: { ends: ['- done', ...each('done')] },
    },
    {
      name: 'a root that becomes read-only',
      run: root(inMidRun, readOnly),
      up: { ends: first(READ_ONLY) },
      down: { ends: first(READ_ONLY) },
    },
    // Apply stops before its first operation.
    {
      name: 'a journal on a full disk',
      run: journal(atOnce, fill),
      up: STOPPED,
      down: STOPPED,
      told: { damaged: 0, unfinished: 0 },
    },
    // Which ones have their intents on the disk by then depends on how long these are.
    {
      name: 'a journal whose disk becomes full',
      run: journal(inMidRun, fill),
      up: { ends: first(REFUSED) },
      down: { ends: expect.arrayContaining([expect.stringContaining('JournalFailed')]) },
    },
    {
      name: 'a journal whose disk fails',
      run: failingJournal,
      up: { ends: first(REFUSED) },
      down: {},
    },
  ])('$name: what fails says why and leaves nothing, and the next apply does the rest', async (row, { directory }) => {
    const seen = await row.run(directory)
    const well = { after: 0, neighbour: true }
    expect(seen.up).toMatchObject({ ...row.up, left: [], again: ['done'], ...well })
    expect(seen.down).toMatchObject({ ...row.down, left: 0, ...well })
    expect(seen.down.again.filter((state) => state !== 'done')).toEqual([])
    if (row.told !== undefined) expect(seen).toMatchObject(row.told)
  })

  it('a journal that was cut off in the middle of a line by a full disk goes on with a line of its own', ({
    directory,
  }) => {
    const disk = smallDisk(`${directory}/journal`, 4)
    const long = { type: 'stateFile', operation: 'o', path: '/p', content: 'x'.repeat(3 * PAGE) } as const
    using journal = openJournal(disk)
    journal.write({ type: 'end', exit: 0, interrupted: false })
    const free = fill(disk)
    for (let count = 0; count < 2; count++)
      expect(() => journal.write(long)).toThrow(expect.objectContaining({ code: 'JournalFailed' }))
    free()
    journal.write({ type: 'end', exit: 1, interrupted: false })
    const lines = readFileSync(`${disk}/${JOURNAL_FILE}`, 'utf8').split('\n')
    expect(lines.flatMap((line) => (isJson(line) ? [JSON.parse(line).exit] : []))).toEqual([0, 1])
  })
})
