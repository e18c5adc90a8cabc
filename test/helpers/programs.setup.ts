/** What a whole run of the tests has: machines, a directory for the bundles of the programs that tests start, and who sweeps it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { makeMessages } from '../../scripts/proto.ts'
import { startSweeper, sweepRun } from './left-behind.ts'
import { allowMachines } from './own-machine.ts'
import { BUNDLED, BUNDLES, KEEP_COMPILED } from './programs.ts'
import { noteStrangers } from './strangers-here.ts'

/** What vitest calls before the first test; returns what it calls after the last. */
export default async function setup(project: TestProject): Promise<() => void> {
  makeMessages()
  noteStrangers()
  const directory = mkdtempSync(join(tmpdir(), 'volctl-programs-'))
  const allSwept = startSweeper(directory)
  const endMachines = allowMachines(directory)
  // A third of what it costs to start a program is the compiling.
  const kept = JSON.stringify(join(directory, 'compiled'))
  writeFileSync(join(directory, KEEP_COMPILED), `require('node:module').enableCompileCache(${kept})\n`)
  // While vitest watches, a source may have changed.
  project.onTestsRerun(async () => rmSync(join(directory, BUNDLED), { recursive: true, force: true }))
  process.env[BUNDLES] = directory
  return () => {
    endMachines()
    delete process.env[BUNDLES]
    sweepRun(directory)
    allSwept()
  }
}
