/** Completion in real shells, at a terminal, with the script that volctl prints and the volctl that it asks. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NodeSnapshot } from '../../src/core/model/snapshot.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { SHELLS, Typing } from '../helpers/typing.ts'
import { CAPTURES, volctl } from './run-volctl.ts'

const capture = join(CAPTURES, 'forcedel-killed', 'before.json')
const directory = mkdtempSync(join(tmpdir(), 'volctl-completion-'))
let api: TestApiServer
beforeAll(async () => {
  api = await startApiServer({ data: [capture], nodeName: 'pg-node' })
})
afterAll(async () => {
  await api.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Each begins with a letter of its own, to be completed by it. */
const HOSTILE = [
  'a$(touch pwned)`touch pwned`;touch pwned|x&<(touch pwned)>y',
  "b'touch pwned'",
  'c"$(touch pwned)"',
  'd two words',
  'e*?[a-z]{x,y}!!\\',
  'f#~=:@^$HOMEé',
]

/** A node with pods of such names, and of names with more than one line. */
function hostileNode(): string {
  const node = JSON.parse(readFileSync(capture, 'utf8')) as NodeSnapshot
  const [pod] = node.api?.pods ?? []
  const names = [...HOSTILE, 'z1\n$(touch pwned)', 'z2\tabout', 'z3\u001b[31m']
  const pods = names.map((name) => ({
    ...pod,
    metadata: { ...pod?.metadata, name, namespace: 'ns', uid: `uid-${name}` },
  }))
  const path = join(directory, 'hostile.json')
  writeFileSync(path, JSON.stringify({ ...node, api: { ...node.api, pods } }))
  return path
}

const node = `--snapshot ${capture}`
const cluster = `--cluster --snapshot ${join(CAPTURES, '..', 'clusters', 'node-gone.jsonl')}`

