/** Where unix sockets are bound, as the kernel says it, and where that is. */
import { mkdirSync, mkdtempDisposableSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { boundPaths, locateSockets } from '../../src/core/holders/bound-sockets.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'

const HEAD = 'Num       RefCount Protocol Flags    Type St Inode Path\n'
const line = (path: string): string => `ffff0: 00000002 00000000 00010000 0001 01 7153279${path}\n`
const VIEW = { table: parseMountinfo('1 0 254:0 / / rw - ext4 /dev/vda rw\n'), root: '' }

async function serverAt(path: string): Promise<Server & AsyncDisposable> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return server
}

it('the paths of each network namespace once, and no abstract names', () => {
  using proc = mkdtempDisposableSync(join(tmpdir(), 'volctl-test-'))
  const add = (pid: string, namespace: string, unix: string): void => {
    mkdirSync(join(proc.path, pid, 'ns'), { recursive: true })
    mkdirSync(join(proc.path, pid, 'net'))
    symlinkSync(namespace, join(proc.path, pid, 'ns/net'))
    writeFileSync(join(proc.path, pid, 'net/unix'), unix)
  }
  const lines = [
    line(''),
    line(' @abstract'),
    line(' /run/a b'),
    line(' relative'),
    line(' /run/a b'),
    line(' /run/c\nd'),
  ]
  add('7', 'net:[1]', HEAD + lines.join(''))
  add('8', 'net:[1]', HEAD + line(' /run/again'))
  add('9', 'net:[2]', HEAD + line(' /run/other'))
  expect(boundPaths(proc.path)).toEqual({
    paths: new Set(['/run/a b', 'relative', '/run/c\nd', '/run/other']),
    unseen: [],
  })
  // Another namespace whose sockets cannot be read: any may be bound there.
  mkdirSync(join(proc.path, '10/ns'), { recursive: true })
  symlinkSync('net:[3]', join(proc.path, '10/ns/net'))
  mkdirSync(join(proc.path, '10/net/unix'), { recursive: true })
  expect(boundPaths(proc.path).unseen).toMatchObject([{ text: expect.stringContaining('process 10') }])
})

it("the kernel's own list: by the place behind a link, and by the name alone once nothing is there", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'volctl-test-'))
  mkdirSync(join(directory.path, 'real'))
  symlinkSync('real', join(directory.path, 'link'))
  await using _server = await serverAt(join(directory.path, 'link/a.sock'))
  const ofTest = (): string[] => [...boundPaths().paths].filter((path) => path.startsWith(directory.path))
  expect(ofTest()).toEqual([join(directory.path, 'link/a.sock')])
  const there = locateSockets([...ofTest(), 'relative/b.sock'], [VIEW])
  expect(there.located.within({ dev: '254:0', path: join(directory.path, 'real') })).toEqual(ofTest())
  expect([...there.loose]).toEqual([['b.sock', 'relative/b.sock']])
  renameSync(join(directory.path, 'real/a.sock'), join(directory.path, 'real/c.sock'))
  expect([...locateSockets(ofTest(), [VIEW]).loose]).toEqual([['a.sock', join(directory.path, 'link/a.sock')]])
})
