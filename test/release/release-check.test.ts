/** What a maintainer is told before a release: the parts by tables, and the whole program in a repository of its own. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { names, newestSection, wrongHeading } from '../../scripts/release-check/change-log.ts'
import { brokenPromises } from '../../scripts/release-check/interfaces.ts'
import { codesOf, flagsOf, statusesOf } from '../../scripts/release-check/manual.ts'
import { lastTag } from '../../scripts/release-check/repository.ts'
import { fieldsOf } from '../../scripts/release-check/schema-fields.ts'
import { notHigher } from '../../scripts/release-check/versions.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TODAY = '2026-11-23'
const page = (name: string): string => readFileSync(join(ROOT, 'man', name), 'utf8')

describe('what is read of generated files', () => {
  it('flags, exit statuses and codes of manual pages', () => {
    expect(flagsOf(page('volctl-plan.8'))).toEqual(
      expect.arrayContaining(['--orphans', '--snapshot', '--accept-outage']),
    )
    expect([...statusesOf(page('volctl-plan.8')).keys()]).toEqual(expect.arrayContaining(['0', '1', '2', '4', '5']))
    expect(statusesOf(page('volctl-plan.8')).get('4')).toMatch(/^Refused for safety: .* printed as well\.$/)
    expect(codesOf(page('volctl-codes.7'))).toEqual(
      expect.arrayContaining(['PodStillRunning', 'HeldBy', 'NotBelieved']),
    )
  })

  it('fields of schemas, by path', () => {
    const fields = fieldsOf(readFileSync(join(ROOT, 'schema', 'plan.schema.json'), 'utf8'))
    expect(fields.get('kind')).toEqual({ types: ['"Plan"'], always: true })
    expect(fields.get('bootID')).toEqual({ types: ['string'], always: false })
    expect(fields.get('operations[].kind')?.types).toContain('"UnmountVolume"')
  })
})

const schema = (properties: object, required: readonly string[] = []): string =>
  JSON.stringify({ type: 'object', required, properties, $defs: { pod: { properties: { uid: { type: 'string' } } } } })
const text = { type: 'string' }

describe('what was promised and is not kept', () => {
  it.each([
    { name: 'nothing', before: schema({ a: text }), now: schema({ a: text, b: text }, ['a']), broken: [] },
    { name: 'a field', before: schema({ a: text }), now: schema({}), broken: ['a is gone'] },
    {
      name: 'a field with others in it, once',
      before: schema({ a: { items: { properties: { b: text } } } }),
      now: schema({}),
      broken: ['a is gone'],
    },
    {
      name: 'one in a definition',
      before: schema({ pod: { $ref: '#/$defs/pod' } }),
      now: schema({ pod: { properties: {} } }),
      broken: ['pod.uid is gone'],
    },
    {
      name: 'its type',
      before: schema({ a: text }),
      now: schema({ a: { type: ['string', 'null'] } }),
      broken: ['a may be null now, and was string'],
    },
    {
      name: 'a constant',
      before: schema({ a: { enum: ['x', 'y'] } }),
      now: schema({ a: { enum: ['y', 'z'] } }),
      broken: ['a is never "x" any more'],
    },
    {
      name: 'that it is there',
      before: schema({ a: text }, ['a']),
      now: schema({ a: text }),
      broken: ['a may be missing now'],
    },
  ])('in a schema: $name', ({ before, now, broken }) => {
    const [then, is] = [before, now].map((each) => new Map([['schema/x.schema.json', each]]))
    const found = brokenPromises(then ?? new Map(), is ?? new Map())
    expect(found.map(({ what }) => what)).toEqual(broken.map((what) => `schema/x.schema.json: ${what}`))
  })

  it('a command, a flag, an exit status, a code', () => {
    const plan = page('volctl-plan.8')
    const codes = page('volctl-codes.7')
    const before = new Map([
      ['man/volctl-plan.8', plan],
      ['man/volctl-codes.7', codes],
      ['man/volctl-wait.8', page('volctl-wait.8')],
    ])
    const now = new Map([
      [
        'man/volctl-plan.8',
        plan.replaceAll('\\-\\-orphans', '\\-\\-leftovers').replace('4\tT{\nRefused', '4\tT{\nStopped'),
      ],
      ['man/volctl-codes.7', codes.replace('\\fBPodStillRunning\\fR (', '\\fBPodLost\\fR (')],
    ])
    expect(brokenPromises(before, now)).toEqual([
      { what: 'volctl-plan.8: the flag --orphans is gone', word: '--orphans' },
      { what: 'volctl-plan.8: exit status 4 says something else', word: 'status 4' },
      { what: 'the code PodStillRunning is gone', word: 'PodStillRunning' },
      { what: 'man/volctl-wait.8 is gone', word: 'volctl-wait' },
    ])
  })
})

describe('the change log', () => {
  const section = newestSection(
    '# Changelog\n\n## 0.2.0 (2026-11-23)\n\n- `--old-flag` is gone.\n\n## 0.1.0 (x)\n\nHeldBy\n',
  )

  it('has the words of its newest version, whole ones', () => {
    expect(['--old-flag', '--old', 'HeldBy'].map((word) => names(section, '0.2.0', word))).toEqual([true, false, false])
    expect(names(section, '0.3.0', '--old-flag')).toBe(false)
  })

  it.each([
    { log: '## 0.2.0 (2026-11-23)\n', what: [] },
    { log: '## 0.2.0 (unreleased)\n', what: ['CHANGELOG.md has no date for 0.2.0: (unreleased)'] },
    { log: '## 0.1.0 (2026-11-22)\n', what: ['CHANGELOG.md begins with 0.1.0, package.json says 0.2.0'] },
    { log: '', what: ['CHANGELOG.md begins with no version, package.json says 0.2.0'] },
  ])('begins with version and date: "$log"', ({ log, what }) => {
    expect(wrongHeading(newestSection(log), '0.2.0', TODAY).map((each) => each.what)).toEqual(what)
  })
})

it.each([
  { version: '0.2.0', before: '0.1.9', is: true },
  { version: '0.10.0', before: '0.9.0', is: true },
  { version: '0.1.0', before: '0.1.0', is: false },
  { version: '0.1.9', before: '0.2.0', is: false },
])('$version after $before: higher is $is', ({ version, before, is }) =>
  expect(notHigher(version, before)).toHaveLength(is ? 0 : 1),
)

/** What the program reads, or its makers of generated files do. */
const READ = ['bin', 'deploy', 'dist', 'docs', 'man', 'proto', 'schema', 'scripts', 'src', 'test/helpers']
const CAPTURE = 'test/fixtures/captures/stuck'
const FILES = [
  'buf.gen.yaml',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'THIRD_PARTY_LICENSES',
  'package.json',
  'package-lock.json',
]

