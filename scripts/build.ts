/**
 * Builds dist/: volctl.cjs, one minified file with the manifest of the commands inside, child.cjs, the rules that `explain`
 * prints, and the launcher's code cache. Two builds of the same source give the same bundles, byte for byte.
 */
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { type BuildOptions, build } from 'esbuild'
import { noMounts, unshareArguments } from '../test/helpers/namespace.ts'
import { clientNodePlugin } from './esbuild-client-node.ts'
import { oclifPlugin } from './esbuild-oclif.ts'
import { commandManifest } from './manifest.ts'
import { makeMessages } from './proto.ts'
import { ruleEntries } from './rule-books.ts'
import { sourceCommit } from './source-commit.ts'
import { startWarmNode } from './warm-up.ts'

const root = join(import.meta.dirname, '..')
const LAUNCHER = ['launch.cjs', 'kept-environment.cjs', 'load-bundle.cjs']

/** V8 compiles the same then, and writes it in the same order (make-code-cache.cjs). */
export const SAME_BYTES = [
  '--hash-seed=1',
  '--random-seed=1',
  '--predictable',
  '--single-threaded',
  '--no-flush-bytecode',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
]

/** The bundle of the commands, and that of volctl's own children. */
export const BUNDLES = ['volctl.cjs', 'child.cjs'] as const
type Bundle = (typeof BUNDLES)[number]

/** Builds into a folder; returns the bundles' paths, that of the commands first. */
export async function buildBundles(dist: string): Promise<readonly string[]> {
  return await Promise.all(
    BUNDLES.map(async (name) => {
      const outfile = join(dist, name)
      await build({ ...(await bundleOptions(name)), outfile })
      // esbuild leaves regular expressions as they are; there an escape means the same.
      const escaped = readFileSync(outfile, 'utf8').replaceAll(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      writeFileSync(outfile, escaped)
      return outfile
    }),
  )
}

/** The files of which something is in a bundle, by their real paths. What a plug-in has made up is not among them. */
export async function bundledFiles(): Promise<readonly string[]> {
  const names = await Promise.all(
    BUNDLES.map(async (outfile) => {
      const { metafile } = await build({ ...(await bundleOptions(outfile)), write: false, metafile: true, outfile })
      const inputs = Object.values(metafile?.outputs ?? {}).flatMap((output) => Object.entries(output.inputs))
      return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([name]) => join(root, name))
    }),
  )
  return [...new Set(names.flat())].filter((name) => existsSync(name)).map((name) => realpathSync(name))
}

async function entryOf(bundle: Bundle): Promise<string> {
  if (bundle === 'child.cjs') return `import { runChild } from './src/child.ts'\nvoid runChild()\n`
  const manifest = JSON.stringify(await commandManifest())
  return `import { main } from './src/main.ts'\nvoid main(${manifest}, require('node:path').join(__dirname, '..'))\n`
}

async function bundleOptions(bundle: Bundle): Promise<BuildOptions> {
  makeMessages()
  return {
    stdin: {
      contents: await entryOf(bundle),
      resolveDir: root,
      sourcefile: 'volctl-entry.ts',
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    minify: true,
    keepNames: true,
    legalComments: 'none',
    // Read as one byte a character: half the memory, and no decoding.
    charset: 'ascii',
    absWorkingDir: root,
    logLevel: 'warning',
    plugins: [clientNodePlugin(), oclifPlugin()],
    define: { VOLCTL_COMMIT: JSON.stringify(sourceCommit(root)) },
  }
}

/**
 * Runs a plan of a live node, so that the package contains V8's compiled form of the code that a plan needs. In a mount
 * namespace of its own: as root, volctl refuses a test host where a real node may be. On a machine that allows no namespace,
 * the cache contains the code that was compiled until volctl refused.
 */
async function makeCodeCache(dist: string): Promise<void> {
  const maker = join(root, 'scripts', 'make-code-cache.cjs')
  await using node = await startWarmNode(join(root, 'test', 'fixtures', 'captures', 'forcedel-killed', 'before.json'))
  const env = { ...process.env, ...node.env }
  await promisify(execFile)(process.execPath, [maker, dist])
  const plan = [process.execPath, ...SAME_BYTES, maker, dist, 'plan', '--orphans']
  const [command = '', ...args] = noMounts === undefined ? ['unshare', ...unshareArguments, ...plan] : plan
  try {
    // Not the synchronous call: the node's API server ends when the pipe that is read here is closed.
    await promisify(execFile)(command, args, { env })
  } catch (error) {
    if (noMounts === undefined) throw error
    console.error(`the code cache is not whole, volctl starts slower: ${noMounts}`)
  }
}

if (import.meta.main) {
  const dist = join(root, 'dist')
  // Built beside dist/ and swapped in when complete: a volctl that starts meanwhile finds one or the other.
  const fresh = `${dist}.new-${process.pid}`
  const stale = `${dist}.old-${process.pid}`
  try {
    mkdirSync(fresh, { recursive: true, mode: 0o755 })
    writeFileSync(join(fresh, 'package.json'), '{"type":"commonjs"}\n')
    const [bundle = ''] = await buildBundles(fresh)
    for (const name of LAUNCHER) cpSync(join(root, 'scripts', name), join(fresh, name))
    // Beside the bundle, since the rules would make the bundle larger for all commands.
    writeFileSync(join(fresh, 'rules.md'), ruleEntries())
    await makeCodeCache(fresh)
    if (existsSync(dist)) renameSync(dist, stale)
    renameSync(fresh, dist)
    console.error(`built dist/volctl.cjs, ${Math.round(statSync(join(dist, basename(bundle))).size / 1024)} KiB`)
  } finally {
    for (const path of [fresh, stale]) rmSync(path, { recursive: true, force: true })
  }
}
