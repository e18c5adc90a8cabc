import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { manualPages } from '../../scripts/man.ts'
import { commandManifest } from '../../scripts/manifest.ts'
import { ALL_CODES, CODES } from '../../src/core/messages/codes.ts'
import { ExitStatus } from '../../src/core/messages/findings.ts'
import { flagsIn, volctl } from '../helpers/run-main.ts'

const folder = new URL('../../man/', import.meta.url).pathname
const pages = await manualPages()
const commands = Object.keys((await commandManifest()).commands)

it.each([...pages.keys()])('%s is current: else run npm run man', (name) =>
  expect(readFileSync(join(folder, name), 'utf8')).toBe(pages.get(name)),
)

it('npm installs each page: the package names it', () =>
  expect(pjson.man).toEqual([...pages.keys()].map((name) => `man/${name}`).toSorted()))

/** A page, as man(1) prints it. */
function printed(page: string): string {
  const env = { PATH: '/usr/bin:/bin', MANWIDTH: '80', MANPAGER: 'cat', LC_ALL: 'C.UTF-8', TERM: 'dumb' }
  return spawnSync('man', ['-l', join(folder, page)], { encoding: 'utf8', env }).stdout
}

it('the first screen of volctl(8) says what to type where a pod hangs in Terminating', () => {
  // less(1) keeps a line of 24 for itself.
  const screen = printed('volctl.8').split('\n').slice(0, 23).join('\n')
  expect(screen).toContain('hangs in Terminating')
  const typed = [...screen.matchAll(/^ {11}(.+?)(?: +#.*)?$/gm)].map(([, command]) => command)
  expect(typed).toEqual(['volctl explain shop/web-0', 'volctl plan', 'volctl apply --stop-kubelet'])
})

it('every flag that the help names is in its page, and no other', async () => {
  for (const command of commands) {
    const help = (await volctl([command, '--help-all'])).stdout
    const options = pages.get(`volctl-${command}.8`)?.split('.SH OPTIONS')[1]?.split('.SH')[0] ?? ''
    const named = options.split('\n').filter((line) => line.startsWith('\\fB'))
    expect(
      flagsIn(
        named
          .join('\n')
          .replaceAll('\\-', '-')
          .replaceAll(/\\f[BIR]/g, ''),
      ).toSorted(),
      command,
    ).toEqual(flagsIn(help.split('\nDESCRIPTION')[0] ?? '').toSorted())
  }
})

it('every code and exit status is in the manual', () => {
  const codes = pages.get('volctl-codes.7') ?? ''
  // A reason that is nothing else is a word of a plan, and has no entry.
  const entries = ALL_CODES.filter((code) => CODES[code].in.some((place) => place !== 'reason'))
  for (const code of entries) expect(codes).toContain(`.TP\n\\fB${code}\\fR (`)
  const statuses = /\.SH "EXIT STATUS"\n(.*?)\n\.SH/s.exec(pages.get('volctl.8') ?? '')?.[1] ?? ''
  for (const status of Object.values(ExitStatus)) expect(statuses).toMatch(new RegExp(`^${status}\t`, 'm'))
})

const noMandoc = spawnSync('mandoc', ['-T', 'lint', '/dev/null']).error !== undefined

it.skipIf(noMandoc).each([...pages.keys()])('mandoc has nothing to say of %s (where mandoc is installed)', (name) => {
  const { stdout, status } = spawnSync('mandoc', ['-T', 'lint', join(folder, name)], { encoding: 'utf8' })
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 })
})

it.skipIf(noMandoc)('a table of exit statuses has whole lines in both formatters (where mandoc is installed)', () => {
  const page = 'volctl-plan.8'
  const mandoc = spawnSync('mandoc', ['-T', 'ascii', '-O', 'width=80', join(folder, page)], { encoding: 'utf8' }).stdout
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is printed twice is bold.
  for (const text of [printed(page), mandoc.replaceAll(/.\x08/g, '')]) {
    expect(text).toMatch(/^ {7}5 {5}Only +with +--detailed-exitcode: /m)
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
  }
})
