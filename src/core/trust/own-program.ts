/**
 * volctl's own program: a script that Node.js runs, or one executable with Node.js and the script inside.
 *
 * The executable needs three libraries beyond glibc. For nodes that lack them they lie beside the executable, which finds
 * them by its own path (scripts/package).
 */
import { existsSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isSea } from 'node:sea'
import { thisRun } from './run.ts'

/** volctl itself, whatever is at its path in this mount namespace. */
export const SELF = '/proc/self/exe'
export const LIBRARY_FILES = ['libatomic.so.1', 'libgcc_s.so.1', 'libstdc++.so.6'] as const

/** As kubectl wants it of a plugin. */
const PLUGIN_FILE = 'kubectl-volctl'
/** By this argument bin/volctl says that it was called so; the executable sees its name itself. */
const AS_PLUGIN = '--internal-plugin'

/** What a person types to call volctl: `kubectl volctl`, where it was called by the name kubectl-volctl. */
export function programName(): 'kubectl volctl' | 'volctl' {
  return thisRun().isPlugin ? 'kubectl volctl' : 'volctl'
}

/**
 * By which name volctl was called.
 *
 * @param argv what follows the script @param name of the program that was started
 * @returns the same without the word for that
 */
export function acceptName(argv: readonly string[], name: string): { args: readonly string[]; isPlugin: boolean } {
  const isNamed = argv[0] === AS_PLUGIN
  return { args: isNamed ? argv.slice(1) : argv, isPlugin: isNamed || name === PLUGIN_FILE }
}

/** The script, where there is one: what stands between the program and its arguments. */
export function ownScript(): string | undefined {
  return isSea() ? undefined : thisRun().script
}

/** Options of Node.js itself, which the executable has inside. */
export function ownOptions(): readonly string[] {
  return isSea() ? [] : process.execArgv
}

/** The directory of the executable's libraries, which need not exist. */
export function ownLibraries(): string {
  return join(dirname(dirname(readlinkSync(SELF))), 'lib', 'volctl')
}

/** What makes the executable find its libraries from another mount namespace, in which this process is `/proc/PID`. */
export function ownLibraryPath(pid: number): Readonly<Record<string, string>> {
  const kept = keptLibraryPath()
  if (!isSea() || kept !== undefined) return kept ?? {}
  const libraries = ownLibraries()
  return existsSync(libraries) ? { LD_LIBRARY_PATH: `/proc/${pid}/root${libraries}` } : {}
}

/** The same for a child, where this process was started in that way. Before, the variable is dropped from the environment. */
export function keptLibraryPath(): Readonly<Record<string, string>> | undefined {
  const { LD_LIBRARY_PATH: kept } = process.env
  return isSea() && kept !== undefined ? { LD_LIBRARY_PATH: kept } : undefined
}
