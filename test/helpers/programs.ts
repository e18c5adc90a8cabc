/** How the tests' own programs (workers, servers, drivers) are started: from bundles where the run has made them. */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** In the environment of a run: the directory with the bundles (see programs.setup.ts). */
export const BUNDLES = 'VOLCTL_TEST_PROGRAMS'

/** Beside the bundles: has Node.js keep what it compiles. Not said by a variable, for which volctl would start twice (S34). */
export const KEEP_COMPILED = 'keep-compiled.cjs'

const root = join(import.meta.dirname, '..', '..')

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
  const { [BUNDLES]: directory } = process.env
  const bundle = directory && join(directory, bundleName(source))
  const program = bundle && existsSync(bundle) ? [...keepCompiled(), bundle] : [source]
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

/** Of a source file, below the directory of the bundles. */
function bundleName(source: string): string {
  return relative(root, source).replace(/\.ts$/, '.mjs')
}
