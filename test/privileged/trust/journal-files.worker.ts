/** Where volctl writes down what it does, what it must remember, and that it is at work: in the hands of somebody else. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { NodeSnapshot } from '../../../src/core/model/snapshot.ts'
import { sha256Hex } from '../../../src/core/names/volume-names.ts'
import { kernelTextIfAny } from '../../../src/core/trust/kernel.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { readMounts } from '../workers/real-node.ts'
import { age, makeVolume, type TrustNode, withNode } from './node.ts'
import { foreignDirectory, foreignFile, givenAway, STRANGER } from './strangers.ts'
import { changes, picture } from './untouched.ts'
import { codeOf, oneLine, type WatchedRun } from './watched-run.ts'

export interface Tried {
  readonly status: number | undefined
  readonly ended: WatchedRun['ended']
  readonly said: string
  readonly code: string | undefined
  readonly changed: readonly string[]
  /** The volume, which an apply would have taken away. */
  readonly kept: boolean
  /** Does any of its words name what could not be believed. */
  readonly named: boolean
  /** Are there file systems that it takes for detached lazily. */
  readonly believed: boolean
}

const DEADLINE_MS = 20_000
const VICTIM = 'what somebody has here\n'

/** @returns everything that must stay as it is */
type Trick = (path: string, elsewhere: string) => readonly string[]

/** Of a directory that volctl would make, or has made. */
const DIRECTORIES: Readonly<Record<string, Trick>> = {
  "another user's": (path) => [foreignDirectory(path)],
  'for a group to write': (path) => {
    mkdirSync(path, { recursive: true })
    chownSync(path, 0, STRANGER)
    chmodSync(path, 0o770)
    return [path]
  },
  'for all to write': (path) => {
    mkdirSync(path, { recursive: true })
    chmodSync(path, 0o777)
    return [path]
  },
  "another user's link": (path, elsewhere) => {
    symlinkSync(elsewhere, path)
    givenAway(path)
    return [elsewhere]
  },
  'a FIFO': (path) => {
    sh('mkfifo', path)
    return [path]
  },
}

/** Of a file in it. */
const FILES: Readonly<Record<string, Trick>> = {
  "another user's file": (path) => [foreignFile(path, '')],
  'a FIFO': (path) => {
    sh('mkfifo', path)
    return [path]
  },
  "another user's FIFO": (path) => {
    sh('mkfifo', '-m', '666', path)
    return [givenAway(path)]
  },
  "a hard link to another user's file": (path, elsewhere) => {
    linkSync(foreignFile(`${elsewhere}/victim`, VICTIM), path)
    return [`${elsewhere}/victim`]
  },
  "a hard link to root's file": (path, elsewhere) => {
    writeFileSync(`${elsewhere}/victim`, VICTIM)
    linkSync(`${elsewhere}/victim`, path)
    return [`${elsewhere}/victim`]
  },
  "another user's link": (path, elsewhere) => {
    writeFileSync(`${elsewhere}/victim`, VICTIM)
    symlinkSync(`${elsewhere}/victim`, path)
    givenAway(path)
    return [`${elsewhere}/victim`]
  },
  'a device': (path) => {
    sh('mknod', path, 'c', '1', '5')
    return [path]
  },
}

/** Plays each trick on a path of its own, and runs volctl then. */
async function tryAll(
  node: TrustNode,
  tricks: Readonly<Record<string, Trick>>,
  path: string,
  run: (path: string) => Promise<WatchedRun>,
  first: (path: string) => void = () => {},
): Promise<Record<string, Tried>> {
  const found: Record<string, Tried> = {}
  for (const [name, play] of Object.entries(tricks)) {
    const volume = makeVolume(node.root, 1)
    const elsewhere = besides(path, node)
    mkdirSync(elsewhere)
    const parent = path.slice(0, path.lastIndexOf('/'))
    mkdirSync(parent, { recursive: true, mode: 0o700 })
    const watched = play(path, elsewhere)
    first(path)
    const before = watched.map(picture).join('')
    const result = await run(path)
    const after = watched.map(picture).join('')
    const kept = readMounts().at(volume).length > 0
    if (kept) sh('umount', volume)
    for (const each of [parent === '/var/lib' || parent === '/run' ? path : parent, elsewhere])
      rmSync(each, { recursive: true, force: true })
    const words = `${result.stdout}${result.stderr}`
    found[name] = {
      status: result.status,
      ended: result.ended,
      said: oneLine(result),
      code: codeOf(result),
      changed: changes(before, after),
      kept,
      named: words.includes(path) || words.includes(parent === '/var/lib/volctl' ? parent : path),
      believed: words.includes(FORGED),
    }
  }
  return found
}

/** In the same file system: a hard link leads nowhere else. */
function besides(path: string, { directory }: TrustNode): string {
  return `${['/var/lib', '/run'].find((each) => path.startsWith(`${each}/`)) ?? directory}/elsewhere`
}

const FORGED = '/where/a/forger/says'

/** What an apply would remember of a file system that it detached lazily: that of the volume, which is alive. */
function record(node: TrustNode): string {
  const bootID = kernelTextIfAny('/proc/sys/kernel/random/boot_id')
  const [mount] = readMounts().at(node.volume)
  return `${JSON.stringify({ bootID, path: FORGED, dev: mount?.dev, fsType: 'tmpfs', volume: 'v' })}\n`
}

