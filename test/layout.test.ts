import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** The rooms of src/core as ARCHITECTURE.md lists them, the ground first: each may import those that stand before it. */
const ROOMS = [
  ...readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').matchAll(
    /^\| [a-zA-Z' ]+ \| (`[a-z/-]+`(?: `[a-z/-]+`)*) \|/gm,
  ),
].flatMap(([, rooms = '']) => rooms.replaceAll('`', '').split(' '))

/** Made from the .proto files, not written. */
const GENERATED = /^src\/core\/rpc\/gen\//

const files = globSync('src/**/*.ts', { cwd: ROOT })
const imports = new Map(files.map((file) => [file, importsOf(file)]))

/** Types count: who has to know of a thing to be read is what the order is about. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  )
}

/** What an import of the file loads, `import()` aside: types alone load nothing. */
function loadedWith(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file)) return loaded
  loaded.add(file)
  const text = readFileSync(join(ROOT, file), 'utf8')
  for (const [, path = ''] of text.matchAll(/^(?:import|export)(?! type\b)(?: [^'"=(;]*? from)? '(\.[^']+\.ts)'/gm))
    loadedWith(normalize(join(dirname(file), path)), loaded)
  return loaded
}

function roomOf(file: string): string {
  return dirname(file).replace(/^src\/core\//, '')
}

describe('the rooms of src/core', () => {
  it('are those of ARCHITECTURE.md', () => {
    const found = files.filter((file) => file.startsWith('src/core/') && !GENERATED.test(file)).map(roomOf)
    expect([...ROOMS].toSorted()).toEqual([...new Set(found)].toSorted())
  })

  it('import only rooms that stand before them', () => {
    const height = (file: string): number => {
      const room = roomOf(file)
      if (GENERATED.test(file)) return ROOMS.indexOf('rpc')
      return room.startsWith('src') ? ROOMS.length : ROOMS.indexOf(room)
    }
    const up = [...imports].flatMap(([file, targets]) =>
      targets.filter((target) => height(target) > height(file)).map((target) => `${file} -> ${target}`),
    )
    expect(up).toEqual([])
  })

  it('have no circle of files', () => {
    const done = new Set<string>()
    const circles: string[] = []
    const visit = (file: string, way: readonly string[]): void => {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '))
      if (done.has(file) || way.includes(file)) return
      for (const target of imports.get(file) ?? []) visit(target, [...way, file])
      done.add(file)
    }
    for (const file of files) visit(file, [])
    expect(circles).toEqual([])
  })
})

describe('a start', () => {
  const loaded = loadedWith('src/main.ts')

  it('loads what an error needs', () => expect(loaded).toContain('src/core/base/errors.ts'))

  // Types follow from shapes, so one import that is not `import type` would have each `--version` make every shape.
  it('loads no shape', () => expect(loaded).not.toContain('src/core/trust/shape.ts'))
})
