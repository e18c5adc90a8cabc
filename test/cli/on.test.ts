/**
 * `volctl on`, against an API server whose kubelet runs the Pod's command with this very program: on a snapshot, in place of
 * the node that --host-root would enter.
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { execa } from 'execa'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { NODE_PLAN, parsePlanFile } from '../../src/core/plan-file/read-plan-file.ts'
import { FrameReader } from '../../src/core/through-pod/frames.ts'
import type { PodFate } from '../helpers/api-server/kubelet.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'
import { CAPTURES, type Result, volctl } from './run-volctl.ts'

const CAPTURE = join(CAPTURES, 'forcedel-killed', 'before.json')
const RUNS: PodFate & { fate: 'runs' } = {
  fate: 'runs',
  program: BUNDLE,
  replace: [
    [
      ['--host-root', '/host'],
      ['--snapshot', CAPTURE],
    ],
  ],
}

function node(name: string, ready?: object): object {
  const conditions =
    ready === undefined ? [] : [{ type: 'Ready', lastTransitionTime: '2026-11-22T20:00:00Z', ...ready }]
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions } }
}

let server: TestApiServer
const directory = mkdtempSync(join(tmpdir(), 'volctl-on-'))
/** As kubectl would find it. */
const plugin = join(directory, 'kubectl-volctl')
symlinkSync(BUNDLE, plugin)

beforeAll(async () => {
  server = await startApiServer({
    objects: [
      node('node7', { status: 'True' }),
      node('silent', { status: 'Unknown', message: 'Kubelet stopped posting node status.' }),
    ],
  })
})
beforeEach(async () => {
  await server.setPods(RUNS)
  await server.setFaults()
  await server.clearRequests()
})
afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** @param words flags of `on`, NODE, COMMAND and its flags */
async function on(words: string, user = 'on'): Promise<Result> {
  return await volctl(['on', '--kubeconfig', server.kubeconfig(user), ...words.split(' ')])
}

async function podRequests(): Promise<string[]> {
  const requests = await server.requests()
  return requests
    .filter(({ path, method }) => path.includes('/pods') && (method === 'POST' || method === 'DELETE'))
    .map(({ method, status }) => `${method} ${status}`)
}

const MADE_AND_DELETED = ['POST 200', 'DELETE 200']

describe('the answer of the node', () => {
  it.each(['plan -o json --detailed-exitcode', 'check', 'plan --pod nobody/x'])(
    '%s: the same output, errors and exit status as there, and no Pod is left',
    async (command) => {
      const there = await volctl([...command.split(' '), '--snapshot', CAPTURE])
      const hints = (text: string): string => text.replaceAll(/volctl on --kubeconfig \S+ node7/g, 'volctl')
      const { status, stdout, stderr } = await on(`node7 ${command}`)
      expect({ status, stdout: hints(stdout), stderr: hints(stderr) }).toEqual(there)
      expect(await podRequests()).toEqual(MADE_AND_DELETED)
    },
  )

  it.each([
    'plan -o json',
    'check',
    `snapshot -o ${join(directory, 'token.json')}`,
    `plan --out ${join(directory, 'token.plan')}`,
  ])('%s with --service-account: by the token of the Pod, whatever credential the node has', async (command) => {
    const asked = ['--host-root', '/host', '--kubeconfig=in-cluster']
    const isSnapshot = command.startsWith('snapshot')
    // As above, a plan stands for a snapshot.
    const [from, to] = isSnapshot
      ? [
          ['snapshot', ...asked],
          ['plan', '-o', 'json'],
        ]
      : [asked, []]
    await server.setPods({ ...RUNS, replace: [[from, [...to, '--snapshot', CAPTURE]]] })
    expect((await on(`--service-account volctl node7 ${command}`)).stderr).not.toContain('volctl:')
    expect(await podRequests()).toEqual(MADE_AND_DELETED)
  })

  it('what is to be typed next is typed here', async () => {
    const kubeconfig = server.kubeconfig('on')
    const { stdout } = await on('node7 explain PodGone')
    expect(stdout).toContain(`volctl on --kubeconfig ${kubeconfig} node7 apply\n`)
  })

  it('a snapshot goes to standard output, or to a file of this machine', async () => {
    // A snapshot of a snapshot is a thing that nobody needs: a plan stands for it, which is as long.
    await server.setPods({
      ...RUNS,
      replace: [
        [
          ['snapshot', '--host-root', '/host'],
          ['plan', '-o', 'json', '--snapshot', CAPTURE],
        ],
      ],
    })
    const file = join(directory, 'node7.json.gz')
    const { status, stderr } = await on(`node7 snapshot -o ${file}`)
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining(`wrote ${file}: node7`) })
    expect(JSON.parse(gunzipSync(readFileSync(file)).toString())).toMatchObject({ kind: 'Plan' })
  })

  it('plan --out saves a plan on this machine, as apply reads it', async () => {
    const file = join(directory, 'node7.plan')
    const { status, stdout, stderr } = await on(`node7 plan --orphans --out ${file}`)
    expect(status).toBe(0)
    expect(stdout).toContain('operation')
    expect(stderr).toMatch(/^wrote \S+node7.plan: plan [0-9a-f]+, \d+ operation/)
    const saved = parsePlanFile(NODE_PLAN, readFileSync(file), pjson.version, file)
    expect(saved.options.orphans).toBe(true)
    expect(saved.operations.length).toBeGreaterThan(0)
  })
})

