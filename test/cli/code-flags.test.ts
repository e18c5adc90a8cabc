import { expect, it } from 'vitest'
import { commandManifest } from '../../scripts/manifest.ts'
import { ALL_CODES, CODES } from '../../src/core/codes/codes.ts'

it('what a code says to do next names flags that a command has', async () => {
  const { commands } = await commandManifest()
  const flags = new Set([...Object.values(commands).flatMap((command) => Object.keys(command.flags)), 'help'])
  const unknown = ALL_CODES.flatMap((code) =>
    [...`${CODES[code].means} ${CODES[code].next}`.replaceAll(/kubectl [^;.]*/g, '').matchAll(/--([a-z][a-z-]*)/g)]
      .filter(([, flag = '']) => !flags.has(flag))
      .map(([given]) => `${code}: ${given}`),
  )
  expect(unknown).toEqual([])
})
