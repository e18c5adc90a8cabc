/** Whose files root may obey: root's own, and those of the person who called through sudo (S33). */
import type { Stats } from 'node:fs'
import { environment } from './environment.ts'
import { kernelTextIfAny } from './kernel.ts'

const OTHERS_WRITE = 0o022
const STICKY = 0o1000

let owners: ReadonlySet<number> | undefined

/**
 * Root, whoever this process runs as, and under sudo(8) the person who called. In a user namespace root's own files show
 * as the overflow user, which stands for everybody who is not mapped: there nothing can be changed anyhow (S7).
 */
export function trustedOwners(): ReadonlySet<number> {
  owners ??= new Set([0, process.geteuid?.() ?? 0, ...sudoCaller(), ...overflowUser()])
  return owners
}

function sudoCaller(): number[] {
  const { SUDO_UID: uid = '' } = environment()
  return process.geteuid?.() === 0 && /^\d{1,10}$/.test(uid) ? [Number(uid)] : []
}

function overflowUser(): number[] {
  const map = kernelTextIfAny('/proc/self/uid_map') ?? ''
  if (map === '' || /^\s*0\s+0\s+4294967295\s*$/.test(map)) return []
  return [Number(kernelTextIfAny('/proc/sys/kernel/overflowuid') ?? 65534)]
}

/** Why somebody else could have written what these are the attributes of, in words; undefined: nobody could. */
export function whoElseWrites(stats: Pick<Stats, 'uid' | 'mode'>, owners = trustedOwners()): string | undefined {
  if (!owners.has(stats.uid)) return `belongs to uid ${stats.uid}`
  return (stats.mode & OTHERS_WRITE) === 0 ? undefined : 'can be written by others'
}

/** A directory such as /tmp: anybody may make a name in it, and nobody but its owner takes one away. */
export function isShared({ mode }: Pick<Stats, 'mode'>): boolean {
  return (mode & STICKY) !== 0 && (mode & OTHERS_WRITE) !== 0
}
