/**
 * The pool of vitest for files with real mounts: each file is a process that is alone on a machine (own-machine.ts), as its first
 * process. What it mounts and starts is its own and ends with it, so tests and their expectations need no second program.
 */
import type { ChildProcess } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ForksPoolWorker, type PoolOptions, type PoolRunnerInitializer } from 'vitest/node'
import { temporary } from './left-behind.ts'
import { noMounts } from './namespace.ts'
import { ON_MACHINE, onOwnMachine } from './own-machine.ts'

export const machines: PoolRunnerInitializer = {
  name: 'machines',
  createPoolWorker: (options: PoolOptions) => new MachineWorker(options),
}

class MachineWorker extends ForksPoolWorker {
  override readonly name = 'machines'
  #entrance: string | undefined

  /** Vitest starts Node.js by its path: a script there enters the machine first. */
  override async start(): Promise<void> {
    if (noMounts !== undefined) return await super.start()
    this.#entrance = temporary('volctl-entrance-')
    const { execPath } = process
    const entrance = join(this.#entrance, 'node')
    writeFileSync(entrance, entering(execPath), { mode: 0o755 })
    process.execPath = entrance
    const started = super.start()
    process.execPath = execPath
    await started
  }

  /** All that is on the machine ends with it; unshare(1), between vitest and Node.js, passes no SIGTERM on. */
  override async stop(): Promise<void> {
    const { _fork } = this as unknown as { readonly _fork: ChildProcess }
    if (this.#entrance !== undefined) _fork.kill('SIGKILL')
    await super.stop()
    if (this.#entrance !== undefined) rmSync(this.#entrance, { recursive: true, force: true })
  }
}

function entering(node: string): string {
  const words = onOwnMachine(['env', `${ON_MACHINE}=1`, node]).flat()
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  return `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`
}
