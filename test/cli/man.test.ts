import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { manualPages } from '../../scripts/man/pages.ts'
import { escapeRoff, readSections } from '../../scripts/man/roff.ts'
import { commandManifest } from '../../scripts/manifest.ts'
import { ALL_CODES } from '../../src/core/codes/codes.ts'
import { ExitStatus } from '../../src/core/errors/exit-status.ts'
import { volctl } from './run-volctl.ts'

const folder = new URL('../../man/', import.meta.url).pathname
const pages = await manualPages()
const commands = Object.keys((await commandManifest()).commands)

it.each([...pages.keys()])('%s is current: else run npm run man', (name) =>
  expect(readFileSync(join(folder, name), 'utf8')).toBe(pages.get(name)),
)

it('every flag that the help names is in its page, and no other', async () => {
  for (const command of commands) {
    const help = (await volctl([command, '--help'])).stdout
    const flags = (text: string): string[] =>
      [...text.matchAll(/^ *(?:-\w, )?(--[a-z-]+)/gm)].map(([, flag = '']) => flag).toSorted()
    const options = pages.get(`volctl-${command}.8`)?.split('.SH OPTIONS')[1]?.split('.SH')[0] ?? ''
    const named = options.split('\n').filter((line) => line.startsWith('\\fB'))
    expect(
      flags(
        named
          .join('\n')
          .replaceAll('\\-', '-')
          .replaceAll(/\\f[BIR]/g, ''),
      ),
      command,
    ).toEqual(flags(help.split('\nDESCRIPTION')[0] ?? ''))
  }
})

it('every code and exit status is in the manual', () => {
  const page = pages.get('volctl.8') ?? ''
  for (const code of ALL_CODES) expect(page).toContain(`.TP\n\\fB${code}\\fR (`)
  for (const status of Object.values(ExitStatus)) expect(page).toContain(`.TP\n\\fB${status}\\fR\n`)
})

it.each([
  ['-v', '\\-v'],
  ["'x", '\\(aqx'],
  ['.BR', '\\&.BR'],
  ['a\\b', 'a\\eb'],
])('%s is safe in roff', (text, roff) => expect(escapeRoff(text)).toBe(roff))

it('the little Markdown', () =>
  expect(readSections('# ONE\n\n**a** *b* `c`\nd\n\n    code\n\n**t**:: text\n\n# TWO\n\n.BR x (1)\n')).toEqual(
    new Map([
      ['ONE', '.PP\n\\fBa\\fR \\fIb\\fR \\fBc\\fR d\n.PP\n.EX\n    code\n.EE\n.TP\n\\fBt\\fR\ntext\n'],
      ['TWO', '.BR x (1)\n'],
    ]),
  ))
