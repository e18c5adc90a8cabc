import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { requireSameFiles } from '../../../src/core/apply/conditions/require.ts'
import { linuxHost } from '../../../src/core/node/linux-host.ts'
import type { FileIdentity } from '../../../src/core/plan/plan.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { operation } from '../apply-fixture.ts'

let path: string
let files: FileIdentity[]
beforeEach(() => {
  const directory = `${temporaryDirectory()}/volume`
  mkdirSync(directory)
  path = `${directory}/vol_data.json`
  writeFileSync(path, 'content')
  files = [identity(path, true), identity(directory, false)]
})

function identity(of: string, whole: boolean): FileIdentity {
  const { size, id = { dev: 0, ino: 0, mtime: 0 } } = linuxHost.lstat(of) ?? { size: 0 }
  const { dev, ino, mtime } = id
  return { path: of, dev, ino, ...(whole && { size, mtime }) }
}

const require = (): void => requireSameFiles(operation('a', { basis: { files } }), linuxHost)

it.each([
  { name: 'as they were', change: () => undefined },
  { name: 'gone by now', change: () => rmSync(path) },
])('files $name are what was decided on', ({ change }) => {
  change()
  expect(require).not.toThrow()
})

it.each([
  {
    name: 'another file under its name',
    change: () => {
      writeFileSync(`${path}.new`, 'content')
      renameSync(`${path}.new`, path)
    },
  },

  { name: 'written again', change: () => utimesSync(path, 1, 1) },
])('$name: refused, with was and now (S26)', ({ change }) => {
  change()
  expect(require).toThrow(
    expect.objectContaining({
      code: 'Changed',
      message: expect.stringMatching(/vol_data\.json was inode .*, now inode /),
    }),
  )
})
