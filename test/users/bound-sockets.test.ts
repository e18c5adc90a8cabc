/** Which files are bound unix sockets, as the kernel says it, wherever their paths lead. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { locate } from '../../src/core/linux/location.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { boundAt, boundSockets } from '../../src/core/users/kernel-files.ts'
import { noRoot } from '../helpers/namespace.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const table = parseMountinfo(readFileSync('/proc/self/mountinfo'))

// Names that look like the end of a line of ss(8), or end it.
it.skipIf(noRoot !== undefined).each(['a.sock', 'b c.sock', 'd\ne', 'f 1 * 0 <-> ino:5 dev:0'])(
  `a file under another name than it was bound by: %j${noRoot === undefined ? '' : ` (${noRoot})`}`,
  async (name) => {
    const directory = temporaryDirectory()
    const real = join(directory, 'real')
    mkdirSync(real)
    symlinkSync('real', join(directory, 'link'))
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(join(directory, 'link', name), resolve))
    renameSync(join(real, name), join(real, 'moved'))
    const file = { dev: locate(table, real)?.dev ?? '', inode: statSync(join(real, 'moved')).ino }
    const bound = async (inode = file.inode): Promise<string | undefined> =>
      boundAt(await boundSockets(), { ...file, inode })
    const [lastLine = ''] = name.split('\n').slice(-1)
    expect(await bound()).toMatch(
      new RegExp(`^the unix socket that is bound to .*${RegExp.escape(lastLine)} by .+ \\(pid ${process.pid}\\)$`),
    )
    // The kernel tells 32 bits of it.
    expect(await bound(file.inode + 2 ** 32)).toBeDefined()
    // An inode that no file has; a neighbour's number may be another test's socket.
    expect(await bound(0)).toBeUndefined()
    await new Promise((resolve) => server.close(resolve))
    expect(await bound()).toBeUndefined()
  },
)

it.each([
  { what: 'does not end', ends: { status: undefined, timedOut: true }, says: 'ss did not end' },
  { what: 'has no inodes', ends: { status: 0, timedOut: false }, says: 'ss does not show the inodes' },
])('a network of which ss(8) $what is unknown, with a process; none of anybody’s (S39)', async ({ ends, says }) => {
  const anybody = spawn('unshare', ['-Urn', 'sh', '-c', 'echo; read end'])
  // Also where there are no user namespaces.
  await once(anybody.stdout, 'readable')
  const { unseen } = await boundSockets(async (_program, _args, _deadlineMs, _input, { onLine } = {}) => {
    onLine?.('u_str LISTEN 0      1      /run/a 8740349 * 0')
    return { stdout: '', stderr: '', ...ends }
  })
  anybody.kill()
  expect(unseen[0]?.text).toMatch(
    new RegExp(`^the unix sockets in the network of .+ \\(pid \\d+\\) could not be read: ${says}$`),
  )
  expect(unseen.filter(({ text }) => text.includes(`(pid ${anybody.pid})`))).toEqual([])
})
