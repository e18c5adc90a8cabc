/** Tables of the kernel and of its tools, as recorded on machines that have what this one may not. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readLoops } from '../../src/core/linux/block/device-use.ts'
import { loopFiles, loopInodes, nfsExports, parseExports, swapFiles } from '../../src/core/users/kernel-files.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

it('swap files, and not partitions, by their names (S3)', () => {
  const text = [
    'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority',
    '/dev/sda2                               partition\t8388604\t\t0\t\t-2',
    '/var/lib/kubelet/pods/x/swap            file\t\t1048572\t\t512\t\t-3',
    String.raw`/data/a\040b\134c                       file		4		0		-4`,
    String.raw`/data/gone\040(deleted)                 file		4		0		-5`,
    '',
  ].join('\n')
  const directory = temporaryDirectory()
  const list = join(directory, 'swaps')
  // A kernel without swap.
  expect(swapFiles(list)).toEqual({ files: [], unseen: [] })
  writeFileSync(list, text)
  const files = ['/var/lib/kubelet/pods/x/swap', String.raw`/data/a b\c`, '/data/gone (deleted)']
  expect(swapFiles(list)).toEqual({ files, unseen: [] })
  // S3: what could not be read may be any.
  expect(swapFiles(directory)).toEqual({
    files: [],
    unseen: [{ text: expect.stringMatching(/^the swap files in .* could not be read: /), hint: expect.any(String) }],
  })
})

it('S3: a loop device whose file could not be read is one, of a file that nobody knows', () => {
  const sys = temporaryDirectory()
  const at = (name: string): string => join(sys, 'block', name, 'loop')
  for (const name of ['loop0', 'loop1', 'loop2']) mkdirSync(at(name), { recursive: true })
  writeFileSync(join(at('loop1'), 'backing_file'), '/data/image\n')
  // What stands for an error of the kernel: a directory cannot be read.
  mkdirSync(join(at('loop2'), 'backing_file'))
  expect(readLoops(sys)).toEqual([
    { device: '/dev/loop1', backingFile: '/data/image' },
    { device: '/dev/loop2', backingFile: '/' },
  ])
})

it('what exportfs and nfsd say', () => {
  const etab = [
    String.raw`/data/a\040b	10.0.0.0/8(rw,sync,wdelay,hide,nocrossmnt,secure,root_squash)`,
    '/srv\t*(ro,crossmnt,sec=sys)',
  ].join('\n')
  expect(parseExports(`# Version 1.1\n# Path Client(Flags) # IPs\n${etab}\n`)).toEqual([
    { path: '/data/a b', client: '10.0.0.0/8', crosses: false },
    { path: '/srv', client: '*', crosses: true },
  ])
})

it('a table of exports that cannot be read is not an empty one; one that is missing is', () => {
  const directory = temporaryDirectory()
  const at = (name: string): string => join(directory, name)
  writeFileSync(at('etab'), '/srv *(ro)\n')
  mkdirSync(at('other'))
  symlinkSync('etab', at('link'))
  symlinkSync('nowhere', at('dangling'))
  expect(nfsExports(['link', 'dangling'].map(at))).toEqual(nfsExports([at('etab')]))
  const { files, unseen } = nfsExports(['missing', 'etab', 'other'].map(at))
  expect(files).toEqual([{ path: '/srv', client: '*', crosses: false }])
  expect(unseen).toMatchObject([
    { text: expect.stringContaining(`the NFS exports in ${at('other')} could not be read: `) },
  ])
})

it('the files of loop devices, right-aligned', () => {
  const text = [
    String.raw`/dev/loop4 97 \x20\x20\x20\x20\x20\x20\x200:6\x20\x20`,
    String.raw`/dev/loop2 2154399 \x20\x20\x20\x20\x20254:0\x20\x20`,
    '/dev/loop5  ',
  ].join('\n')
  expect([...loopInodes(text)]).toEqual([
    ['/dev/loop4', { dev: '0:6', inode: 97 }],
    ['/dev/loop2', { dev: '254:0', inode: 2154399 }],
  ])
})

const loops = [{ device: '/dev/loop4', backingFile: '/data/image' }]
const ended = { status: 0, stdout: '/dev/loop4 97 0:6\n', stderr: '', timedOut: false }

it.each([
  [
    'that does not end',
    async () => ({ ...ended, status: undefined, timedOut: true }),
    'losetup did not end within 2 s',
  ],
  ['that fails', async () => ({ ...ended, status: 1, stdout: '' }), 'losetup ended with 1'],
])('losetup(8): %s: any file may be one', async (_name, run, why) => {
  expect(await loopFiles(loops, run)).toEqual({
    files: loops,
    unseen: [{ text: `the files of loop devices could not be read: ${why}`, hint: expect.any(String) }],
  })
})
