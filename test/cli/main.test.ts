/** `main` is a function: what it is given is its whole world, and nothing that a run does outlives it. */
import { EventEmitter } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BROKEN } from '../helpers/captures.ts'
import { type Result, volctl, type World } from '../helpers/run-main.ts'
import { until } from '../helpers/until.ts'
import { startWarmNode, type WarmNode } from '../helpers/warm-node.ts'

const STUCK = ['--snapshot', BROKEN]
let node: WarmNode

beforeAll(async () => {
  node = await startWarmNode(BROKEN)
})
afterAll(() => node[Symbol.asyncDispose]())

function listeners(): object {
  return [process, process.stdout, process.stderr].map((from) =>
    Object.fromEntries(from.eventNames().map((name) => [String(name), from.listenerCount(name)])),
  )
}

/** What a run could have set in its process. */
function settings(): object {
  const { exitCode, argv, argv0, env } = process
  const umask = /^Umask:.*$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[0]
  return { exitCode, argv: [...argv], argv0, env: { ...env }, umask, directory: process.cwd() }
}

/** What still runs, which may take a moment to end: children, timers and connections. */
function running(): string[] {
  const children = readdirSync('/proc/self/task').map((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim(),
  )
  return [...process.getActiveResourcesInfo(), ...children.filter((each) => each !== '')].toSorted()
}

interface Case {
  readonly args: readonly string[]
  readonly world?: () => World
  readonly says: RegExp
}

const cases: readonly Case[] = [
  { args: ['plan', ...STUCK], says: /18 operations/ },
  { args: ['plan', ...STUCK], world: () => ({ terminal: { columns: 60, rows: 500 } }), says: /18 operations/ },
  { args: ['plan', ...STUCK, '-o', 'json', '-v'], says: /"apiVersion": "volctl/ },
  { args: ['plan', '--help'], world: () => ({ name: 'kubectl-volctl' }), says: /\$ kubectl volctl plan/ },
  { args: ['plan', '--help'], says: /\$ volctl plan/ },
  { args: ['plan', '--nope'], says: /^volctl: unknown flag/ },
  { args: ['nope', '-o', 'json'], says: /"code":"Usage"/ },
  { args: ['plan'], world: () => ({ env: node.env }), says: /pg-node/ },
  { args: ['plan'], world: () => ({ env: { ...node.env, SUDO_UID: '1000' } }), says: /pg-node/ },
  { args: ['version'], says: /^volctl\/\d.* node-v/ },
  { args: ['apply', '--cluster', '--kubeconfig', '/nonexistent'], world: () => ({ terminal: {} }), says: /volctl/ },
]

it('each command line gives the same a second time, whatever was run in between, and leaves nothing behind', async () => {
  const run = ({ args, world }: Case): Promise<Result> => volctl(args, world?.())
  // None that volctl itself would set.
  const umask = process.umask(0o027)
  const set = settings()
  // oclif, the commands and Node.js' own parts are loaded once.
  for (const each of cases) await run(each)
  const [heard, atWork] = [listeners(), running()]
  const first: Result[] = []
  for (const each of cases) first.push(await run(each))
  const second: Result[] = []
  for (const each of cases.toReversed()) second.unshift(await run(each))
  const together = await Promise.all(cases.map(run))
  const timeless = ({ status, stdout, stderr }: Result): Result => ({
    status,
    stdout: stdout.replaceAll(/"createdAt":"[^"]*"|\d{4}-\d\d-\d\dT[\d:.]*Z/g, 'T'),
    stderr: stderr.replaceAll(/^\[[^\]]*\] /gm, ''),
  })
  for (const [index, { says }] of cases.entries()) {
    const [one, two, three] = [first[index], second[index], together[index]] as [Result, Result, Result]
    expect(`${one.stdout}${one.stderr}`.slice(0, 5000)).toMatch(says)
    expect(timeless(two)).toEqual(timeless(one))
    expect(timeless(three)).toEqual(timeless(one))
  }
  expect([settings(), listeners()]).toEqual([set, heard])
  process.umask(umask)
  expect(await until(() => running().length <= atWork.length), running().join()).toBe(true)
})

it('a signal reaches the run whose signals it came by, and nobody listens afterwards', async () => {
  const signals = new EventEmitter()
  const heard = process.listenerCount('SIGINT')
  const { status, stderr } = await volctl(['plan', '-w'], {
    env: node.env,
    signals,
    onOutput: () => signals.emit('SIGINT'),
  })
  expect({ status, stderr }).toEqual({ status: 130, stderr: '' })
  expect([signals.eventNames(), process.listenerCount('SIGINT')]).toEqual([[], heard])
})