function applyWith(node: TrustNode, ...flags: readonly string[]): Promise<WatchedRun> {
  const given = ['--kubeconfig', node.api.kubeconfig('admin')]
  return node.volctl(['apply', '--yes', '-o', 'json', ...given, ...flags], { deadlineMs: DEADLINE_MS })
}

function snapshotOf(node: TrustNode): Promise<WatchedRun> {
  return node.volctl(['snapshot', '--kubeconfig', node.api.kubeconfig('admin')], { deadlineMs: DEADLINE_MS })
}

function planOf(node: TrustNode): Promise<WatchedRun> {
  const given = ['--kubeconfig', node.api.kubeconfig('admin')]
  return node.volctl(['plan', '-o', 'json', ...given], { deadlineMs: DEADLINE_MS })
}

const JOURNAL = '/var/lib/volctl'
const LAZY = `${JOURNAL}/lazy.jsonl`

await runScenario({
  journal: (directory) =>
    withNode(directory, {}, async (node) => {
      const own = `${directory}/journals`
      const given = (path: string) => applyWith(node, '--journal', path)
      const inside = (path: string) => applyWith(node, '--journal', path.slice(0, path.lastIndexOf('/')))
      return {
        'the directory': await tryAll(node, DIRECTORIES, JOURNAL, () => applyWith(node)),
        'the directory that is given': await tryAll(node, DIRECTORIES, `${own}/journal`, given),
        'the file': await tryAll(node, FILES, `${JOURNAL}/journal.jsonl`, () => applyWith(node)),
        'the file in a directory that is given': await tryAll(node, FILES, `${own}/journal.jsonl`, inside),
      }
    }),

  /** What every plan reads. */
  memory: (directory) =>
    withNode(directory, {}, async (node) => {
      const forge = (path: string): void => {
        const stat = statSync(path, { throwIfNoEntry: false })
        if (stat?.isDirectory()) writeFileSync(`${path}/lazy.jsonl`, record(node))
        else if (stat?.isFile()) writeFileSync(path, record(node))
      }
      mkdirSync(JOURNAL, { mode: 0o700 })
      writeFileSync(LAZY, record(node), { mode: 0o600 })
      const { lazilyDetached } = JSON.parse((await snapshotOf(node)).stdout) as NodeSnapshot
      rmSync(JOURNAL, { recursive: true })
      return {
        control: lazilyDetached?.map(({ path }) => path),
        'the directory': await tryAll(node, DIRECTORIES, JOURNAL, () => planOf(node), forge),
        'the directory, for a snapshot': await tryAll(node, DIRECTORIES, JOURNAL, () => snapshotOf(node), forge),
        'the file': await tryAll(node, FILES, LAZY, () => planOf(node), forge),
        'the file, for a snapshot': await tryAll(node, FILES, LAZY, () => snapshotOf(node), forge),
      }
    }),

  /** A mount that is dead is detached lazily, which is remembered, or not done. */
  rememberingDead: (directory) =>
    withNode(directory, {}, async (node) => {
      const found: Record<string, unknown> = {}
      const tricks: Readonly<Record<string, Trick>> = { control: () => [], ...FILES }
      for (const [name, play] of Object.entries(tricks)) {
        const volume = deadVolume(node.root)
        const elsewhere = besides(LAZY, node)
        mkdirSync(elsewhere)
        mkdirSync(JOURNAL, { mode: 0o700 })
        const watched = play(LAZY, elsewhere)
        const before = watched.map(picture).join('')
        const run = await applyWith(node, '--lazy', volume)
        const changed = changes(before, watched.map(picture).join(''))
        const remembered = name === 'control' && existsSync(LAZY) && readFileSync(LAZY, 'utf8').includes(volume)
        if (readMounts().at(volume).length > 0) sh('umount', '-l', volume)
        for (const each of [JOURNAL, elsewhere]) rmSync(each, { recursive: true, force: true })
        found[name] = { ended: run.ended, changed, ...(name === 'control' && { status: run.status, remembered }) }
      }
      return found
    }),

  lock: (directory) =>
    withNode(directory, {}, async (node) => {
      const { dev, ino } = statSync(node.root)
      const lock = `/run/volctl/${sha256Hex(`${dev}:${ino}`).slice(0, 16)}.lock`
      return {
        'the directory': await tryAll(node, DIRECTORIES, '/run/volctl', () => applyWith(node)),
        'the file': await tryAll(node, FILES, lock, () => applyWith(node)),
      }
    }),
})

/** A FUSE mount whose daemon is gone. */
function deadVolume(root: string): string {
  const volume = `${root}/pods/00000000-0000-4000-8000-000000000003/volumes/kubernetes.io~nfs/v`
  mkdirSync(volume, { recursive: true })
  age(`${root}/pods`)
  const fd = openSync('/dev/fuse', 'r+')
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
  const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'test', volume], {
    stdio: ['ignore', 'pipe', 'pipe', fd],
    encoding: 'utf8',
  })
  closeSync(fd)
  if (status !== 0) throw new Error(`mount -t fuse: ${stderr}`)
  return volume
}
