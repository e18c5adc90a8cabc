import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const generated = 'src/core/grpc/gen'

function filesBelow(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(paths.map((path) => [path.slice(directory.length + 1), readFileSync(path, 'utf8')]))
}

test('the generated messages are what `npm run proto` makes of proto/ today', { timeout: 30_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-proto-'))
  try {
    const bin = join(root, 'node_modules/.bin')
    execFileSync(join(bin, 'buf'), ['generate', 'proto', '--output', directory], {
      cwd: root,
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    })
    const fresh = filesBelow(join(directory, generated))
    expect(Object.keys(fresh)).toContain('csi/v1/csi_pb.js')
    expect(filesBelow(join(root, generated))).toEqual(fresh)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
