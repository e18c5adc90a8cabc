/** What the kernels of the last years show of an overlay's directories. */
import { expect, it } from 'vitest'
import { overlayLayers } from '../../src/core/linux/follow-links.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'

const layers = (options: string): string[] => {
  const table = parseMountinfo(
    `1 0 254:0 / / rw - ext4 /dev/vda rw\n2 1 0:40 / /m rw - overlay overlay rw,${options}\n`,
  )
  return overlayLayers(table).map(({ option, path }) => `${option} ${path}`)
}

it.each([
  {
    options: 'lowerdir=/a:/b/,upperdir=/u,workdir=/w/.',
    found: ['lowerdir /a', 'lowerdir /b', 'upperdir /u', 'workdir /w'],
  },
  { options: String.raw`lowerdir=/c\134:d:/e\040f`, found: ['lowerdir /c:d', 'lowerdir /e f'] },
  { options: String.raw`lowerdir=/a\134\054b,upperdir=/x\134:y`, found: ['lowerdir /a,b', 'upperdir /x:y'] },
  {
    options: String.raw`lowerdir+=/a:b,lowerdir+=/c\054d,datadir+=/e`,
    found: ['lowerdir /a:b', 'lowerdir /c,d', 'datadir /e'],
  },
  // Linux 6.5 to 6.7 show a colon of a single name so, and nothing tells it from a list of two.
  { options: String.raw`lowerdir=/a\072b`, found: ['lowerdir /a:b'] },
  { options: 'lowerdir=/a::/data1::/data2', found: ['lowerdir /a', 'lowerdir /data1', 'lowerdir /data2'] },
  { options: 'lowerdir=1/fs:2/fs', found: ['lowerdir 1/fs', 'lowerdir 2/fs'] },
])('$options', ({ options, found }) => expect(layers(options)).toEqual(expect.arrayContaining(found)))

it('other mounts have none', () => {
  const text = '1 0 254:0 / / rw - ext4 /dev/vda rw\n2 1 0:40 / /m rw - fuse.overlay overlay rw,lowerdir=/a\n'
  expect(overlayLayers(parseMountinfo(text))).toEqual([])
})
