/** The pages of docs/ say what is so: their commands run, their links lead somewhere. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import pjson from '../package.json' with { type: 'json' }
import { commandManifest } from '../scripts/manifest.ts'
import { docSections } from './helpers/doc-commands.ts'

const ROOT = join(import.meta.dirname, '..')
const FIXTURES = join(ROOT, 'test', 'fixtures')
const commandsIn = (page: string): string[] => docSections(page).flatMap(({ commands }) => commands)
const flags = Object.values((await commandManifest()).commands).flatMap((command) => Object.keys(command.flags))

describe.each([
  { page: 'tour.md', cwd: 'captures', least: 10 },
  { page: 'cluster.md', cwd: 'clusters', least: 6 },
])('docs/$page', ({ page, cwd, least }) => {
  const commands = commandsIn(page)

  it('has commands', () => expect(commands.length).toBeGreaterThan(least))

  // Through a shell, as they are quoted for one; `check` says with 1 that something is wrong.
  it.each(commands)('%s', (command) => {
    const run = `PATH=${ROOT}/bin:$PATH; ${command}; [ $? -eq ${command.startsWith('volctl check') ? 1 : 0} ]`
    expect(execFileSync('sh', ['-c', run], { cwd: join(FIXTURES, cwd), encoding: 'utf8' })).not.toBe('')
  })
})

// What the page says that a command shows.
it.each([
  {
    command: 'plan --cluster shop/web-0 --snapshot node-gone.jsonl',
    shows: ['its detach is blocked (MachineMayWrite)', '2 operations: 2 need you first'],
  },
  { command: 'plan --cluster --node-gone node-1 --snapshot node-gone.jsonl', shows: ['2 operations: 2 ready'] },
  {
    command: 'plan --cluster --node node-1 --snapshot multi-attach.jsonl',
    shows: ['node.kubernetes.io/out-of-service'],
  },
  {
    command: 'plan --cluster pvc/shop/data --snapshot stuck-attachment.jsonl',
    shows: ['its attach waits (AttachmentDeleting)', 'volctl explain AttacherSilent'],
  },
])('cluster: $command shows $shows', ({ command, shows }) => {
  expect(commandsIn('cluster.md')).toContain(`volctl ${command}`)
  const cwd = join(FIXTURES, 'clusters')
  const text = execFileSync('sh', ['-c', `${ROOT}/bin/volctl ${command}`], { cwd, encoding: 'utf8' })
  for (const each of shows) expect(text).toContain(each)
})

it.each([
  ...globSync('docs/{,dev/}*.md', { cwd: ROOT }),
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
])('%s: its links lead to files', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8')
  const links = [...text.matchAll(/\]\(([^)#]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !link.includes('://'))
  expect(links.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([])
})

it('docs/install.md begins with the three commands, and is no longer than a person reads', () => {
  const text = readFileSync(join(ROOT, 'docs/install.md'), 'utf8')
  const [, block = ''] = /^```sh\n(.*?)^```$/ms.exec(text) ?? []
  expect(text.indexOf(block)).toBeLessThan(200)
  expect(block.trimEnd().split('\n')).toEqual([
    `dpkg -i volctl-${pjson.version}-linux-x64.deb`,
    `rpm -U volctl-${pjson.version}-linux-x64.rpm`,
    `sh install.sh --key volctl.pub volctl-${pjson.version}-linux-x64.tar.gz`,
  ])
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(800)
})

it('the plan in the README is what volctl prints', () => {
  const [, shown = ''] = /^\$ volctl plan\n(.*?)^```/ms.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
  const command = `${ROOT}/bin/volctl plan --snapshot stuck/before.json`
  const cwd = join(FIXTURES, 'captures')
  const printed = execFileSync('sh', ['-c', command], { cwd, encoding: 'utf8' })
  const lines = shown.split('\n').filter((line) => line !== '' && line !== '…')
  expect(lines.length).toBeGreaterThan(7)
  for (const line of lines) expect(printed).toContain(line)
})

// Flags of other programs are named on other pages.
it.each(
  globSync(['README.md', 'SECURITY.md', 'docs/{contract,tour,cluster,runbooks}.md', 'man/*.[78]'], { cwd: ROOT }),
)('%s: every flag that it names is there', (page) => {
  const named = readFileSync(join(ROOT, page), 'utf8')
    .replaceAll('\\-', '-')
    .matchAll(/(?<![\w-])--([a-z][a-z-]*[a-z])/g)
  const known = [...flags, 'help', 'help-all', 'version', 'force']
  expect(Array.from(named, ([, flag = '']) => flag).filter((flag) => !known.includes(flag))).toEqual([])
})

// Of an artifact or an image: volctl-0.1.0-linux-x64, volctl:0.1.0.
it.each(globSync(['README.md', 'docs/**/*.md', 'deploy/**/*.{yaml,json,md}'], { cwd: ROOT }))(
  '%s: a version of volctl in it is this one',
  (page) => {
    const named = readFileSync(join(ROOT, page), 'utf8').matchAll(/\bvolctl[:-](\d+\.\d+\.\d+)\b/g)
    expect(Array.from(named, ([, version]) => version).filter((version) => version !== pjson.version)).toEqual([])
  },
)
