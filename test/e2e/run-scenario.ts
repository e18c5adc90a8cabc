import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { privateNamespace } from '../helpers/scene/namespace.ts'

const namespace = privateNamespace()

/** Why scenes cannot be built here, for the title of a skipped test. */
export const cannotMount =
  namespace === undefined ? 'this machine lets nobody but root make a mount namespace' : undefined

/** Runs a scenario in a mount namespace of its own and returns its report. */
export async function runScenario<T>(name: string): Promise<T> {
  const [command = '', ...args] = namespace ?? []
  const directory = mkdtempSync(join(tmpdir(), 'volctl-scenario-'))
  try {
    const file = join(directory, 'report.json')
    const program = join(import.meta.dirname, 'scenario.ts')
    await promisify(execFile)(command, [...args, process.execPath, program, name, file])
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