describe('in a repository of its own', () => {
  const root = temporaryDirectory()
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', '-C', root, ...args], { stdio: 'pipe' })
  const edit = (path: string, change: (before: string) => string): void =>
    writeFileSync(join(root, path), change(readFileSync(join(root, path), 'utf8')))

  it('says what the next version lacks, with what to do, and exits with 1', () => {
    for (const path of [...READ, ...FILES, 'sbom.cdx.json', CAPTURE])
      cpSync(join(ROOT, path), join(root, path), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
    writeFileSync(join(root, '.gitignore'), 'node_modules\ndist\n')
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'first')
    expect(lastTag(root)).toBeUndefined()
    git('tag', 'v0.1.0')
    edit('package.json', (before) => before.replace('"version": "0.1.0"', '"version": "0.2.0"'))
    edit('man/volctl-plan.8', (before) => before.replaceAll('\\-\\-orphans', '\\-\\-leftovers'))
    edit('schema/error.schema.json', (before) => before.replace('"hint":', '"advice":'))

    const { status, stdout } = spawnSync(
      process.execPath,
      ['--no-warnings', join(root, 'scripts', 'release-check.ts')],
      {
        encoding: 'utf8',
        env: { ...process.env, NO_COLOR: '1' },
      },
    )
    const lines = stdout.split('\n')
    expect(lines[0]).toBe('Compared with v0.1.0.')
    for (const line of [
      '- not committed: man/volctl-plan.8, package.json, schema/error.schema.json. Next: git commit, or git stash --include-untracked',
      '- HEAD is v0.1.0 itself. Next: commit what is new',
      '- volctl-plan.8: the flag --orphans is gone. Next: name "--orphans" in CHANGELOG.md, below 0.2.0',
      '- schema/error.schema.json: hint is gone. Next: name "hint" in CHANGELOG.md, below 0.2.0',
      '- package-lock.json says 0.1.0, not 0.2.0. Next: npm install --package-lock-only',
      '- sbom.cdx.json says 0.1.0, not 0.2.0. Next: npm run licenses',
      '- man/volctl-plan.8:3 says 0.1.0, not 0.2.0. Next: npm run man',
      '- man/volctl-plan.8 is not current. Next: npm run man',
      '- schema/error.schema.json is not current. Next: npm run schema',
    ])
      expect.soft(lines).toContain(line)
    expect(stdout).toMatch(/^- CHANGELOG\.md begins with 0\.1\.0, package\.json says 0\.2\.0\. Next: begin it with/m)
    expect(status).toBe(1)
  })
})
