/** The inside of a worker file: runs the scenario named on the command line in a temporary directory, prints what it found. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import { kernelTextIfAny } from '../../src/core/trust/kernel.ts'
import { sweep, temporary } from './left-behind.ts'
import { type Layout, layOut } from './scene/layouts.ts'

export type Scenario = (directory: string, args: readonly string[]) => unknown

/** Instead of a scenario's name: those of the requests that come, one after the other, by standard input; replies go to descriptor 3. */
export const SERVE = '--serve'

/** One line of JSON, as is a reply. */
export interface Request {
  readonly scenario: string
  readonly args: readonly string[]
  readonly layout: string | undefined
}

export interface Reply {
  /** JSON */
  readonly found?: string
  readonly error?: string
}

/**
 * The namespace ends with its last process, and its mounts with it; mounts are still removed before the directory. A scenario
 * that another one starts as a process works in that one's directory.
 */
export async function runScenario(scenarios: Readonly<Record<string, Scenario>>): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2)
  if (name === SERVE) await serve(scenarios)
  else process.stdout.write(await found(scenarios, name, args))
}

async function serve(scenarios: Readonly<Record<string, Scenario>>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { scenario, args, layout } = JSON.parse(line) as Request
    if (layout === undefined) delete process.env[LAYOUT]
    else process.env[LAYOUT] = layout
    const reply: Reply = await found(scenarios, scenario, args)
      .then(nothingRuns)
      .then(
        (text) => ({ found: text }),
        (error: Error) => ({ error: error.stack ?? error.message }),
      )
    delete process.env[DIRECTORY]
    writeSync(3, `${JSON.stringify(reply)}\n`)
  }
}

async function found(
  scenarios: Readonly<Record<string, Scenario>>,
  name: string,
  args: readonly string[],
): Promise<string> {
  const scenario = scenarios[name]
  if (scenario === undefined) throw new Error(`no scenario ${name}`)
  const { [DIRECTORY]: given } = process.env
  const directory = given ?? temporary('volctl-scenario-')
  process.env[DIRECTORY] = directory
  const { [LAYOUT]: layout } = process.env
  try {
    if (layout !== undefined && given === undefined) layOutScenario(layout as Layout, directory)
    return JSON.stringify((await scenario(directory, args)) ?? null)
  } finally {
    if (given === undefined) cleanUp(directory)
  }
}

/** @throws where a scenario has left a process behind; one that is ending is waited for */
async function nothingRuns(text: string): Promise<string> {
  const left = (): string[] => (process.pid === 1 ? othersHere() : [])
  for (let tries = 0; left().length > 0 && tries < 100; tries++) await sleep(20)
  if (left().length > 0) throw new Error(`it has left processes behind: ${left().join(', ')}`)
  return text
}

/** Of this PID namespace, without those that have ended. */
function othersHere(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    const [, name, state] = /^\d+ (\(.*\)) (.)/s.exec(kernelTextIfAny(`/proc/${pid}/stat`) ?? '') ?? []
    return !/^\d+$/.test(pid) || pid === '1' || name === undefined || state === 'Z' ? [] : [`${pid} ${name}`]
  })
}

const DIRECTORY = 'VOLCTL_SCENARIO_DIRECTORY'

/** In the environment of a scenario: the layout of the mounts around its root directory. */
export const LAYOUT = 'VOLCTL_TEST_LAYOUT'

export function layOutScenario(layout: Layout, directory: string): void {
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
