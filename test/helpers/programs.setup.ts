/** Bundles the programs that the tests start, once for a whole run: each is started many times. */
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { TestProject } from 'vitest/node'
import { makeMessages } from '../../scripts/proto.ts'
import { startSweeper, sweepRun } from './left-behind.ts'
import { allowMachines } from './own-machine.ts'
import { BUNDLES, KEEP_COMPILED } from './programs.ts'
import { noteStrangers } from './strangers-here.ts'

const root = join(import.meta.dirname, '..', '..')

const PROGRAMS = [
  'test/**/*.worker.ts',
  'test/**/workers/*.ts',
  'test/e2e/scenarios/*.ts',
  'test/helpers/**/{main,daemon}.ts',
]

/** What vitest calls before the first test; returns what it calls after the last. */
export default async function setup(project: TestProject): Promise<() => void> {
  noteStrangers()
  const directory = mkdtempSync(join(tmpdir(), 'volctl-programs-'))
  const allSwept = startSweeper(directory)
  const endMachines = allowMachines(directory)
  await bundle(directory)
  // A third of what it costs to start a worker is the compiling.
  const kept = JSON.stringify(join(directory, 'compiled'))
  writeFileSync(join(directory, KEEP_COMPILED), `require('node:module').enableCompileCache(${kept})\n`)
  // While vitest watches, a source may have changed.
  project.onTestsRerun(() => bundle(directory))
  process.env[BUNDLES] = directory
  return () => {
    endMachines()
    delete process.env[BUNDLES]
    sweepRun(directory)
    allSwept()
  }
}

async function bundle(directory: string): Promise<void> {
  makeMessages()
  await build({
    entryPoints: globSync(PROGRAMS, { cwd: root }),
    outdir: directory,
    outbase: root,
    absWorkingDir: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Modules that several programs share are in separate files: one parse by esbuild, less on the disk.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    banner: { js: REQUIRE },
    logLevel: 'warning',
    plugins: [ownPlaces],
  })
}

/** CommonJS packages load Node's modules this way. */
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

/**
 * A bundle is in another directory, and has many modules in one file: each module keeps its source's path, by which it finds
 * files beside it.
 */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const places: Readonly<Record<string, string>> = {
        url: pathToFileURL(path).href,
        filename: path,
        dirname: dirname(path),
      }
      const source = readFileSync(path, 'utf8')
      const contents = source.replaceAll(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name) =>
        JSON.stringify(places[name]),
      )
      return { contents, loader: 'ts' }
    })
  },
}
