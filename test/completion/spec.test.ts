import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandManifest } from '../../scripts/manifest.ts'
import { commandSpecs } from '../../src/core/completion/spec.ts'

const specs = commandSpecs(Object.values((await commandManifest()).commands))

it('has every command of the manifest, and help', async () =>
  expect(specs.map(({ name }) => name)).toEqual(
    [...Object.keys((await commandManifest()).commands), 'help'].toSorted(),
  ))

it.each([
  { flag: 'output', values: { kind: 'words', words: expect.arrayContaining(['json']) } },
  { flag: 'only', values: { kind: 'list', words: expect.arrayContaining(['unmount', 'DetachVolume']) } },
  { flag: 'pod', values: { kind: 'live', of: 'pod' } },
  { flag: 'snapshot', values: { kind: 'file' } },
  { flag: 'root-dir', values: { kind: 'directory' } },
  { flag: 'settle', values: { kind: 'free' } },
  { flag: 'orphans', values: undefined },
])('plan --$flag', ({ flag, values }) =>
  expect(specs.find(({ name }) => name === 'plan')?.flags.find(({ name }) => name === flag)?.values).toEqual(values),
)

it('wait takes as many names as there are', () => {
  const wait = specs.find(({ name }) => name === 'wait')
  expect(wait?.args).toEqual([{ name: 'names', values: { kind: 'live', of: 'thing' }, repeatable: true }])
  expect(wait?.flags.find(({ name }) => name === 'for')?.values).toMatchObject({ kind: 'words' })
})

it.each([
  {
    about: 'words of the placeholder',
    helpValue: 'mounted|in-sync',
    values: { kind: 'words', words: ['mounted', 'in-sync'] },
  },
  { about: 'a file by the placeholder', helpValue: 'FILE', values: { kind: 'file' } },
  { about: 'nothing else', helpValue: 'DUR', values: { kind: 'free' } },
])('a flag that nobody has named here: $about', ({ helpValue, values }) => {
  const flag = { name: 'new', type: 'option' as const, helpValue, multiple: false }
  const command = { id: 'c', flags: { new: flag }, args: {}, strict: true } as unknown as Parameters<
    typeof commandSpecs
  >[0][0]
  expect(commandSpecs([command])[0]?.flags.find(({ name }) => name === 'new')).toMatchObject({ values })
})

it('nothing that volctl does otherwise loads a file of this room', () => {
  const cwd = join(import.meta.dirname, '..', '..', 'src')
  const users = globSync('**/*.ts', { cwd })
    .filter((file) => !file.startsWith('core/completion/'))
    .filter((file) =>
      /^(?:import|export|\}) .*from '[^']*\/completion\/[^']*'/m.test(readFileSync(join(cwd, file), 'utf8')),
    )
  expect(users).toEqual(['commands/completion.ts'])
})
