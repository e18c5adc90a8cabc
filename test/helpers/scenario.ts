/** The inside of a worker file: runs the scenario named on the command line in a temporary directory, prints what it found. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import { sweep, temporary } from './left-behind.ts'
import { type Layout, layOut } from './scene/layouts.ts'

export type Scenario = (directory: string, args: readonly string[]) => unknown

/**
 * The namespace ends with its last process, and its mounts with it; mounts are still removed before the directory. A scenario
 * that another one starts as a process works in that one's directory.
 */
export async function runScenario(scenarios: Readonly<Record<string, Scenario>>): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2)
  const scenario = scenarios[name]
  if (scenario === undefined) throw new Error(`no scenario ${name}`)
  const { [DIRECTORY]: given } = process.env
  const directory = given ?? temporary('volctl-scenario-')
  process.env[DIRECTORY] = directory
  const { [LAYOUT]: layout } = process.env
  try {
    if (layout !== undefined && given === undefined) layOutScenario(layout as Layout, directory)
    process.stdout.write(JSON.stringify((await scenario(directory, args)) ?? null))
  } finally {
    if (given === undefined) cleanUp(directory)
  }
}

const DIRECTORY = 'VOLCTL_SCENARIO_DIRECTORY'

/** In the environment of a scenario: the layout of the mounts around its root directory. */
export const LAYOUT = 'VOLCTL_TEST_LAYOUT'

function layOutScenario(layout: Layout, directory: string): void {
  const rootDir = `${directory}/kubelet`
  mkdirSync(rootDir)
  layOut(layout, directory, rootDir)
}

/** Below a directory: pods of one UID under two roots are one pod's, whose volumes are not set up twice (S8). */
export function unmountBelow(directory: string): void {
  for (const mount of parseMountinfo(readFileSync('/proc/self/mountinfo')).under(directory).toReversed()) {
    spawnSync('umount', ['-l', mount.mountPoint])
  }
}

function cleanUp(directory: string): void {
  unmountBelow(directory)
  sweep(directory)
}

/** Runs a command of the test's own; its output is the error's message. */
export function sh(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}
