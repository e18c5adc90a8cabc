/** The pages of docs/ say what is so: their commands run, their links lead somewhere. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import pjson from '../package.json' with { type: 'json' }
import { commandManifest } from '../scripts/manifest.ts'
import { docSections } from './helpers/doc-commands.ts'

const ROOT = join(import.meta.dirname, '..')
const flags = Object.values((await commandManifest()).commands).flatMap((command) => Object.keys(command.flags))

const tour = docSections('tour.md').flatMap(({ commands }) => commands)

it('the tour has commands', () => expect(tour.length).toBeGreaterThan(10))

// Through a shell, as they are quoted for one; `check` says with 1 that something is wrong.
it.each(tour)('tour: %s', (command) => {
  const run = `PATH=${ROOT}/bin:$PATH; ${command}; [ $? -eq ${command.startsWith('volctl check') ? 1 : 0} ]`
  const cwd = join(ROOT, 'test', 'fixtures', 'captures')
  expect(execFileSync('sh', ['-c', run], { cwd, encoding: 'utf8' })).not.toBe('')
})

const clusters = docSections('cluster.md').flatMap(({ commands }) => commands)

it('the page on clusters has commands', () => expect(clusters.length).toBeGreaterThan(6))

it.each(clusters)('cluster: %s', (command) => {
  const cwd = join(ROOT, 'test', 'fixtures', 'clusters')
  const run = `PATH=${ROOT}/bin:$PATH; ${command}`
  expect(execFileSync('sh', ['-c', run], { cwd, encoding: 'utf8' })).not.toBe('')
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
  expect(clusters).toContain(`volctl ${command}`)
  const cwd = join(ROOT, 'test', 'fixtures', 'clusters')
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
  const cwd = join(ROOT, 'test', 'fixtures', 'captures')
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
