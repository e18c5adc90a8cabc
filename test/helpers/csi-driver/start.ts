import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isInUserNamespace } from '../../../src/core/processes/standing.ts'
import { detachLoops } from '../detach-loops.ts'
import { startProgram } from '../start-program.ts'
import { Faults, parseFault } from './faults.ts'
import { Journal, type LogEntry, type Violation } from './journal.ts'
import type { BackendName } from './options.ts'

export interface CsiDriverOptions {
  readonly name: string
  /** The kubelet's root directory. */
  readonly rootDir: string
  /** What outlives a restart of the driver: images, records, logs. */
  readonly stateDir: string
  /** Default: what this machine allows, loop devices or tmpfs. */
  readonly backend?: BackendName
  /** Further switches of main.ts, e.g. `['--no-stage-mount']`. */
  readonly flags?: readonly string[]
  /** Faults, e.g. `'fail NodeUnpublishVolume=INTERNAL:once'` (faults.ts). */
  readonly faults?: readonly string[]
}

/** A running test driver. Its mounts are made in the mount namespace of the process that started it. */
export interface CsiDriver {
  readonly name: string
  readonly rootDir: string
  readonly stateDir: string
  readonly backend: BackendName
  /** The driver's own socket. */
  readonly socketPath: string
  readonly pid: number
  /** Whether the process still runs. */
  running(): boolean
  /** Replaces every fault, at once and without a restart. */
  setFaults(...faults: string[]): void
  /** All calls to Identity and Node so far, restarts included: one entry when each begins, one when it ends. */
  log(): readonly LogEntry[]
  /** `NodeUnpublishVolume`, … in the order in which they succeeded. */
  succeeded(): readonly string[]
  /** Every breach of the CSI specification by the client. */
  violations(): readonly Violation[]
  /** Ends the driver as its deployment would: the sockets are removed. Mounts and loop devices stay. */
  stop(): Promise<void>
  /** SIGKILL: the sockets stay behind, with nobody listening. */
  kill(): Promise<void>
  /** Starts it again with the same options, after stop, kill or a fault that killed it. */
  restart(): Promise<void>
  /**
   * Ends the driver and detaches every loop device that it, or one of its block volumes, made; a mounted one is detached with
   * its mount.
   */
  dispose(): Promise<void>
}

/** Whether loop devices can be made, and mounted, here: they need real root and the control device. */
export function loopDevicesWork(): boolean {
  if (!existsSync('/dev/loop-control') || isInUserNamespace()) return false
  try {
    // losetup finds a device for any user, but not everyone may open it.
    const device = execFileSync('losetup', ['--find'], { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }).trim()
    accessSync(device, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

export async function startCsiDriver(options: CsiDriverOptions): Promise<CsiDriver> {
  const { name, rootDir, stateDir, flags = [] } = options
  const backend = options.backend ?? (loopDevicesWork() ? 'loop' : 'tmpfs')
  const args = ['--name', name, '--root', rootDir, '--state', stateDir, '--backend', backend, ...flags]
  mkdirSync(stateDir, { recursive: true })
  const faults = new Faults(stateDir)
  const journal = new Journal(stateDir)
  const setFaults = (...texts: string[]): void => faults.set(texts.map(parseFault))
  setFaults(...(options.faults ?? []))

  const main = join(import.meta.dirname, 'main.ts')
  let program = await startProgram(main, args)
  const pluginDir = flags[flags.indexOf('--plugin-dir') + 1]
  return {
    name,
    rootDir,
    stateDir,
    backend,
    socketPath: join(rootDir, 'plugins', flags.includes('--plugin-dir') && pluginDir ? pluginDir : name, 'csi.sock'),
    get pid() {
      return program.pid
    },
    running: () => program.running(),
    setFaults,
    log: () => journal.requests(),
    succeeded: () =>
      journal.requests().flatMap(({ phase, rpc, code }) => (phase === 'end' && code === 'OK' ? [rpc] : [])),
    violations: () => journal.violations(),
    stop: () => program.end('SIGTERM'),
    kill: () => program.end('SIGKILL'),
    restart: async () => {
      await program.end('SIGTERM')
      program = await startProgram(main, args)
    },
    dispose: async () => {
      await program.end('SIGTERM')
      if (backend === 'loop') detachLoops(rootDir, stateDir)
    },
  }
}
