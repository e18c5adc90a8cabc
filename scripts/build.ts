/**
 * Builds dist/: volctl.cjs, one minified file with the manifest of the commands inside, and the launcher's compile
 * cache. Two builds of the same source give the same volctl.cjs, byte for byte.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { clientNodePlugin } from './esbuild-client-node.ts'
import { commandManifest } from './manifest.ts'

const root = join(import.meta.dirname, '..')

/** Builds into a folder; returns the bundle's path. */
export async function buildBundle(dist: string): Promise<string> {
  const outfile = join(dist, 'volctl.cjs')
  const manifest = await commandManifest()
  await build({
    stdin: {
      contents:
        `import { main } from './src/main.ts'\n` +
        `void main(${JSON.stringify(manifest)}, require('node:path').join(__dirname, '..'))\n`,
      resolveDir: root,
      sourcefile: 'volctl-entry.ts',
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    minify: true,
    keepNames: true,
    legalComments: 'none',
    charset: 'utf8',
    absWorkingDir: root,
    logLevel: 'warning',
    plugins: [clientNodePlugin()],
  })
  return outfile
}

/** Lets each command's code be compiled once, so that the package carries what V8 made of it. */
function fillCompileCache(launcher: string): void {
  for (const args of [['--version'], ['--help'], ['plan', '--help'], ['plan', '--snapshot', '/nonexistent']]) {
    try {
      execFileSync(process.execPath, [launcher, ...args], { stdio: 'ignore' })
    } catch {
      // The snapshot that is not there: only the loading of the code matters.
    }
  }
}

if (import.meta.main) {
  const dist = join(root, 'dist')
  rmSync(dist, { recursive: true, force: true })
  mkdirSync(join(dist, 'compile-cache'), { recursive: true, mode: 0o755 })
  writeFileSync(join(dist, 'package.json'), '{"type":"commonjs"}\n')
  const bundle = await buildBundle(dist)
  cpSync(join(root, 'scripts', 'launch.cjs'), join(dist, 'launch.cjs'))
  fillCompileCache(join(dist, 'launch.cjs'))
  console.error(`built ${bundle}, ${Math.round(statSync(bundle).size / 1024)} KiB`)
}
