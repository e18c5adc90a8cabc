/**
 * Builds dist/: volctl.cjs, one minified file with the manifest of the commands inside, child.cjs, and the launcher's
 * code cache. Two builds of the same source give the same bundles, byte for byte.
 *
 * Beside it dist-tests/, which is never shipped: the same volctl, that looks at the node of VOLCTL_TEST_HOST where that is set
 * (test/helpers/test-host.ts), with its own bin/.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import Module from 'node:module'
import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { PACKAGES } from './esbuild-plugins.ts'
import { commandManifest } from './manifest.ts'
import { makeMessages } from './proto.ts'

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
  // Without it one bit of a function that is called often depends on when V8 began to count its calls.
  '--no-lazy-feedback-allocation',
  // The bytecode notes what kind of strings are compared, and that depends on when garbage was collected.
  '--predictable-gc-schedule',
]

/** The bundle of the commands, and that of volctl's own children. */
export const BUNDLES = ['volctl.cjs', 'child.cjs'] as const
type Bundle = (typeof BUNDLES)[number]

/** Who starts it: people, or the tests. */
type For = 'people' | 'tests'

/** Builds into a folder; returns the bundles' paths, that of the commands first. */
export async function buildBundles(dist: string, user: For = 'people'): Promise<readonly string[]> {
  return await Promise.all(
    BUNDLES.map(async (name) => {
      const outfile = join(dist, name)
      await build({ ...(await bundleOptions(name, user)), outfile })
      makeLoadable(outfile)
      return outfile
    }),
  )
}

/** As load-bundle.cjs loads it: plain ASCII, in the function that Node.js makes of a module. */
function makeLoadable(bundle: string): void {
  // esbuild leaves regular expressions as they are; there an escape means the same.
  const escaped = readFileSync(bundle, 'utf8').replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  // Once, here: to a text of this size a process would add it by a copy, at each start.
  writeFileSync(bundle, Module.wrap(escaped))
}

/** The files with something in a bundle, by their real paths. What a plug-in has made up is not among them. */
export async function bundledFiles(): Promise<readonly string[]> {
  const names = await Promise.all(
    BUNDLES.map(async (outfile) => {
      const { metafile } = await build({
        ...(await bundleOptions(outfile, 'people')),
        write: false,
        metafile: true,
        outfile,
      })
      const inputs = Object.values(metafile?.outputs ?? {}).flatMap((output) => Object.entries(output.inputs))
      return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([name]) => join(root, name))
    }),
  )
  return [...new Set(names.flat())].filter((name) => existsSync(name)).map((name) => realpathSync(name))
}

async function entryOf(bundle: Bundle, user: For): Promise<string> {
  if (bundle === 'child.cjs') return `import { runChild } from './src/child.ts'\nvoid runChild()\n`
  const manifest = JSON.stringify(await commandManifest())
  const node = user === 'people' ? 'undefined' : 'testHost'
  return `
    import { main } from './src/main.ts'
    import { PROCESS } from './src/core/trust/run.ts'
    ${user === 'people' ? '' : "import { testHost } from './test/helpers/test-host.ts'"}
    const [, script, ...argv] = process.argv
    const root = require('node:path').join(__dirname, '..')
    main(argv, PROCESS, { manifest: ${manifest}, root, script, node: ${node} }).then((status) => process.exit(status))
  `
}

async function bundleOptions(bundle: Bundle, user: For): Promise<BuildOptions> {
  makeMessages()
  return {
    stdin: {
      contents: await entryOf(bundle, user),
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
    plugins: bundle === 'child.cjs' ? [] : [...PACKAGES],
  }
}

/** A recorded node. */
export const CAPTURE = join(root, 'test', 'fixtures', 'captures', 'forcedel-killed', 'before.json')
/** What a plan has compiled; not of a live node, whose answers come in another order each time. */
export const WARM_UP = ['plan', '--orphans', '--snapshot', CAPTURE]

async function fillDist(dist: string, user: For): Promise<void> {
  mkdirSync(dist, { recursive: true, mode: 0o755 })
  writeFileSync(join(dist, 'package.json'), '{"type":"commonjs"}\n')
  await buildBundles(dist, user)
  for (const name of LAUNCHER) cpSync(join(root, 'scripts', name), join(dist, name))
  const maker = join(root, 'scripts', 'make-code-cache.cjs')
  execFileSync(process.execPath, [maker, dist])
  execFileSync(process.execPath, [...SAME_BYTES, maker, dist, ...WARM_UP], { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** As npm installs it, but that its launchers keep one variable more. */
async function fillTests(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  await fillDist(dist, 'tests')
  // For those who run `main` in their own process (test/helpers/run-main.ts).
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(await commandManifest()))
  const name = 'VOLCTL_TEST_HOST'
  edit(join(dist, 'kept-environment.cjs'), 'exports.KEPT = [', `exports.KEPT = ['${name}',`)
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  const word = '  ${SUDO_UID+'
  edit(join(folder, 'bin', 'volctl'), word, `  \${${name}+"${name}=$${name}"} ${word.trimStart()}`)
  // Root takes no Node.js of the PATH.
  symlinkSync(join('..', 'node_modules'), join(folder, 'node_modules'))
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${path} has no ${from}`)
  const edited = text.replace(from, () => to)
  writeFileSync(path, edited)
}

/** Built beside the folder and swapped in when complete: a volctl that starts meanwhile finds one or the other. */
async function swapIn(folder: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${folder}.new-${process.pid}`
  const stale = `${folder}.old-${process.pid}`
  try {
    await fill(fresh)
    if (existsSync(folder)) renameSync(folder, stale)
    renameSync(fresh, folder)
  } finally {
    for (const path of [fresh, stale]) rmSync(path, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const dist = join(root, 'dist')
  await swapIn(dist, (fresh) => fillDist(fresh, 'people'))
  await swapIn(join(root, 'dist-tests'), fillTests)
  console.error(`built dist/volctl.cjs, ${Math.round(statSync(join(dist, BUNDLES[0])).size / 1024)} KiB`)
}