describe.each(SHELLS)('%s (where it is installed)', { timeout: 180_000 }, (shell) => {
  const missing = spawnSync(shell, ['--version']).error !== undefined
  const place = join(directory, shell)
  let typing: Typing
  beforeAll(async () => {
    mkdirSync(place)
    if (!missing) typing = await Typing.start(shell, place)
  })
  afterAll(() => typing?.[Symbol.dispose]())
  /** On a machine that is busy volctl may give up, and TAB is pressed again. */
  const completes = (keys: string, words: readonly string[]) =>
    expect.poll(() => typing.complete(keys), { timeout: 60_000 }).toEqual(words)

  it.skipIf(missing)('completes commands, flags and values', async () => {
    const lines: readonly (readonly [keys: string, words: string])[] = [
      ['volctl expl\t', 'explain'],
      ['volctl plan --det\t--output js\t--color nev\t', 'plan --detailed-exitcode --output json --color never'],
      ['volctl plan -o js\t--only unm\t', 'plan -o json --only unmount'],
      ['volctl plan --skip detach,rem\t', 'plan --skip detach,remount'],
      ['volctl help journ\t', 'help journal'],
      ['volctl completion fi\t', 'completion fish'],
      ['volctl wait --for=unmou\t', 'wait --for=unmounted'],
      ['volctl plan --snapshot=q-fi\t', 'plan --snapshot=q-file'],
      // zsh takes the slash at the end away again.
      ['volctl plan --root-dir q-d\tdeep\tq', 'plan --root-dir q-dir/deeper/q'],
      ['volctl plan --root-dir=q-d\tdeep\tq', 'plan --root-dir=q-dir/deeper/q'],
      ['volctl explain DriverUn\t', 'explain DriverUnavailable'],
      [`volctl explain ${node} pg/p-csi-h\t`, `explain ${node} pg/p-csi-hp`],
      [`volctl explain ${node} driver/loop\t`, `explain ${node} driver/loop.pg.test`],
      [`volctl plan ${node} --pod=pg/p-csi-b\t-n p\t`, `plan ${node} --pod=pg/p-csi-blk -n pg`],
      [`volctl explain ${cluster} pv/\t`, `explain ${cluster} pv/pv-data`],
      [`volctl plan ${cluster} --node-gone node-1\t`, `plan ${cluster} --node-gone node-1`],
      [`volctl plan ${node} --driver-gone host\t`, `plan ${node} --driver-gone hostpath.csi.k8s.io`],
    ]
    writeFileSync(join(place, 'q-file'), '')
    mkdirSync(join(place, 'q-dir', 'deeper'), { recursive: true })
    for (const [keys, words] of lines) await completes(keys, ['volctl', ...words.split(' ')])
  })

  it.skipIf(missing)('asks the API server that the line means, and only reads', async () => {
    await api.clearRequests()
    const kubeconfig = `--kubeconfig ${api.kubeconfig('plan')}`
    const lines = [
      `volctl plan ${kubeconfig} --node pg-node --pod pg/p-csi-b`,
      `volctl wait ${kubeconfig} --node pg-node --for unmounted pg/p-csi-b`,
      `volctl wait ${kubeconfig} --node pg-node --for detached pg/a pvc/pg/pvc-b pg/p-csi-b`,
    ]
    for (const line of lines) await completes(`${line}\t`, `${line}lk`.split(' '))
    const requests = await api.requests()
    expect(requests.length).toBeGreaterThan(0)
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it.skipIf(missing)('inserts names as they are, and runs nothing of them', async () => {
    const path = hostileNode()
    const keys = HOSTILE.map((name) => `--pod ns/${name.charAt(0)}\t`).join('')
    const wanted = HOSTILE.flatMap((name) => ['--pod', `ns/${name}`])
    const line = ['volctl', 'plan', '--snapshot', path]
    await completes(`${line.join(' ')} ${keys}`, [...line, ...wanted])
    const open = `volctl plan --snapshot '${path}' --pod 'ns/b\t --pod "ns/c\t --pod ns/d\\ t\t`
    await completes(open, [
      ...line,
      ...['--pod', `ns/${HOSTILE[1]}`, '--pod', `ns/${HOSTILE[2]}`, '--pod', 'ns/d two words'],
    ])
    expect(existsSync(join(place, 'pwned'))).toBe(false)
  })

  it.skipIf(missing)('inserts paths as they are, and expands nothing that was typed', async () => {
    writeFileSync(join(place, 'x$(touch pwned) y.plan'), '')
    expect(await typing.complete('volctl apply x\t')).toEqual(['volctl', 'apply', 'x$(touch pwned) y.plan'])
    // Only when the line is run, by the shell itself.
    writeFileSync(join(place, 'kept'), '')
    expect(await typing.complete("volctl plan --kubeconfig '$(rm kept)' --pod a\t")).toContain('$(rm kept)')
    expect(existsSync(join(place, 'kept'))).toBe(true)
    expect(existsSync(join(place, 'pwned'))).toBe(false)
  })
})

describe('volctl __complete', () => {
  const ask = (...args: readonly string[]) => volctl(['__complete', ...args], { cwd: directory, timeout: 20_000 })

  it.each([
    ['no such kubeconfig', ['plan', '--kubeconfig', '/nonexistent', '--pod', '']],
    ['no such snapshot', ['plan', '--snapshot', '/nonexistent', '--pod', '']],
    ['a pipe, which stays full', ['plan', '--snapshot', '/dev/fd/0', '--pod', '']],
  ])('%s: nothing, silently', async (_, args) =>
    expect(await ask(...args)).toEqual({ status: 0, stdout: '', stderr: '' }),
  )

  it('an unknown command: nothing is offered', async () =>
    expect(await ask('secret', '')).toEqual({ status: 0, stdout: ':4\n', stderr: '' }))

  it('gives up after a second', async () => {
    await api.setFaults({ action: { type: 'hang' } })
    const began = performance.now()
    const answer = await ask('plan', '--kubeconfig', api.kubeconfig('plan'), '--node', 'pg-node', '--pod', '')
    await api.setFaults()
    expect(answer).toEqual({ status: 0, stdout: '', stderr: '' })
    // Node.js starts before the second begins, on a machine that may be busy.
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  it('starts no program for a credential', async () => {
    const marker = join(directory, 'started')
    const program = join(directory, 'plugin')
    writeFileSync(program, `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 })
    const user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: program } }
    const kubeconfig = join(directory, 'plugin.conf')
    const cluster = { server: api.url, 'insecure-skip-tls-verify': true }
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'first', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'first',
      }),
      { mode: 0o600 },
    )
    expect(await ask('plan', '--kubeconfig', kubeconfig, '--node', 'pg-node', '--pod', '')).toMatchObject({
      status: 0,
      stdout: '',
    })
    expect(existsSync(marker)).toBe(false)
    expect(await ask('plan', '--kubeconfig', kubeconfig, '--context', '')).toMatchObject({ stdout: 'first\n:4\n' })
  })

  it.each([
    ['explain pod/pg/p-csi-b', 'pod/pg/p-csi-blk'],
    ['explain pvc/pg/pvc-b', 'pvc/pg/pvc-blk1'],
    ['plan --volume pv-b', 'pv-blk1'],
    ['plan --node pg-', 'pg-node'],
  ])(
    '--cluster: %s',
    async (line, value) => {
      const [command = '', ...typed] = line.split(' ')
      const names = async () => {
        const { stdout } = await ask(command, '--cluster', '--kubeconfig', api.kubeconfig('admin'), ...typed)
        return stdout.split('\n').map((line) => line.split('\t')[0])
      }
      // On a machine that is busy volctl may give up, and TAB is pressed again.
      await expect.poll(names, { timeout: 60_000 }).toContain(value)
    },
    90_000,
  )

  it('names of more than one line are left out', async () => {
    const { stdout } = await ask('plan', '--snapshot', hostileNode(), '--pod', '')
    const names = stdout.split('\n').flatMap((line) => (line.startsWith('ns/') ? (line.split('\t')[0] ?? []) : []))
    expect(names).toEqual(HOSTILE.map((name) => `ns/${name}`))
  })
})

it('the scripts are the same everywhere, and no shell finds a fault in them', async () => {
  for (const shell of SHELLS) {
    const { stdout } = await volctl(['completion', shell])
    const path = join(directory, `script.${shell}`)
    writeFileSync(path, stdout)
    expect(stdout).not.toContain(process.cwd())
    expect(spawnSync(shell, ['-n', path], { encoding: 'utf8' }).stderr ?? '').toBe('')
  }
})

it('without a shell it says which there are', async () =>
  expect(await volctl(['completion'])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('Give bash, zsh, fish or kubectl'),
  }))
