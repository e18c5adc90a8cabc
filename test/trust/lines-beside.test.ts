import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { linesBeside } from '../../src/core/trust/lines-beside.ts'
import { ReadingThread } from '../../src/core/trust/reading-thread.ts'

const MIB = 1024 * 1024
const directory = mkdtempSync(join(tmpdir(), 'volctl-beside-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Lines of many lengths, each with its number, so that none can stand for another. */
function numbered(bytes: number): string {
  const lines: string[] = []
  for (let length = 0, number = 0; length < bytes; number++) {
    const line = `${number} ${'x'.repeat((number * 7919) % 397)}\n`
    lines.push(line)
    length += line.length
  }
  return lines.join('')
}

function file(text: string): string {
  const path = join(directory, 'file')
  writeFileSync(path, text)
  return path
}

function isOpen(path: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      // The descriptor of the listing itself.
      return false
    }
  })
}

/** The files of a test are read too quickly for a thread that starts meanwhile. */
async function started(): Promise<ReadingThread> {
  const thread = new ReadingThread()
  while (!thread.hasStarted()) await nextTurn()
  return thread
}

describe.each([
  { how: 'without a thread', thread: async () => undefined },
  { how: 'with one', thread: started },
])('linesBeside, $how', ({ thread }) => {
  it.each([
    { what: 'an empty file', text: '' },
    { what: 'a short file', text: 'a\nb\n' },
    { what: 'a file without an end of line', text: 'a\nb' },
    { what: 'a file that a thread would read the end of', text: numbered(3 * MIB) },
    { what: 'a long file', text: numbered(24 * MIB) },
    { what: 'a long file without an end of line', text: `${numbered(24 * MIB)}end` },
    { what: 'a long file of whole pieces', text: `${'x'.repeat(63)}\n`.repeat((8 * MIB) / 64) },
    { what: 'a line longer than a piece', text: `${numbered(20 * MIB)}${'y'.repeat(MIB)}\n${numbered(MIB)}` },
    { what: 'a long first line', text: `${'y'.repeat(5 * MIB)}\n${numbered(16 * MIB)}` },
  ])('reads $what: whole lines each time, each once', async ({ text }) => {
    let read = ''
    for await (const piece of linesBeside(file(text), await thread())) {
      if (read.length + piece.length < text.length) expect(piece.at(-1)).toBe('\n'.charCodeAt(0))
      expect(piece.length).toBeGreaterThan(0)
      read += piece.toString()
    }
    expect(read === text).toBe(true)
  })

  it.each([0, 3, 40])('closes the file where no more than %s pieces are wanted', async (wanted) => {
    const path = file(numbered(24 * MIB))
    let pieces = 0
    for await (const _ of linesBeside(path, await thread())) if (pieces++ === wanted) break
    expect(isOpen(path)).toBe(false)
  })
})

describe('linesBeside', () => {
  it.each([
    { how: 'lets other work go on between them', work: () => nextTurn() },
    { how: 'holds the thread up', work: async () => void Array.from({ length: 100_000 }).toString() },
  ])('gives all pieces, whole, to a reader that $how', async ({ work }) => {
    const text = numbered(24 * MIB)
    let read = ''
    for await (const piece of linesBeside(file(text), await started())) {
      await work()
      read += piece.toString()
    }
    expect(read === text).toBe(true)
  })

  it('lets other work go on while the thread reads', async () => {
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    const pieces = linesBeside(file(numbered(24 * MIB)), await started())
    for await (const piece of pieces) expect(piece.length).toBeGreaterThan(0)
    clearInterval(counting)
    expect(turns).toBeGreaterThan(0)
  })

  it('says that a file is missing, or is a directory', async () => {
    const first = (path: string) => linesBeside(path)[Symbol.asyncIterator]().next()
    await expect(first(join(directory, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(first(directory)).rejects.toMatchObject({ code: 'EISDIR' })
  })

  it('has no thread where address space is limited: a second heap would need more than there may be', () => {
    const script = `
      import { readdirSync } from 'node:fs'
      import { ReadingThread } from '${new URL('../../src/core/trust/reading-thread.ts', import.meta.url)}'
      const threads = () => readdirSync('/proc/self/task').length
      const before = threads()
      const thread = new ReadingThread()
      while (!thread.hasStarted() && threads() > before) await new Promise((resolve) => setImmediate(resolve))
      console.log(thread.hasStarted())
      process.exit()`
    const started = (shell: string): string =>
      execFileSync('sh', ['-c', `${shell}exec "$0" "$@"`, process.execPath, '--input-type=module', '-e', script], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    expect(started('')).toBe('true\n')
    expect(started('ulimit -v 3000000; ')).toBe('false\n')
  })

  it('says what the thread is told', async () => {
    await using thread = await started()
    const fd = openSync(directory, 'r')
    const first = thread.read(fd)[Symbol.asyncIterator]().next()
    await expect(first).rejects.toMatchObject({ code: 'EISDIR' })
    closeSync(fd)
  })
})
