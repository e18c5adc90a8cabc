import { expect, it } from 'vitest'
import { isPathName, isPlainPath } from '../../src/core/linux/paths.ts'

const names = [
  'a',
  '.',
  '..',
  '...',
  '.a',
  '..a',
  'a b',
  '\n',
  '\u007f',
  'ä',
  'x'.repeat(255),
  'x'.repeat(256),
  'ä'.repeat(128),
  '',
]
const paths = names.flatMap((name) => [`/${name}`, `/k/${name}`, `/${name}/k`, `/k/${name}/k`, name, `/k/${name}/`])

it.each(paths.map((path) => ({ path })))('S10: isPlainPath: agrees with each name of $path', ({ path }) => {
  expect(isPlainPath(path)).toBe(path.startsWith('/') && path.slice(1).split('/').every(isPathName))
})
