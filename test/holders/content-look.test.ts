/** Who has only a name in a directory: found by where the name leads, or in the directory where it leads nowhere (S12). */
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { contentHolders } from '../../src/core/holders/content-holders.ts'
import { type ContentLook, lookForUsers } from '../../src/core/holders/content-look.ts'
import { hostPathsOf } from '../../src/core/holders/host-paths.ts'
import type { LoopFile } from '../../src/core/holders/kernel-files.ts'
import { PlaceIndex } from '../../src/core/holders/place-index.ts'
import { locate } from '../../src/core/mountinfo/location.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import { PROCESS_READER } from '../helpers/process-reader/command.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const table = parseMountinfo(readFileSync('/proc/self/mountinfo'))
const reader = { command: PROCESS_READER, deadlineMs: 60_000 }

/** With links to it beside it, one of them absolute, and what a test made is this process's own. */
function content(): { readonly path: string; readonly beside: string } {
  const beside = realpathSync(temporaryDirectory())
  mkdirSync(`${beside}/v/sub`, { recursive: true })
  symlinkSync('v', `${beside}/link`)
  symlinkSync(`${beside}/v`, `${beside}/far`)
  return { path: `${beside}/v`, beside }
}

/** In our own mount namespace: those of other processes are of no concern here. */
const look = (paths: readonly string[]): Promise<ContentLook> => {
  const volumes = paths.map((path, at) => ({ name: `h${at}`, hostPath: { path } }))
  const pod = { metadata: { name: 'web', namespace: 'shop', uid: 'uid' }, spec: { volumes, containers: [] } }
  return lookForUsers({ table, others: [], fileSystems: [], named: hostPathsOf([pod]), reader })
}

const usersOf = async (path: string, seen: ContentLook): Promise<readonly string[]> =>
  (await contentHolders(seen, { path, rootDir: path })).kernel

it('a hostPath, by where it leads', async () => {
  const { path, beside } = content()
  const seen = await look([
    `${beside}/link/sub/`,
    `${beside}/far/sub`,
    `${beside}`,
    `${beside}/link/later`,
    `${beside}/vv`,
  ])
  expect((await usersOf(path, seen)).toSorted()).toEqual([
    `the hostPath ${beside}/far/sub of pod shop/web`,
    `the hostPath ${beside}/link/later of pod shop/web`,
    `the hostPath ${beside}/link/sub/ of pod shop/web`,
  ])
})

it('an export, by where it leads', async () => {
  const { path, beside } = content()
  const seen = { ...(await look([])), exports: [] as ContentLook['exports'] }
  const exported = { path: `${beside}/link/sub`, client: '*', crosses: false }
  expect(await usersOf(path, { ...seen, exports: [{ ...exported, real: `${path}/sub` }] })).toEqual([
    `the NFS export of ${beside}/link/sub to *`,
  ])
  expect(await usersOf(path, { ...seen, exports: [{ ...exported, real: exported.path }] })).toEqual([])
})

it('a bound socket, by where its path leads; by its name where that leads nowhere', async () => {
  const { path, beside } = content()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(`${beside}/link/a.sock`, resolve))
  const user = `the unix socket that is bound to ${beside}/link/a.sock`
  expect(await usersOf(path, await look([]))).toEqual([user])
  // Its path is gone, and the file is further down.
  renameSync(`${path}/a.sock`, `${path}/sub/a.sock`)
  expect(await usersOf(path, await look([]))).toEqual([user])
  // Only a socket is one.
  rmSync(`${path}/sub/a.sock`)
  writeFileSync(`${path}/sub/a.sock`, '')
  expect(await usersOf(path, await look([]))).toEqual([])
  await new Promise((resolve) => server.close(resolve))
})

it('an image whose file no name leads to: any image in it may be the one', async () => {
  const { path } = content()
  const seen = { ...(await look([])), unknownImages: ['the EROFS mount on /m of /gone'] }
  writeFileSync(`${path}/sub/file`, Buffer.alloc(4096))
  expect(await usersOf(path, seen)).toEqual([])
  const image = Buffer.alloc(4096)
  image.writeUInt32LE(0xe0f5e1e2, 1024)
  writeFileSync(`${path}/sub/image`, image)
  expect(await usersOf(path, seen)).toEqual(['the EROFS mount on /m of /gone'])
  expect(await usersOf(path, await look([]))).toEqual([])
})

it('a loop device, by the place, the inode or the last name of its file; as explain tells it, which knows no inodes', async () => {
  const { path, beside } = content()
  writeFileSync(`${path}/sub/image`, '')
  const { ino } = lstatSync(`${path}/sub/image`)
  const place = locate(table, path)
  if (place === undefined) throw new Error(`${path} is in no mount`)
  const loop = { device: '/dev/loop9', backingFile: `${path}/sub/image` }
  const file = { dev: place.dev, inode: ino }
  const seen = await look([])
  const loopsOf = async (given: Partial<ContentLook>): Promise<unknown> =>
    (
      await contentHolders(
        { ...seen, loops: new PlaceIndex<LoopFile>([]), unknownLoops: [], ...given },
        { path, rootDir: path },
      )
    ).loops
  expect(await loopsOf({ loops: new PlaceIndex([[place, { ...loop, file }]]) })).toEqual([loop])
  // Elsewhere by its name.
  const away = { ...loop, backingFile: `${beside}/away/image` }
  expect(await loopsOf({ unknownLoops: [{ ...away, file }] })).toEqual([away])
  expect(await loopsOf({ unknownLoops: [{ ...away, file: { ...file, inode: ino + 1 } }] })).toEqual([])
  expect(await loopsOf({ unknownLoops: [away] })).toEqual([away])
  expect(await loopsOf({ unknownLoops: [{ ...away, backingFile: '/other' }] })).toEqual([])
  // It may be any file.
  expect(await loopsOf({ unknownLoops: [{ ...away, backingFile: '/' }] })).toEqual([{ ...away, backingFile: '/' }])
})
