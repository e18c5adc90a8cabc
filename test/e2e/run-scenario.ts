import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { noMounts, unshareArguments } from '../helpers/namespace.ts'

/** Why scenes cannot be built here, for the title of a skipped test. */
export const cannotMount = noMounts

/** Runs a scenario in a mount namespace of its own and returns its report. */
export async function runScenario<T>(name: string): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-scenario-'))
  try {
    const file = join(directory, 'report.json')
    const program = join(import.meta.dirname, 'scenarios', `${name}.ts`)
    // Its own report is what counts; output is kept for the message of a failure.
    await promisify(execFile)('unshare', [...unshareArguments, process.execPath, program, file])
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
