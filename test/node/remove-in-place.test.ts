/** What is listed before, and rmdir and unlink of one name, while somebody swaps the directories above it (S12). */
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { linuxHost } from '../../src/core/rules/host.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

it.each([
  { name: 'the parent', at: 'a/b' },
  { name: 'a directory further up', at: 'a' },
])('a link in the place of $name is not followed', ({ at }) => {
  const directory = temporaryDirectory()
  for (const each of ['a/b/c', 'elsewhere/b/c', 'elsewhere/c']) mkdirSync(`${directory}/${each}`, { recursive: true })
  for (const each of ['a/b/f', 'elsewhere/b/f', 'elsewhere/f']) writeFileSync(`${directory}/${each}`, '')
  const parent = `${directory}/a/b`
  linuxHost.unlink(`${parent}/f`, parent)
  renameSync(`${directory}/${at}`, `${directory}/away`)
  symlinkSync(`${directory}/elsewhere`, `${directory}/${at}`)
  expect(() => linuxHost.rmdir(`${parent}/c`, parent)).toThrow()
  expect(() => linuxHost.unlink(`${parent}/f`, parent)).toThrow()
  for (const each of ['b/c', 'c', 'b/f', 'f']) expect(existsSync(`${directory}/elsewhere/${each}`)).toBe(true)
})

it('what is below a directory is listed without what its links lead to', () => {
  const directory = temporaryDirectory()
  for (const each of ['a/b', 'elsewhere/c']) mkdirSync(`${directory}/${each}`, { recursive: true })
  symlinkSync('../../elsewhere', `${directory}/a/b/link`)
  expect(linuxHost.listTree(`${directory}/a`)).toEqual([`${directory}/a/b`, `${directory}/a/b/link`])
})
