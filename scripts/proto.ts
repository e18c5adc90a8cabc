/**
 * Makes src/core/rpc/gen of proto/: the messages and services that volctl speaks. They are not kept: whoever bundles or
 * checks the source calls this first, and it remakes them if proto/, how they are made or who makes them has changed.
 * buf and protoc-gen-es come with `npm ci`; nothing is asked of the network.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdtempDisposableSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'

const require = createRequire(import.meta.url)
const root = join(import.meta.dirname, '..')
const GENERATED = join('src', 'core', 'rpc', 'gen')

export function makeMessages(): void {
  const made = join(root, GENERATED)
  const stamp = join(made, 'made-of')
  const sources = sourcesOfMessages()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  // Made beside, and swapped in whole: another build may be reading.
  using temporary = mkdtempDisposableSync(join(root, 'src', 'core', 'rpc', '.gen-'))
  const fresh = temporary.path
  const bin = join(root, 'node_modules', '.bin')
  const buf = require.resolve('@bufbuild/buf/bin/buf')
  execFileSync(process.execPath, [buf, 'generate', 'proto', '--output', fresh], {
    cwd: root,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  writeFileSync(join(fresh, GENERATED, 'made-of'), sources)
  if (existsSync(made)) renameSync(made, join(fresh, 'stale'))
  renameSync(join(fresh, GENERATED), made)
}

/** A digest of all that decides what is made. */
function sourcesOfMessages(): string {
  const digest = createHash('sha256')
  const makers = ['buf', 'protoc-gen-es'].map((name) => join('node_modules', '@bufbuild', name, 'package.json'))
  for (const path of [...globSync('proto/**/*.proto', { cwd: root }).toSorted(), 'buf.gen.yaml', ...makers]) {
    digest
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  }
  return `${digest.digest('hex')}\n`
}

if (import.meta.main) makeMessages()
