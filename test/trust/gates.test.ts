/**
 * There is one gate for files, programs, processes, namespaces, bytes and the environment (S32 to S34), and no other way:
 * what opens a file, starts a program or reads the environment stands in src/core/trust and nowhere else.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const SOURCE = join(import.meta.dirname, '..', '..', 'src')
const GATES = 'core/trust/'

/** Of node:fs: what neither opens a file nor writes to one by its path. */
const HARMLESS = new Set(
  [
    ['constants', 'Stats', 'Dir', 'Dirent', 'BigIntStats'],
    ['lstatSync', 'statSync', 'existsSync', 'accessSync', 'readdirSync', 'opendirSync', 'readlinkSync', 'realpathSync'],
    ['closeSync', 'fstatSync', 'fsyncSync', 'readSync', 'writeSync', 'fchmodSync', 'fchownSync'],
    [
      'mkdirSync',
      'rmdirSync',
      'unlinkSync',
      'renameSync',
      'linkSync',
      'symlinkSync',
      'chmodSync',
      'chownSync',
      'lchownSync',
    ],
  ].flat(),
)

/** What a text does that only a gate may do, in words. */
const FORBIDDEN: readonly {
  readonly what: string
  readonly find: (text: string) => boolean
  readonly example: string
}[] = [
  {
    what: 'opens a file',
    find: (text) => namesOfFs(text).some((name) => !HARMLESS.has(name)),
    example: `import { closeSync, type Stats, openSync as open } from 'node:fs'`,
  },
  {
    what: 'reaches the file system in another way',
    find: matches(
      /(?:import\s*\(|require\s*\(|\*\s+as\s+\w+\s+from|import\s+\w+\s+from)\s*['"](?:node:)?fs['"]|['"](?:node:)?fs\/promises['"]/,
    ),
    example: `const fs = await import('node:fs')`,
  },
  {
    what: 'starts a program',
    find: imports('child_process|cluster|worker_threads|execa'),
    example: `const { spawn } = await import('node:child_process')`,
  },
  {
    what: 'enters a namespace',
    find: matches(/['"]nsenter['"]|\bsetns\(/),
    example: `runCommand('nsenter', [])`,
  },
  {
    what: 'loads code by its path',
    find: (text) => imports('vm|module|ffi')(text) || /\bcreateRequire\b|\bprocess\.(?:dlopen|binding)\b/.test(text),
    example: `createRequire(import.meta.url)`,
  },
  {
    what: 'reads the environment',
    find: matches(/\bprocess\s*\.\s*env\b|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|\benv\b[^\n]*['"]node:process['"]/),
    example: 'const { env } = process',
  },
  {
    what: 'unpacks bytes',
    find: matches(
      /\b(?:gunzip|inflate|unzip|brotliDecompress|zstdDecompress)(?:Raw)?(?:Sync)?\b|\bcreate(?:Gunzip|Unzip|Inflate)/,
    ),
    example: `const { gunzip } = await import('node:zlib')`,
  },
]

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text)
}

function imports(modules: string): (text: string) => boolean {
  return matches(new RegExp(`(?:from|import|import\\s*\\(|require\\s*\\()\\s*['"](?:node:)?(?:${modules})['"]`))
}

/** What a text imports of node:fs by name. */
function namesOfFs(text: string): string[] {
  return [...text.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+['"](?:node:)?fs['"]/g)].flatMap(
    ([, list = '']) => list.split(',').flatMap((item) => /^\s*(?:type\s+)?(\w+)/.exec(item)?.[1] ?? []),
  )
}

const files = readdirSync(SOURCE, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(SOURCE, join(entry.parentPath, entry.name)))
  .filter((path) => !path.startsWith(GATES))

const texts = new Map(files.map((path) => [path, withoutComments(readFileSync(join(SOURCE, path), 'utf8'))]))

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}

describe('S32 to S34: there is no way around the gates', () => {
  it.each(FORBIDDEN)('a file that $what is found', ({ find, example }) => expect(find(example)).toBe(true))

  it.each(FORBIDDEN)('no file outside of them $what', ({ find }) => {
    expect([...texts].flatMap(([path, text]) => (find(text) ? path : []))).toEqual([])
  })

  it('all of the source is read', () => expect(files.length).toBeGreaterThan(300))
})
