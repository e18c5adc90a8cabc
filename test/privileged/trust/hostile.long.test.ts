/**
 * S34: whole runs beside processes of another user that have too much of something, each up to what the kernel lets a user have:
 * they end in time and in bounds, Ctrl-C is answered within a second, and what could not be read is in use and named (S3).
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { expect, onTestFailed } from 'vitest'
import type { ApplyResult } from '../../../src/core/plan/events.ts'
import { forOthers } from '../../helpers/for-others.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
import { hold } from '../holder.ts'
import { podUid } from '../workers/real-node.ts'
import { age, makeVolume, startNode, type TrustNode } from './node.ts'
import { STRANGER } from './strangers.ts'
import { LIMIT_MIB, type WatchedRun } from './watched-run.ts'

const ANSWER_MS = 10_000

const READY = `process.stdout.write('ready'); setInterval(() => {}, 2 ** 30)`

/** Fewer than vm.max_map_count, with those that Node.js has itself. */
const MAPPINGS = `
const { functions } = require('node:ffi').dlopen(null, {
  open: { arguments: ['string', 'i32'], return: 'i32' },
  mmap: { arguments: ['u64', 'u64', 'i32', 'i32', 'i32', 'i64'], return: 'u64' },
})
const fd = functions.open(process.execPath, 0)
for (let left = 60_000; left > 0; left--) functions.mmap(0n, 4096n, 1, 1, fd, 0n)
${READY}`

/** The pool's threads are there from its first work on. */
const DESCRIPTORS = `
const { openSync, readFile } = require('node:fs')
for (let left = 19_000; left > 0; left--) openSync('/dev/null', 'r')
readFile('/dev/null', () => { ${READY} })`

const STACK = `
const { functions } = require('node:ffi').dlopen(null, {
  mount: { arguments: ['string', 'string', 'string', 'u64', 'string'], return: 'i32' },
})
for (let left = 20_000; left > 0; left--) functions.mount('/mnt', '/mnt', 'none', 4096n, '')
${READY}`

const OWN_NAMESPACES = ['unshare', '-U', '-r', '-m']
const NODE = 'node'
const program = (code: string): readonly string[] => [NODE, '--no-warnings', '--experimental-ffi', '-e', code]

/** By what there is too much of: the commands that make it. */
const HOSTILE = {
  nothing: [],
  'mappings of three processes': Array.from({ length: 3 }, () => program(MAPPINGS)),
  'descriptors and threads': [['env', 'UV_THREADPOOL_SIZE=600', ...program(DESCRIPTORS)]],
  'mounts on one path': [[...OWN_NAMESPACES, ...program(STACK)]],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>

type Hostile = keyof typeof HOSTILE

async function besideHostile<T>(hostile: Hostile, work: () => Promise<T>): Promise<T> {
  using others = forOthers()
  await using held = new AsyncDisposableStack()
  const as = ['--reuid', `${STRANGER}`, '--regid', `${STRANGER}`, '--clear-groups']
  for (const command of HOSTILE[hostile]) {
    const words = command.map((word) => (word === NODE ? others.node : word))
    const options = { cwd: '/', detached: true }
    held.use(await hold(['prlimit', '--nofile=20000:20000', 'setpriv', ...as, ...words], options))
  }
  return await work()
}

/** Data of a pod that is gone, and a volume in memory. @returns a file of it */
function makeOrphan(root: string): string {
  const data = `${root}/pods/${podUid(2)}/volumes/kubernetes.io~empty-dir/data`
  mkdirSync(data, { recursive: true })
  writeFileSync(`${data}/file`, 'x')
  makeVolume(root, 1)
  age(`${root}/pods`)
  return `${data}/file`
}

/** What was to come after these is left as well. */
const LEFT: ReadonlySet<string> = new Set(['blocked', 'refused', 'failed'])

/** While it reads, while it looks for users, and later. */
const MOMENTS_MS = [400, 1000, 2000]

/** status and check look as plan does. */
const INTERRUPTED: ReadonlySet<string> = new Set(['plan', 'apply'])

interface Report {
  readonly runs: Readonly<Record<string, WatchedRun>>
  /** By command and when: how long it took until a Ctrl-C was answered, in milliseconds. */
  readonly interrupted: Readonly<Record<string, number | undefined>>
  /** Whether the apply has left the data of the pod that is gone. */
  readonly kept: boolean
  /** Does the apply say that it has deleted it? */
  readonly deleted: boolean
  /** Of what the apply did not do: code and message. */
  readonly left: readonly string[]
}

async function runsBeside(node: TrustNode): Promise<Report> {
  const given = ['-o', 'json', '--kubeconfig', node.api.kubeconfig('admin')]
  const commands: Readonly<Record<string, readonly string[]>> = {
    plan: ['plan', '--orphans', ...given],
    status: ['status', ...given],
    check: ['check', '--confirm', '0', ...given],
    apply: ['apply', '--yes', '--orphans', ...given],
  }
  const runs: Record<string, WatchedRun> = {}
  const interrupted: Record<string, number | undefined> = {}
  let file = ''
  for (const [name, args] of Object.entries(commands)) {
    for (const interruptAtMs of INTERRUPTED.has(name) ? MOMENTS_MS : []) {
      file = makeOrphan(node.root)
      interrupted[`${name}, ${interruptAtMs} ms`] = (await node.volctl(args, { interruptAtMs })).answeredMs
    }
    file = makeOrphan(node.root)
    runs[name] = await node.volctl(args)
  }
  const { outcomes } = JSON.parse(runs.apply?.stdout ?? '') as ApplyResult
  const left = outcomes.flatMap(({ state, code, message }) => (LEFT.has(state) ? [`${code}: ${message}`] : []))
  const deleted = outcomes.some((each) => (each.deleted?.files ?? 0) > 0)
  return { runs, interrupted, kept: existsSync(file), deleted, left }
}

async function beside(directory: string, hostile: Hostile): Promise<Report> {
  await using node = await startNode(directory)
  const report = await besideHostile(hostile, () => runsBeside(node))
  onTestFailed(() => console.error(JSON.stringify(report, undefined, 1)))
  expect(Object.entries(report.interrupted).filter(([, ms = 0]) => ms > ANSWER_MS)).toEqual([])
  for (const [command, { ended, peakMiB }] of Object.entries(report.runs)) {
    expect(ended, command).toBe('itself')
    expect(peakMiB, command).toBeLessThan(LIMIT_MIB)
  }
  return report
}

describeUnless(noRoot, 'beside processes of another user', () => {
  it('control: beside none all of it goes', async ({ directory }) => {
    const { kept, left, runs } = await beside(directory, 'nothing')
    expect({ kept, left, status: runs.apply?.status }).toEqual({ kept: false, left: [], status: 0 })
  })

  it.for<{ hostile: Hostile; codes: readonly string[] }>([
    { hostile: 'mappings of three processes', codes: ['UsersUnknown'] },
    { hostile: 'descriptors and threads', codes: ['UsersUnknown'] },
    // They have copies of what is mounted.
    { hostile: 'mounts on one path', codes: ['HeldBy', 'UsersUnknown'] },
  ])('S3, S34: $hostile: what is not done names one of them', async ({ hostile, codes }, { directory }) => {
    const { left, kept, deleted } = await beside(directory, hostile)
    // Either it was seen that nobody uses the data, or it is still there.
    expect(kept).toBe(!deleted)
    if (kept) expect(left).not.toEqual([])
    for (const each of left) expect(each).toMatch(new RegExp(`^(?:${codes.join('|')}): .*\\(pid \\d+\\)`, 's'))
  })
})
