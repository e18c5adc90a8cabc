import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { onOwnMachine } from '../helpers/own-machine.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { layouts } from '../helpers/scene/layouts.ts'

/**
 * volctl runs in a container made from the image (test/helpers/image/volctl). There are differences: mounts of the node are
 * shared, so that layouts show them twice; a volctl of the container waits for one on the node, and a signal to the first alone
 * is not a Ctrl-C; what is to be typed has --host-root.
 */
export const inContainer = process.env.VOLCTL_IMAGE_ROOT !== undefined

/** Of a tree that tells nothing to others no mount of a container follows: apply is refused there (WrongNamespace). */
export const layoutsHere = layouts.filter((layout) => !(inContainer && layout === 'slave'))

/**
 * A container sees the processes of its node, and its mounts follow the node's, where they are shared as systemd makes them
 * (test/helpers/image/volctl).
 */
const NODE_OF_CONTAINER = ['sh', '-c', 'mount --make-rshared / && exec "$@"', 'sh']

/** Runs a program of scenarios/ on a machine of its own, as its first process, and returns its report. */
export async function runScenario<T>(name: string, ...args: readonly string[]): Promise<T> {
  return await run<T>(name, inContainer ? NODE_OF_CONTAINER : [], args)
}

/** The same, whatever else runs in a container. */
export async function runMachine<T>(name: string): Promise<T> {
  return await run<T>(name, [], [])
}

async function run<T>(name: string, own: readonly string[], args: readonly string[]): Promise<T> {
  const directory = temporary('volctl-e2e-')
  try {
    const file = join(directory, 'report.json')
    const program = nodeProgram(join(import.meta.dirname, 'scenarios', `${name}.ts`), [file, ...args])
    const command = onOwnMachine(program.flat(), own)
    // Its scene goes with the directory, whatever becomes of it.
    await promisify(execFile)(...command, { env: { ...process.env, TMPDIR: directory } })
    return JSON.parse(readFileSync(file, 'utf8')) as T
  } finally {
    sweep(directory)
  }
}
