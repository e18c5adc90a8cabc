/** Images that are mounted without a loop device: whose file is known, and whose is not. */
import { mkdtempDisposableSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { imageFiles, isErofsImage } from '../../src/core/holders/image-files.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'

function found(source: string, dev = '0:40', options = 'ro'): (boolean | string)[] {
  const mounts = [1, 2].map((at) => `${at + 1} 1 ${dev} / /m${at} ro - erofs ${source} ${options}\n`)
  const table = parseMountinfo(`1 0 254:0 / / rw - ext4 /dev/vda rw\n${mounts.join('')}`)
  return imageFiles([{ table, root: '' }]).flatMap(({ text, isThere }) => [text, isThere])
}

it('a file that has its name, a link to one, and names that lead nowhere or to another file for everybody', () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'volctl-test-'))
  const image = join(directory.path, 'image')
  writeFileSync(image, '')
  symlinkSync('image', join(directory.path, 'link'))
  expect(found(image)).toEqual([`the EROFS mount on /m2 of ${image}`, true])
  expect(found(join(directory.path, 'link'))[1]).toBe(true)
  for (const source of [join(directory.path, 'gone'), 'image', '/proc/self/fd/8', directory.path])
    expect(found(source)[1], source).toBe(false)
})

it('an image by what stands in it', () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'volctl-test-'))
  const image = join(directory.path, 'image')
  writeFileSync(image, Buffer.from('e2e1f5e0', 'hex'))
  expect(isErofsImage(Buffer.from(image))).toBe(false)
  writeFileSync(image, Buffer.concat([Buffer.alloc(1024), Buffer.from('e2e1f5e0', 'hex')]))
  expect(isErofsImage(Buffer.from(image))).toBe(true)
  truncateSync(image, 1026)
  expect(isErofsImage(Buffer.from(image))).toBe(false)
})