describe('where it fails: one clear line, its exit status, and no Pod left', () => {
  const rows = [
    { words: 'silent check', status: 2, says: /silent is not ready/ },
    {
      words: 'node7 plan --oprhans',
      says: /unknown flag: --oprhans\n {8}Did you mean --orphans\? See volctl plan --help/,
    },
    { words: 'node7 plan --context prod', says: /--context cannot stand after the command/ },
    { words: 'node7 completion', says: /completion does not run through a Pod/ },
    { words: 'node7', says: /COMMAND is missing/ },
  ]
  it.each(rows)('$words', async ({ words, status = 1, says }) => {
    const result = await on(words)
    expect(result.stderr).toMatch(says)
    expect(result.stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2)
    const stdout = status === 2 ? expect.stringMatching(/^unknown: PodNotStarted: /) : ''
    expect(result).toMatchObject({ status, stdout })
    expect(await podRequests()).toEqual([])
  })

  it('Ctrl-C: the Pod is deleted, status 130', async () => {
    await server.setPods({ fate: 'waits' })
    const child = spawn(BUNDLE, ['on', '--kubeconfig', server.kubeconfig('on'), 'node7', 'plan'])
    let errors = ''
    child.stderr.on('data', (text) => {
      errors += text
    })
    const ended = new Promise((resolve) => child.on('close', resolve))
    await expect.poll(podRequests).toEqual(['POST 200'])
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    expect(errors).toMatch(/^volctl: interrupted\n/)
    expect(await podRequests()).toEqual(MADE_AND_DELETED)
  })
})

describe('apply', () => {
  it('without a terminal runs in one Pod, whose volctl does not ask', async () => {
    await server.setPods({ ...RUNS, replace: [[['apply', '--host-root', '/host'], ['version']]] })
    expect(await on('node7 apply --yes --orphans')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--orphans'),
    })
    expect(await podRequests()).toEqual(MADE_AND_DELETED)
  })

  it.each([
    { typed: 'apply shop/web-0 --yes', word: '--pod=shop/web-0', is: 'apply' },
    { typed: 'apply pvc/shop/data --pod web-1 --yes', word: '--volume=shop/data', is: 'apply' },
    { typed: `plan shop/web-0 --out ${join(directory, 'named.plan')}`, word: '--pod=shop/web-0', is: 'plan' },
  ])('$typed: names go along as flags', async ({ typed, word, is }) => {
    const written = join(directory, 'named-words')
    const writes = ['-c', `printf '%s' "$*" >${written}`, 'sh', '__framed']
    await server.setPods({ fate: 'runs', program: '/bin/sh', replace: [[['__framed'], writes]] })
    await on(`node7 ${typed}`)
    const [, words = ''] = readFileSync(written, 'utf8').split(` -- ${is} `)
    expect(words.split(' ')).toContain(word)
    if (typed.includes('web-1')) expect(words.split(' ')).toContain('--pod=web-1')
    expect(words).not.toMatch(/ (?:shop|pvc)\//)
  })

  it('of a plan file hands over exactly this plan', async () => {
    const file = join(directory, 'reviewed.plan')
    await volctl(['plan', '--orphans', '--snapshot', CAPTURE, '--out', file])
    const saved = parsePlanFile(NODE_PLAN, readFileSync(file), pjson.version, file)
    await server.put(node(saved.node, { status: 'True' }))
    expect((await on(`node7 apply ${file}`)).stderr).toContain(`is of the node ${saved.node}, not of node7`)
    expect((await on(`${saved.node} apply ${file} --orphans`)).stderr).toContain('cannot be combined with a plan file')
    // It writes down what it was called with.
    const written = join(directory, 'words')
    const writes = ['-c', `printf '%s' "$*" >${written}`, 'sh', '__framed']
    await server.setPods({ fate: 'runs', program: '/bin/sh', replace: [[['__framed'], writes]] })
    await on(`${saved.node} apply ${file} --parallel 2`)
    const words = readFileSync(written, 'utf8')
    const until = Number(/--until=(\d+)/.exec(words)?.[1]) - Date.now() / 1000
    expect([until > 300, until < 3600]).toEqual([true, true])
    expect(words.replaceAll(/--input=\S+/g, '--input').replace(/--until=\d+/, '--until')).toBe(
      `__framed --called-as=volctl on --kubeconfig ${server.kubeconfig('on')} ${saved.node} --until --input -- apply --host-root /host - --parallel=2`,
    )
    const input = [...words.matchAll(/--input=(\S+)/g)].map(([, packed]) => packed).join('')
    const handed = parsePlanFile(NODE_PLAN, gunzipSync(Buffer.from(input, 'base64')), pjson.version, 'handed')
    expect(handed).toEqual(saved)
  })
})

