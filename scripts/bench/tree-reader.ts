/** The reading of a kubelet's directories as a separate program, which starts as the executable does. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { makeLoadable, SAME_BYTES } from '../build.ts'
import { type LazyPackages, loadLazily } from '../esbuild-lazy.ts'
import { EXEC_ARGV } from '../package/executable.ts'
import { timed } from './measure.ts'
import type { Scene } from './scene.ts'

/** Parts of Node.js that reading directories does not use. A plan has them for its connections. */
const UNUSED: LazyPackages = { 'node:crypto': ['createHmac', 'hash', 'randomBytes'], 'node:net': ['isIPv6'] }

const scripts = join(import.meta.dirname, '..')

/** Bundled, minified and with V8's code cache of one reading of the scene. @returns the command */
export async function makeTreeReader(directory: string, scene: Scene): Promise<readonly string[]> {
  await build({
    entryPoints: [join(scripts, 'bench', 'read-tree.ts')],
    outfile: join(directory, 'volctl.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    minify: true,
    keepNames: true,
    charset: 'ascii',
    logLevel: 'warning',
    plugins: [{ name: 'unused', setup: (pluginBuild) => loadLazily(pluginBuild, 'unused', /\/src\/core\//, UNUSED) }],
  })
  makeLoadable(join(directory, 'volctl.cjs'))
  cpSync(join(scripts, 'load-bundle.cjs'), join(directory, 'load-bundle.cjs'))
  const maker = [join(scripts, 'make-code-cache.cjs'), directory]
  await timed({ command: [process.execPath, ...maker] })
  await timed(scene.inside([process.execPath, ...SAME_BYTES, ...maker, scene.rootDir]))
  return [process.execPath, ...EXEC_ARGV, join(scripts, 'bench', 'launch-reader.cjs'), directory, scene.rootDir]
}
