/**
 * Workers of vitest that are Node.js for arm64, under qemu. Vitest itself, and whatever turns TypeScript into JavaScript, stay
 * programs of this machine.
 */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ForksPoolWorker, type PoolOptions } from 'vitest/node'
import { leastRoot, nodeFolder } from '../../scripts/package/fetched.ts'
import { EMULATOR } from '../../scripts/package/run.ts'

/** The pool to name in a configuration of vitest. */
export async function emulatedPool() {
  const program = await emulatedNode()
  return {
    name: 'emulated',
    createPoolWorker: (options: PoolOptions): ForksPoolWorker => new EmulatedWorker(options, program),
  }
}

/** One program, as Node.js starts a child: the emulator with Node.js and the root in which its libraries are. It stays in their cache. */
async function emulatedNode(): Promise<string> {
  const root = await leastRoot('arm64')
  const path = join(dirname(root), 'emulated-node')
  const node = join(nodeFolder('arm64'), 'bin', 'node')
  writeFileSync(path, `#!/bin/sh\nexec ${EMULATOR} -L '${root}' '${node}' "$@"\n`, { mode: 0o755 })
  return path
}

class EmulatedWorker extends ForksPoolWorker {
  readonly #program: string

  constructor(options: PoolOptions, program: string) {
    super(options)
    this.#program = program
  }

  /** Vitest has no setting for it: it forks what runs itself, before it first waits. */
  override async start(): Promise<void> {
    const own = process.execPath
    process.execPath = this.#program
    const started = super.start()
    process.execPath = own
    await started
  }
}
