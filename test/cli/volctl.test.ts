/** The built program, as a person or a script meets it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { execa } from 'execa'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { BROKEN, HEALTHY } from '../helpers/captures.ts'
import { forOthers } from '../helpers/for-others.ts'
import { flagsIn, volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'
import { startVolctl } from './run-volctl.ts'

const COMMANDS = readdirSync(join(import.meta.dirname, '../../src/commands')).map((file) => file.replace('.ts', ''))
const directory = temporaryDirectory()

const file = (name: string, content: string): string => {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

it.each<{ args: string[]; status?: number; says: RegExp }>([
  { args: ['plan', '--snapshot', BROKEN, '--detailed-exitcode'], status: 2, says: /\n21 operations: 18 ready/ },
  { args: ['status', '--snapshot', HEALTHY], says: /^\d+ volumes: all are as they should be\.$/m },
  { args: ['explain', 'pg/sc-a', '--snapshot', BROKEN], says: /^Pod pg\/sc-a on node pg-node/ },
  { args: ['doctor', '--snapshot', HEALTHY], says: /: a plan can be made from this snapshot\n/ },
  { args: ['check', '--snapshot', HEALTHY], says: /^ok: \d+ volumes\n$/ },
  { args: ['wait', '--for=in-sync', '--root-dir', '/nonexistent'], status: 1, says: /^volctl: .*\/nonexistent/ },
  { args: ['journal', '--journal', '/nonexistent'], says: /^The journal has no applies\.\n$/ },
  { args: ['apply', '/nonexistent'], status: 1, says: /^volctl: / },
  { args: ['snapshot', '--root-dir', '/nonexistent'], status: 1, says: /^volctl: .*\/nonexistent/ },
  { args: ['completion', 'bash'], says: /complete -F/ },
  { args: ['version'], says: /^volctl\/\d+\.\d+\.\d+ \S+ node-v\d.*\n$/ },
])('each command starts, from the bundle that ships: $args', async ({ args, status = 0, says }) => {
  const { stdout, stderr, ...result } = await startVolctl(args)
  expect(`${stdout}${stderr}`).toMatch(says)
  expect(result).toEqual({ status })
})

it('4 where a safety rule refuses: what was asked is answered all the same; -o json and -v name the rule', async () => {
  const snapshot = JSON.parse(readFileSync(BROKEN, 'utf8'))
  const path = file('other-machine.json', JSON.stringify({ ...snapshot, machineID: 'another', systemUUID: 'another' }))
  const result = await volctl(['plan', '--snapshot', path])
  expect(result.status).toBe(4)
  expect(result.stdout).toContain('nothing proves that node pg-node of https://127.0.0.1:6443 is this machine')
  expect(result.stderr).toMatch(/^volctl: refused: .+\n( {8}.+\n)?$/)
  expect(JSON.parse((await volctl(['plan', '--snapshot', path, '-o', 'json'])).stderr)).toMatchObject({ rule: 'S1' })
  expect(await volctl(['status', '--snapshot', path])).toMatchObject({ status: 4, stderr: result.stderr })
  expect((await volctl(['plan', '--snapshot', path, '-v'])).stderr).toMatch(/^rule: S1$/m)
  const explained = await volctl(['explain', 'pg/sc-a', '-o', 'json', '--snapshot', path])
  expect(explained.status).toBe(4)
  expect(JSON.parse(explained.stdout)).toMatchObject({ kind: 'Explanation', refused: { rule: 'S1' } })
  expect(JSON.parse(explained.stderr)).toMatchObject({ code: 'WrongMachine' })
})

it('doctor: 1 where plan cannot, and what is wrong is said all the same', async () => {
  const run = await volctl(['doctor', '--kubeconfig', '/nonexistent', '--root-dir', '/nonexistent', '-o', 'json'])
  expect(run).toMatchObject({ status: 1, stderr: '' })
  const { works, checks } = JSON.parse(run.stdout) as { works: object; checks: { id: string; state: string }[] }
  expect(works).toEqual({ plan: false, apply: false })
  expect(checks.filter(({ state }) => state === 'failed').map(({ id }) => id)).toEqual(
    expect.arrayContaining(['ApiServer', 'NodeFound']),
  )
})

it('a terminal that does not know its size, as a serial console, says 0, and has no bounds', async () => {
  const [silent, unknown] = await Promise.all(
    [0, undefined].map((size) => volctl(['status', '--snapshot', BROKEN], { terminal: { columns: size, rows: size } })),
  )
  expect(silent?.stdout).toBe(unknown?.stdout)
})

describe('explain', () => {
  // With --verbose every look at the node, and at a kubeconfig, is a line on standard error.
  const nowhere = ['-v', '--kubeconfig', '/nonexistent', '--root-dir', '/nonexistent']

  it('a code needs no node, no API server and no kubeconfig', async () => {
    const [text, json] = await Promise.all(
      [['table'], ['json']].map(([form = '']) => volctl(['explain', 'DriverUnavailable', '-o', form, ...nowhere])),
    )
    const says = /^DriverUnavailable\n\nMeaning: +A driver is not registered .+\nAppears in: +blocked: /
    expect(text).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(says) })
    expect(json).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(json?.stdout ?? '')).toMatchObject({ code: 'DriverUnavailable' })
  })
})

describe('what goes wrong is one clear line, with what to do', () => {
  it.each([
    ['an argument of a command that takes none', ['journal', '--plan', 'a', 'b'], 'Unexpected argument: b'],
    [
      'a second argument to a repeatable flag is none of its values',
      ['plan', '--pod', 'pg/sc-a', 'pv/nix', '--snapshot', BROKEN],
      'nix matches no volume on this node',
    ],
    ['no value', ['plan', '--node'], 'Flag --node expects a value'],
    ['flags that exclude each other', ['plan', '--snapshot', 'x', '--kubeconfig', 'y'], '--kubeconfig'],
    ['another node than the snapshot has', ['plan', '--snapshot', HEALTHY, '--node', 'x'], '--node'],
  ])('%s', async (_name, args, says) => {
    const result = await volctl(args)
    expect(result).toMatchObject({ status: 1, stdout: '' })
    expect(result.stderr).toContain(says)
    expect(result.stderr).toMatch(/^volctl: .+\n {8}.+\n$/)
  })

  it('with -o json it is an object, on standard error as well', async () => {
    const result = await volctl(['plan', '--snapshot', '/nonexistent', '-o', 'json'])
    expect(result).toMatchObject({ status: 1, stdout: '' })
    expect(JSON.parse(result.stderr)).toEqual({
      apiVersion: 'volctl.io/v1',
      kind: 'Error',
      code: 'FileUnreadable',
      message: 'snapshot /nonexistent: no such file',
      args: { subject: 'snapshot', name: '/nonexistent', why: 'no such file' },
      hint: 'Check the path, and who may read it.',
    })
  })

  it.skipIf(process.geteuid?.() !== 0)('apply without root (this test needs root, to give it up)', async () => {
    using others = forOthers()
    const result = await startVolctl(['apply'], { uid: 65534, gid: 65534, program: others.volctl, cwd: '/' })
    expect(result).toMatchObject({ status: 1, stdout: '' })
    expect(result.stderr).toMatch(/^volctl: apply needs root/)
  })

  it('an output that cannot be written', async () => {
    const command = `exec "$0" plan --snapshot "$1" > /dev/full`
    const result = await execa('sh', ['-c', command, BUNDLE, HEALTHY], { reject: false })
    expect(result.exitCode).toBe(1)
    expect(result.stderr).toContain('volctl: cannot write the output: ENOSPC')
  })
})

describe('forms', () => {
  it('json and yaml are the same value', async () => {
    const [json, yaml] = await Promise.all(
      ['json', 'yaml'].map((form) => volctl(['plan', '--orphans', '--snapshot', BROKEN, '-o', form])),
    )
    const plan = JSON.parse(json?.stdout ?? '')
    expect(load(yaml?.stdout ?? '')).toEqual(plan)
    expect(plan).toMatchObject({ apiVersion: 'volctl.io/v1', kind: 'Plan', volctlVersion: pjson.version })
  })

  it('--verbose speaks on standard error alone', async () => {
    const quiet = await volctl(['plan', '--snapshot', BROKEN, '-o', 'json'])
    const verbose = await volctl(['plan', '--snapshot', BROKEN, '-o', 'json', '-v'])
    expect(verbose.stdout).toBe(quiet.stdout)
    expect(verbose.stderr).toMatch(/\[\d+ms\] snapshot .*forcedel-killed/)
    expect(verbose.stderr).toMatch(/\] R\d+: \/var\/lib\/kubelet\/\S+: UnmountVolume: /)
  })

  it('whatever a slow reader has not taken yet still reaches it', async () => {
    const snapshot = JSON.parse(readFileSync(HEALTHY, 'utf8'))
    const uids = Array.from(
      { length: 2000 },
      (_, index) => `0badc0de-0000-4000-8000-${String(index).padStart(12, '0')}`,
    )
    snapshot.tree.push(...uids.map((uid) => ({ path: `pods/${uid}`, type: 'dir' })))
    const path = file('many.json', JSON.stringify(snapshot))
    const child = spawn(BUNDLE, ['plan', '--snapshot', path, '-v'], { stdio: ['ignore', 'pipe', 'pipe'] })
    // The answer comes last: by then a pipe is full, and the rest waits in the process.
    await once(child.stdout, 'data')
    child.stdout.resume()
    const stderr = await text(child.stderr)
    expect(uids.filter((uid) => !stderr.includes(`/pods/${uid}: `))).toEqual([])
    expect(stderr.length).toBeGreaterThan(128 * 1024)
  })

  it('a reader that goes away ends the output quietly', async () => {
    const child = spawn(BUNDLE, ['plan', '--snapshot', BROKEN, '-o', 'json'], { stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += data
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const [status] = await once(child, 'exit')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})

describe('help', () => {
  it('--version', async () => {
    expect((await volctl(['--version'])).stdout).toBe(
      `volctl/${pjson.version} linux-${process.arch} node-${process.version}\n`,
    )
  })

  it('the commands stand in groups, all of them once, behind a first step, on one screen', async () => {
    const { stdout } = await volctl(['--help'])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(40)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(stdout).toContain('What is wrong on this node: volctl plan\n')
    const groups = stdout.split(/^(?=[A-Z])/m).filter((part) => /^ {2}[a-z]+ {2}/m.test(part))
    const listed = groups.map((part) => [
      part.split('\n')[0],
      ...[...part.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name]) => name),
    ])
    expect(listed).toEqual([
      ['LOOK (changes nothing)', 'plan', 'status', 'explain', 'doctor', 'check', 'wait', 'journal'],
      ['DO', 'apply'],
      ['MORE', 'snapshot', 'completion'],
    ])
    expect(listed.flatMap(([, ...names]) => names).toSorted()).toEqual(COMMANDS)
  })

  it.each([
    { asked: [[], ['-h'], ['help'], ['--help-all'], ['--verbose', '--help']], same: ['--help'] },
    {
      asked: [
        ['plan', '-h'],
        ['help', 'plan'],
      ],
      same: ['plan', '--help'],
    },
  ])('$asked ask for the same as $same', async ({ asked, same }) => {
    const long = await volctl(same)
    expect(long).toMatchObject({ status: 0, stdout: expect.stringMatching(/^(?:FIRST STEP|EXAMPLES)$/m), stderr: '' })
    for (const words of asked) expect(await volctl(words)).toEqual(long)
  })

  it.each(COMMANDS)(
    '%s: at most 40 lines, three examples and where the rest is; --help-all has every flag',
    async (command) => {
      const [short, all] = await Promise.all([volctl([command, '--help']), volctl([command, '--help-all'])])
      expect(short).toMatchObject({ status: 0, stderr: '' })
      expect(all).toMatchObject({ status: 0, stderr: '' })
      expect(short.stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
      expect(short.stdout).toContain(`volctl ${command} --help-all`)
      expect(flagsIn(short.stdout).length).toBeLessThanOrEqual(8)
      expect(new Set(flagsIn(short.stdout)).isSubsetOf(new Set(flagsIn(all.stdout)))).toBe(true)
    },
  )

  it('no --help-all of what stands behind --', async () => {
    const { stdout } = await volctl(['explain', '--snapshot', '/nonexistent.json', '--', '--help-all'])
    expect(stdout).toBe('')
  })
})
