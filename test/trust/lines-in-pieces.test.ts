import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { linesInPieces } from '../../src/core/trust/kernel.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const KIB = 1024

describe('linesInPieces', () => {
  const directory = temporaryDirectory()

  it.each([
    { name: 'an empty file', lines: [], pieces: 0 },
    { name: 'many short lines', lines: Array.from({ length: 20_000 }, (_, n) => `${n} ${'x'.repeat(45)}`), pieces: 4 },
    { name: 'a line that is longer than a piece', lines: ['a', 'y'.repeat(700 * KIB), 'b'], pieces: 2 },
  ])('reads $name, whole lines each time', ({ lines, pieces }) => {
    const path = join(directory, 'file')
    const text = lines.map((line) => `${line}\n`).join('')
    writeFileSync(path, text)
    const found = [...linesInPieces(path)].length
    let read = ''
    for (const piece of linesInPieces(path)) {
      expect(piece.at(-1)).toBe('\n'.charCodeAt(0))
      read += piece.toString()
    }
    expect(read === text).toBe(true)
    expect(found).toBe(pieces)
  })

  it('needs one buffer for a file of any length, so that a table of 50 MB is not in memory at once', () => {
    const path = join(directory, 'long')
    writeFileSync(path, `${'z'.repeat(99)}\n`.repeat(50_000))
    const buffers = new Set<ArrayBufferLike>()
    for (const piece of linesInPieces(path)) buffers.add(piece.buffer)
    expect([...buffers].map(({ byteLength }) => byteLength)).toEqual([256 * KIB])
  })
})
