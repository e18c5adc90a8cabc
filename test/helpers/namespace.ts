/** Runs scenarios with real mounts in a private mount namespace of their own; without root in a user namespace. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { isInUserNamespace } from '../../src/core/processes/standing.ts'
import { nodeProgram } from './programs.ts'
import { withoutStrangers } from './strangers.ts'

const AS_ROOT = ['-m', '--propagation', 'private']
const AS_USER = ['-U', '-r', '-m', '--propagation', 'private']

// Some machines allow the namespace, but no mount in it.
const TRIAL = ['sh', '-c', 'mount -t tmpfs tmpfs /tmp && umount /tmp']
const works = (args: readonly string[]): boolean => spawnSync('unshare', [...args, ...TRIAL]).status === 0
const unshareArgs = [AS_ROOT, AS_USER].find(works)
/** A user namespace of its own, or one that the tests themselves run in, as root there or not. */
const inUserNamespace = unshareArgs === AS_USER || isInUserNamespace()

/** Why no mount can be made here; undefined: it can. */
export const noMounts = unshareArgs === undefined ? 'this machine allows no mount namespaces' : undefined
/** Loop devices and block file systems need the real root. */
export const noBlockDevices =
  noMounts ?? (inUserNamespace ? 'a user namespace cannot mount block devices' : withoutLoops())

/**
 * Why two nodes with volumes that are detached cannot run side by side; undefined: they can. After one node has unmounted a
 * volume, the other may get its device number mounted before the detach checks it. For disks, loop devices included, the
 * sequence number shows that it is another device (S21); for tmpfs, which is staged without loop devices, nothing does.
 */
export const noSideBySide =
  noBlockDevices ??
  (existsSync('/sys/block/loop0/diskseq') ? undefined : 'this kernel does not tell a disk from the next one')

/** As root of the machine, not of a user namespace of its own. */
export const noRoot = noMounts ?? (inUserNamespace ? 'needs root' : undefined)

function withoutLoops(): string | undefined {
  return spawnSync('losetup', ['-f']).status === 0 ? undefined : 'there are no loop devices'
}

const CAP_SYS_RESOURCE = 1n << 24n

/** Why the kernel does not let this process grow a mounted ext4 (EXT4_IOC_RESIZE_FS); undefined: it does. */
export const noExt4Growth = noBlockDevices ?? (hasCapability(CAP_SYS_RESOURCE) ? undefined : 'needs CAP_SYS_RESOURCE')

function hasCapability(bit: bigint): boolean {
  const [, effective = '0'] = /^CapEff:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return (BigInt(`0x${effective}`) & bit) !== 0n
}

/** Arguments of unshare(1) that this machine allows. */
export const unshareArguments: readonly string[] = unshareArgs ?? AS_USER

/** The same with a PID namespace and a /proc of its own, which ends with its first process. */
export const ownProcArguments: readonly string[] = ['-p', '-f', '--mount-proc', '--kill-child']

/** Whatever hangs in a scenario ends here, with its PID namespace if it has one. */
const OUTER_DEADLINE_MS = 300_000

/**
 * Runs one scenario of a worker file (see scenario.ts) and returns what it found; a scenario that throws, or a process that
 * it leaves behind, fails the test.
 *
 * @param args for the scenario
 * @param ownProc with a /proc of its own: for scenarios in which every process must be readable, which the machine's first
 * one may not be
 */
export async function inNamespace<T>(
  worker: URL,
  scenario: string,
  ownProc = false,
  args: readonly string[] = [],
): Promise<T> {
  const proc = ownProc ? ownProcArguments : []
  const program = withoutStrangers(nodeProgram(worker, [scenario, ...args]).flat())
  const child = spawn('unshare', [...unshareArguments, ...proc, ...program], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: OUTER_DEADLINE_MS,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const status = await new Promise((resolve) => child.on('close', resolve))
  if (status !== 0) throw new Error(`${scenario} exited ${String(status)}:\n${stderr}${stdout}`)
  return JSON.parse(stdout) as T
}

/** Why no process can be started that makes its own system calls (system-calls.ts); undefined: it can. */
export const noSystemCalls = process.allowedNodeEnvironmentFlags.has('--experimental-ffi')
  ? undefined
  : 'this Node has no node:ffi'
