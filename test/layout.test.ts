import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** The folders of src/core with their floors, as ARCHITECTURE.md has them. */
const FLOORS = new Map(
  Array.from(
    readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').matchAll(/^\| (\d+) \| `([a-z]+)` \|/gm),
    ([, floor, folder = '']) => [folder, Number(floor)] as const,
  ),
)

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

/** Undefined: outside src/core. */
function folderOf(file: string): string | undefined {
  return /^src\/core\/([^/]+)\//.exec(file)?.[1]
}

describe('the folders of src/core', () => {
  it('are those of ARCHITECTURE.md, on at most ten floors', () => {
    const found = new Set(files.flatMap((file) => folderOf(file) ?? []))
    expect([...FLOORS.keys()].toSorted()).toEqual([...found].toSorted())
    expect(Math.max(...FLOORS.values())).toBeLessThanOrEqual(10)
  })

  it('import only from floors below', () => {
    const floorOf = (file: string): number => FLOORS.get(folderOf(file) ?? '') ?? Number.POSITIVE_INFINITY
    const up = [...imports].flatMap(([file, targets]) =>
      targets
        .filter(
          (target) =>
            target.startsWith('src/') && folderOf(target) !== folderOf(file) && floorOf(target) >= floorOf(file),
        )
        .map((target) => `${file} -> ${target}`),
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

  it('loads what an error needs', () => expect(loaded).toContain('src/core/messages/findings.ts'))

  // Types follow from shapes, so one import that is not `import type` would have each `--version` make every shape.
  it('loads no shape', () => expect(loaded).not.toContain('src/core/trust/shape.ts'))
})
