/** How the tests' own programs (workers, servers, drivers) are started: from bundles, which a run makes when they are first needed. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** In the environment of a run: the directory with the bundles (see programs.setup.ts). */
export const BUNDLES = 'VOLCTL_TEST_PROGRAMS'

/** Beside the bundles: has Node.js keep what it compiles. Not said by a variable, for which volctl would start twice (S34). */
export const KEEP_COMPILED = 'keep-compiled.cjs'

/** Below that directory: the bundles themselves. */
export const BUNDLED = 'bundled'

const root = join(import.meta.dirname, '..', '..')
const BUNDLER = join(import.meta.dirname, 'bundle-program.ts')

/**
 * The command line that runs a TypeScript file of this project. A bundle saves loading some hundred modules, which takes
 * longer than most programs run; without one, the file itself is run.
 *
 * @param flags of Node
 * @returns the arguments of spawn: the command and its arguments
 */
export function nodeProgram(
  file: string | URL,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): [string, string[]] {
  const source = file instanceof URL ? fileURLToPath(file) : file
  const bundle = bundleOf(source)
  const program = bundle === undefined ? [source] : [...keepCompiled(), bundle]
  return [process.execPath, ['--no-warnings', ...flags, ...program, ...args]]
}

/** The same for the running program, with other arguments. */
export function thisProgram(...args: readonly string[]): [string, string[]] {
  return [process.execPath, ['--no-warnings', ...keepCompiled(), process.argv[1] ?? '', ...args]]
}

function keepCompiled(): string[] {
  const { [BUNDLES]: directory } = process.env
  return directory ? ['--require', join(directory, KEEP_COMPILED)] : []
}

/** Made by the first that needs it, while others wait. Undefined: not in a run, or nothing may be written there. */
function bundleOf(source: string): string | undefined {
  const { [BUNDLES]: directory } = process.env
  if (directory === undefined || source.endsWith('.mjs')) return undefined
  const bundle = join(directory, BUNDLED, relative(root, source).replaceAll('/', '+').replace(/\.ts$/, '.mjs'))
  if (existsSync(bundle)) return bundle
  try {
    mkdirSync(join(directory, BUNDLED), { recursive: true })
  } catch {
    return undefined
  }
  spawnSync('flock', [directory, process.execPath, '--no-warnings', BUNDLER, source, bundle], { stdio: 'inherit' })
  return existsSync(bundle) ? bundle : undefined
}
