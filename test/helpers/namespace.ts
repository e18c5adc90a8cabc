/** Which namespaces and devices this machine allows: real mounts are made in a private mount namespace, without root in a user namespace. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isInUserNamespace } from '../../src/core/linux/standing.ts'

const AS_ROOT = ['-m', '--propagation', 'private']
const AS_USER = ['-U', '-r', '-m', '--propagation', 'private']

// Some machines allow the namespace, but no mount in it.
const TRIAL = ['sh', '-c', 'mount -t tmpfs tmpfs /tmp && umount /tmp']
const works = (args: readonly string[]): boolean => spawnSync('unshare', [...args, ...TRIAL]).status === 0
const unshareArgs = [AS_ROOT, AS_USER].find(works)
/** A new user namespace, or one that the tests themselves run in, as root there or not. */
const inUserNamespace = unshareArgs === AS_USER || isInUserNamespace()

/** Why no mount can be made here; undefined: it can. */
export const noMounts = unshareArgs === undefined ? 'this machine allows no mount namespaces' : undefined
/** Loop devices and block file systems need the real root. */
export const noBlockDevices =
  noMounts ?? (inUserNamespace ? 'a user namespace cannot mount block devices' : withoutLoops())

/** As root of the machine, not of a new user namespace. */
export const noRoot = noMounts ?? (inUserNamespace ? 'needs root' : undefined)

function withoutLoops(): string | undefined {
  return spawnSync('losetup', ['-f']).status === 0 ? undefined : 'there are no loop devices'
}

/** Why a program cannot be used here; undefined: it can. */
export const noProgram = (name: string): string | undefined =>
  spawnSync(name, ['--version']).status === 0 ? undefined : `there is no ${name}`

const CAP_SYS_RESOURCE = 1n << 24n

/** Why the kernel does not let this process grow a mounted ext4 (EXT4_IOC_RESIZE_FS); undefined: it does. */
export const noExt4Growth = noBlockDevices ?? (hasCapability(CAP_SYS_RESOURCE) ? undefined : 'needs CAP_SYS_RESOURCE')

function hasCapability(bit: bigint): boolean {
  const [, effective = '0'] = /^CapEff:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return (BigInt(`0x${effective}`) & bit) !== 0n
}

/** Arguments of unshare(1) that this machine allows. */
export const unshareArguments: readonly string[] = unshareArgs ?? AS_USER

/** The same with its own PID namespace and /proc, which ends with its first process. */
export const ownProcArguments: readonly string[] = ['-p', '-f', '--mount-proc', '--kill-child']

/** Why no process can be started that makes its own system calls (system-calls.ts); undefined: it can. */
export const noSystemCalls = process.allowedNodeEnvironmentFlags.has('--experimental-ffi')
  ? undefined
  : 'this Node has no node:ffi'
