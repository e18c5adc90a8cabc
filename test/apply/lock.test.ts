import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { defaultLockFile, takeLock } from '../../src/core/apply/lock.ts'
import { giveAway, NOBODY, noOthersFiles, TRICKS } from '../helpers/others-files.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const HOLDER = fileURLToPath(new URL('./workers/lock-holder.ts', import.meta.url))

interface Holder {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly said: string
}

async function startHolder(path: string): Promise<Holder> {
  const child = spawn(process.execPath, ['--no-warnings', HOLDER, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  const said = await new Promise<string>((resolve) => child.stdout.once('data', (text) => resolve(String(text).trim())))
  return { child, said }
}

async function end({ child }: Holder, signal?: 'SIGKILL'): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve))
  if (signal !== undefined) child.kill(signal)
  child.stdin.end()
  if (child.exitCode === null) await ended
}

describe('the lock', () => {
  let path: string
  beforeEach(() => {
    path = `${temporaryDirectory()}/run/volctl/node.lock`
  })

  it('keeps a second apply out, and names the first', async () => {
    const first = await startHolder(path)
    expect(first.said).toBe('held new')
    expect(() => takeLock(path)).toThrow(
      expect.objectContaining({
        code: 'Locked',
        exit: 1,
        message: expect.stringContaining(`pid ${first.child.pid} of `),
      }),
    )
    await end(first)
    expect(existsSync(path)).toBe(false)
    takeLock(path)[Symbol.dispose]()
    expect(existsSync(path)).toBe(false)
  })

  it('is readable by its owner alone, and leaves nothing else behind', () => {
    const lock = takeLock(path)
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid, user: expect.any(String) })
    lock[Symbol.dispose]()
    expect(readdirSync(path.slice(0, path.lastIndexOf('/')))).toEqual([])
  })

  it('of an owner whose pid is another process’s now is taken over', () => {
    const bootID = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    takeLock(path)[Symbol.dispose]()
    writeFileSync(path, JSON.stringify({ pid: process.pid, startTime: '1', bootID, user: 'x', since: 'then' }))
    using lock = takeLock(path)
    expect(lock.takenOverFrom).toMatchObject({ pid: process.pid, startTime: '1' })
  })

  it('of an owner that was killed goes to exactly one of many that want it at once, and it says from whom', async () => {
    const first = await startHolder(path)
    await end(first, 'SIGKILL')
    const holders = await Promise.all(Array.from({ length: 3 }, () => startHolder(path)))
    const held = holders.flatMap(({ said }) => (said.startsWith('Locked ') ? [] : said))
    expect(held).toEqual([`held ${first.child.pid}`])
    await Promise.all(holders.map((holder) => end(holder)))
  })

  it.for(TRICKS)('is not taken where $name lies in its place: one line, and nothing waits', (trick, context) => {
    const { make, says, skip } = trick
    context.skip(skip !== undefined, skip)
    mkdirSync(dirname(path), { recursive: true })
    const victim = `${path}.victim`
    writeFileSync(victim, 'precious')
    make(path, victim)
    const before = lstatSync(path)
    expect(() => takeLock(path)).toThrow(
      expect.objectContaining({
        code: 'Locked',
        message: expect.stringMatching(new RegExp(`^the lock file ${path} could not be created: it [^\n]*${says}$`)),
        hint: expect.any(String),
      }),
    )
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(lstatSync(path)).toEqual(before)
    expect(readdirSync(dirname(path))).toHaveLength(2)
  })

  it.skipIf(noOthersFiles !== undefined).each([
    { name: 'its directory', given: () => dirname(path) },
    { name: 'a directory above', given: () => dirname(dirname(path)) },
  ])('is not taken where $name is of another user', (row) => {
    const given = row.given()
    mkdirSync(dirname(path), { recursive: true })
    giveAway(given, 'owner')
    expect(() => takeLock(path)).toThrow(
      expect.objectContaining({
        code: 'Locked',
        message: expect.stringContaining(`${given} belongs to uid ${NOBODY}`),
      }),
    )
    expect(readdirSync(dirname(path))).toEqual([])
  })

  it('does not become part of a path by what a lock file says', () => {
    takeLock(path)[Symbol.dispose]()
    writeFileSync(path, JSON.stringify({ pid: 1, startTime: '/../../../evil', bootID: 'x', user: 'x', since: 'x' }))
    using lock = takeLock(path)
    expect(lock.takenOverFrom).toBeUndefined()
  })

  it('is one file for a root directory, by whatever path it is reached', () => {
    const root = temporaryDirectory()
    symlinkSync(root, `${root}/link`)
    expect(defaultLockFile(`${root}/link`)).toBe(defaultLockFile(root))
    expect(defaultLockFile(root)).toMatch(/^\/proc\/1\/root\/run\/volctl\/[0-9a-f]{16}\.lock$/)
    expect(() => defaultLockFile('/nonexistent')).toThrow(
      expect.objectContaining({ code: 'Locked', message: expect.stringMatching(/lock/) }),
    )
  })
})
