import { join } from 'node:path'
import { type Command, Config } from '@oclif/core'
import type { Result } from './run-volctl.ts'

const ROOT = join(import.meta.dirname, '..', '..')

let config: Config | undefined

/**
 * Runs one command line in this process, without a terminal: for what hundreds of commands print of a snapshot. How a process begins and
 * ends is seen by `volctl` of run-volctl.ts. One at a time.
 */
export async function volctlHere([name = '', ...args]: readonly string[]): Promise<Result> {
  const { default: command } = (await import(`../../src/commands/${name}.ts`)) as { default: Command.Class }
  config ??= await Config.load(ROOT)
  const said = { stdout: '', stderr: '' }
  const before = process.exitCode
  const { stdout, stderr } = process
  const writes = [stdout.write, stderr.write] as const
  stdout.write = into((text) => (said.stdout += text))
  stderr.write = into((text) => (said.stderr += text))
  process.exitCode = 0
  try {
    await Object.assign(command, { id: name }).run([...args], config)
    return { status: Number(process.exitCode), ...said }
  } finally {
    ;[stdout.write, stderr.write] = writes
    process.exitCode = before
  }
}

function into(take: (text: string) => void): NodeJS.WriteStream['write'] {
  return (data: string | Uint8Array, ...rest: unknown[]) => {
    take(typeof data === 'string' ? data : Buffer.from(data).toString())
    const done = rest.at(-1)
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
}
