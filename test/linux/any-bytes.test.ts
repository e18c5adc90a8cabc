/** Tables of mounts with any bytes in their paths, in pieces of any size: every reader finds what a plain search finds. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { tableAt } from '../../src/core/linux/stable-table.ts'

const { VOLCTL_FUZZ: asked } = process.env
const parameters = asked === undefined ? { numRuns: 100, seed: 1136 } : { numRuns: Number(asked) }

const SPECIAL = ['a', 'pods', 'x (deleted)', ' (deleted)', '\\040', 'é', '\r', '\u2028', ' ', '\n', '-']
const name = fc.oneof(
  fc.constantFrom(...SPECIAL).map((text) => Buffer.from(text)),
  fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes.map(withoutSlash))),
)
const path = fc.array(name, { maxLength: 4 }).map((names) => {
  return names.length === 0 ? Buffer.from('/') : Buffer.concat(names.flatMap((each) => [Buffer.from('/'), each]))
})
const mount = fc.record({ root: path, mountPoint: path, source: fc.oneof(fc.constant(Buffer.alloc(0)), name) })

function withoutSlash(byte: number): number {
  return byte === 0 || byte === 0x2f ? 0x5f : byte
}

/** As the kernel writes it (fs/seq_file.c). */
function escaped(bytes: Buffer): string {
  const octal = (char: string): string => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`
  return bytes.toString('latin1').replaceAll(/[ \t\n\\]/g, octal)
}

/** As a file gives it: some whole lines at a time. */
function pieces(bytes: Buffer, atOnce: number): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < bytes.length; at += found.at(-1)?.length ?? 0)
    found.push(bytes.subarray(at, bytes.indexOf('\n', at + atOnce) + 1 || bytes.length))
  return found
}

const undeleted = (text: string): string => text.replace(/ \(deleted\)$/, '')

it('every reader finds what a plain search finds', () => {
  const table = fc.array(mount, { maxLength: 20 })
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 40 }), fc.boolean(), (mounts, atOnce, isCut) => {
      const lines = mounts.map(
        ({ root, mountPoint, source }, index) =>
          `${index + 1} 0 0:7 ${escaped(root)} ${escaped(mountPoint)} rw shared:1 - tmpfs ${escaped(source)} rw`,
      )
      const text = Buffer.from(`${lines.join('\n')}${isCut || lines.length === 0 ? '' : '\n'}`, 'latin1')
      const cut = pieces(text, atOnce)
      expect(Buffer.concat(cut).equals(text)).toBe(true)
      const wanted = mounts.map((each, index) => ({
        id: index + 1,
        root: each.root.toString(),
        mountPoint: each.mountPoint.toString(),
        source: each.source.toString(),
      }))
      for (const found of [parseMountinfo(text), tableAt('', undefined, '6.1.0', () => cut)]) {
        const all = found.all.map(({ id, root, mountPoint, source }) => ({ id, root, mountPoint, source }))
        expect(all).toEqual(wanted)
        for (const { mountPoint } of wanted) {
          const there = wanted.filter(
            (each) => each.mountPoint === mountPoint || undeleted(each.mountPoint) === mountPoint,
          )
          expect(found.at(mountPoint).map(({ id }) => id)).toEqual(there.map(({ id }) => id))
          const below = wanted.filter((each) => undeleted(each.mountPoint).startsWith(`${mountPoint}/`))
          if (mountPoint !== '/') {
            const groups = [...found.below(mountPoint).values()]
            expect(
              groups
                .flat()
                .map(({ id }) => id)
                .toSorted((a, b) => a - b),
            ).toEqual(below.map(({ id }) => id))
          }
        }
      }
    }),
    parameters,
  )
})
