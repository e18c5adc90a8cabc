/** Images that are mounted without a loop device, and what one is. */
import { truncateSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { isErofsImage, mountedImages } from '../../src/core/users/mount-uses.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

it('each is told once, in whatever namespaces it is mounted; a block device and fscache have no such file', () => {
  const mount = (at: number, dev: string, more: string): string => `${at} 1 ${dev} / /m${at} ro - erofs ${more}\n`
  const mounts = [mount(2, '0:40', '/a ro'), mount(3, '0:40', '/a ro'), mount(4, '254:16', '/dev/vdb ro')]
  const table = parseMountinfo(`${mounts.join('')}${mount(5, '0:41', 'none ro,fsid=a')}`)
  expect(mountedImages([table, table])).toEqual(['the EROFS mount on /m3 of /a'])
})

it('an image by what stands in it', () => {
  const image = `${temporaryDirectory()}/image`
  writeFileSync(image, Buffer.from('e2e1f5e0', 'hex'))
  expect(isErofsImage(Buffer.from(image))).toBe(false)
  writeFileSync(image, Buffer.concat([Buffer.alloc(1024), Buffer.from('e2e1f5e0', 'hex')]))
  expect(isErofsImage(Buffer.from(image))).toBe(true)
  truncateSync(image, 1026)
  expect(isErofsImage(Buffer.from(image))).toBe(false)
})
