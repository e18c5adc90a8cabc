/** File systems that are full or read-only for real: the kubelet's root, the journal's, and that of files volctl writes. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { takeLock } from '../../../src/core/apply/lock.ts'
import { VolctlError } from '../../../src/core/errors/errors.ts'
import { readJournal } from '../../../src/core/journal/read-journal.ts'
import { JOURNAL_FILE, openJournal } from '../../../src/core/journal/write-journal.ts'
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import { writePlanFile } from '../../../src/core/plan-file/write-plan-file.ts'
import { writeSnapshot } from '../../../src/core/snapshot/write-snapshot.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import type { MirrorFault } from '../../helpers/mirror/faults.ts'
import { startMirror } from '../../helpers/mirror/start.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { remountTmpfs } from '../../helpers/remount.ts'
import { runScenario, sh, unmountBelow } from '../../helpers/scenario.ts'
import { hashOfTree } from '../../helpers/scene/content-hashes.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const PAGE = 4096

/** A file system of its own with this many pages and inodes. */
function smallDisk(path: string, pages: number, inodes = 0): string {
  mkdirSync(path, { recursive: true })
  sh('mount', '-t', 'tmpfs', '-o', `size=${pages * PAGE},nr_inodes=${inodes}`, 'small', path)
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

/** Takes every inode that is left; the pages are for others. */
function fillNames(disk: string): () => void {
  const names: string[] = []
  try {
    for (;;) {
      const name = `${disk}/filler-${names.length}`
      writeFileSync(name, '')
      names.push(name)
    }
  } catch {
    return () => {
      for (const name of names) rmSync(name)
    }
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
  node.pod(OTHER, 'b', VOLUMES, { serviceAccountName: 'default' })
  await node.apply()
  writeFileSync(`${volumesOf(node, OTHER)}/kubernetes.io~empty-dir/scratch/file`, 'precious')
  node.alive.push(OTHER)
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
  node.pod(POD, 'a', VOLUMES, { serviceAccountName: 'default' })
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
    ...(thrown === undefined ? {} : { thrown: [thrown.code, thrown.hint !== undefined] }),
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

/** Up while it is spoilt, then down while it is. */
async function bothWays(node: LiveNode, spoil: Spoil) {
  wantPod(node)
  const up = await through(node, spoil)
  node.forget(POD)
  const down = await through(node, spoil)
  return { up, down: { ...down, left: existing(node).length } }
}

const PLAN = { apiVersion: 'volctl.io/v1', kind: 'Plan', operations: ['x'.repeat(5 * PAGE)] }

const WRITERS: Readonly<Record<string, (disk: string) => void>> = {
  plan: (disk) => writePlanFile(PLAN as never, planOptions(), `${disk}/node.plan`),
  snapshot: (disk) => writeSnapshot(PLAN as never, `${disk}/node.json`),
  lock: (disk) => takeLock(`${disk}/lock`)[Symbol.dispose](),
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
    const disk = smallDisk(`${directory}/kubelet`, 64, 200)
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
const failingJournal = (...faults: readonly MirrorFault[]) => {
  return async (directory: string) => {
    const mirror = await startMirror(`${directory}/journal`, `${directory}/behind`)
    const node = await nodeOn(directory, { journalDir: `${directory}/journal` })
    const result = await bothWays(
      node,
      inMidRun(() => {
        mirror.fail(...faults)
        return () => mirror.fail()
      }),
    )
    return { ...result, ...journalTells(`${directory}/journal`) }
  }
}

const CASES: Readonly<Record<string, (directory: string) => Promise<unknown>>> = {
  'a full root': root(atOnce, fill),
  'a root without inodes': root(atOnce, fillNames),
  'a read-only root': root(atOnce, readOnly),
  'a root that becomes read-only': root(inMidRun, readOnly),
  'a journal on a full disk': journal(atOnce, fill),
  'a journal on a read-only disk': journal(atOnce, readOnly),
  'a journal whose disk becomes full': journal(inMidRun, fill),
  'a journal whose disk becomes read-only': failingJournal({ errno: 'EROFS', ops: ['WRITE'] }),
  'a journal whose disk fails': failingJournal({ errno: 'EIO', ops: ['WRITE', 'FSYNC'] }),
}

await runScenario({
  async everyCase(directory) {
    const found: Record<string, unknown> = {}
    for (const [index, [name, run]] of Object.entries(CASES).entries()) {
      const place = `${directory}/${index}`
      mkdirSync(place)
      found[name] = await run(place)
      unmountBelow(place)
    }
    return found
  },

  /** The disk is full in the middle of a line; the lines after it can be read. */
  torn(directory) {
    const disk = smallDisk(`${directory}/journal`, 4)
    const long = { type: 'stateFile', operation: 'o', path: '/p', content: 'x'.repeat(3 * PAGE) } as const
    using journal = openJournal(disk)
    journal.write({ type: 'end', exit: 0, interrupted: false })
    const free = fill(disk)
    const thrown: unknown[] = []
    for (let count = 0; count < 2; count++) {
      try {
        journal.write(long)
      } catch (error) {
        thrown.push((error as VolctlError).code)
      }
    }
    free()
    journal.write({ type: 'end', exit: 1, interrupted: false })
    const lines = readFileSync(`${disk}/${JOURNAL_FILE}`, 'utf8').split('\n')
    return { thrown, whole: lines.flatMap((line) => (isJson(line) ? [JSON.parse(line).exit] : [])) }
  },

  /** What volctl writes beside the kubelet's root: nothing of it is left, and a line says why. */
  files(directory) {
    const disk = smallDisk(`${directory}/disk`, 4)
    const said = (spoil: (disk: string) => () => void): unknown => {
      const repair = spoil(disk)
      const before = readdirSync(disk)
      const found = Object.entries(WRITERS).map(([name, write]) => {
        try {
          write(disk)
        } catch (error) {
          const { code, message, hint } = error as VolctlError
          return [name, code, message.replaceAll(disk, 'DISK'), hint !== undefined]
        }
        return [name]
      })
      const left = readdirSync(disk).filter((name) => !before.includes(name))
      repair()
      return { found, left }
    }
    return { full: said(fill), readOnly: said(readOnly) }
  },
})
