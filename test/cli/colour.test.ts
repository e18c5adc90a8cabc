import { expect, it } from 'vitest'
import { isColourful } from '../../src/core/cli/output.ts'
import { isUtf8Locale } from '../../src/core/views/screen.ts'

it.each([
  { name: 'on a terminal', env: {}, want: true },
  { name: 'not in a pipe', env: {}, terminal: false, want: false },
  { name: 'not on a dumb terminal', env: { TERM: 'dumb' }, want: false },
  { name: 'not with NO_COLOR', env: { NO_COLOR: '1' }, want: false },
  {
    name: 'as if NO_COLOR were not there where it is empty',

    env: { NO_COLOR: '' },

    want: true,
  },
  { name: 'in a pipe with FORCE_COLOR', env: { FORCE_COLOR: '1' }, terminal: false, want: true },
  { name: 'not on a terminal with FORCE_COLOR=0', env: { FORCE_COLOR: '0' }, want: false },
  { name: 'not with both', env: { NO_COLOR: '1', FORCE_COLOR: '1' }, terminal: false, want: false },
  { name: 'not with --no-color', argv: ['--no-color'], env: { FORCE_COLOR: '1' }, want: false },
])('colour is used $name', ({ argv = [], env, terminal = true, want }) =>
  expect(isColourful(argv, env, terminal)).toBe(want),
)

it.each([
  [{ LANG: 'en_US.UTF-8' }, true],
  [{ LANG: 'C.utf8' }, true],
  [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
  [{ LANG: 'C', LC_CTYPE: 'C.UTF-8' }, true],
  [{ LANG: 'en_US.UTF-8', LC_ALL: '' }, true],
  [{}, false],
])('the locale is UTF-8: %j: %s', (env, want) => expect(isUtf8Locale(env)).toBe(want))