describe('in the Pod', () => {
  it.each([
    { name: 'whose client is long gone does nothing', seconds: -1, status: '1', says: 'nobody waits for it any more' },
    { name: 'that starts in time runs', seconds: 60, status: '0', says: '' },
  ])('a command $name', async ({ seconds, status, says }) => {
    const until = `--until=${Math.floor(Date.now() / 1000) + seconds}`
    const { stdout } = await execa(BUNDLE, ['__framed', until, '--', 'version'], { reject: false })
    const frames = new FrameReader().take(`${stdout}\n`)
    expect(frames.find(({ channel }) => channel === 'end')?.bytes.toString()).toBe(status)
    const said = frames
      .filter(({ channel }) => channel === 'err')
      .map(({ bytes }) => bytes.toString())
      .join('')
    expect(said).toContain(says)
  })

  it('volctl reads what was handed over on its standard input, and frames both streams', async () => {
    const input = gzipSync('MountVolume.SetUp failed for volume "x"\n').toString('base64')
    const words = ['--called-as=kubectl volctl on node7', `--input=${input}`, '--']
    const { stdout, exitCode } = await execa(BUNDLE, ['__framed', ...words, 'explain', '-', '--snapshot', CAPTURE], {
      reject: false,
    })
    const frames = new FrameReader().take(`${stdout}\n`)
    const there = await execa(BUNDLE, ['explain', '-', '--snapshot', CAPTURE], {
      input: 'MountVolume.SetUp failed for volume "x"\n',
      reject: false,
    })
    const of = (channel: string): string =>
      frames
        .filter((each) => each.channel === channel)
        .map(({ bytes }) => bytes)
        .join('')
    expect(of('start')).toBe(pjson.version)
    expect(of('end')).toBe(String(exitCode))
    expect(of('out').replaceAll('kubectl volctl on node7 ', 'volctl ')).toBe(`${there.stdout}\n`)
    expect(exitCode).toBe(there.exitCode)
  })
})

describe('called as kubectl volctl', () => {
  const called = async (...args: string[]): Promise<Result> => {
    const { exitCode, stdout, stderr } = await execa(plugin, args, {
      reject: false,
      stdin: 'ignore',
      stripFinalNewline: false,
    })
    return { status: exitCode, stdout, stderr }
  }

  it('help, usage and hints say what was typed', async () => {
    const { stdout } = await called('plan', '--help')
    expect(stdout).toContain('$ kubectl volctl plan')
    expect(stdout.replaceAll(/kubectl\s+volctl/g, '')).not.toMatch(/volctl (plan|apply|explain)/)
    expect((await called('plan', '--oprhans')).stderr).toContain('See kubectl volctl plan --help')
  })

  // krew installs no program of the name volctl.
  it.each([
    { args: ['--oprhans'], says: 'See kubectl volctl --help' },
    { args: ['on'], says: 'As in: kubectl volctl on node7 plan' },
    { args: ['on', 'node7'], says: ': kubectl volctl on NODE plan' },
  ])('so does the hint of a command line that is not whole: $args', async ({ args, says }) => {
    expect((await called(...args)).stderr).toContain(says)
  })

  it('what acts on the node of a snapshot is run through a Pod', async () => {
    const { stdout } = await called('plan', '--snapshot', CAPTURE)
    expect(stdout).toMatch(/Next: kubectl volctl (on \S+ apply|explain|plan)/)
  })
})

chmodSync(directory, 0o755)
