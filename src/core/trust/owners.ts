/** Whose files are trusted: root's, and those of the user who called through sudo (S33). */
import type { Stats } from 'node:fs'
import { environment } from './environment.ts'
import { kernelTextIfAny } from './kernel.ts'
import { perRun } from './run.ts'

const OTHERS_WRITE = 0o022
const STICKY = 0o1000

/**
 * Root, the user that this process runs as, and under sudo(8) the user who called. In a user namespace root's files belong to
 * the overflow user, which stands for all users who are not mapped; there nothing can be changed anyway (S7).
 */
export const trustedOwners = perRun(
  (): ReadonlySet<number> => new Set([0, process.geteuid?.() ?? 0, ...sudoCaller(), ...overflowUser()]),
)

function sudoCaller(): number[] {
  const { SUDO_UID: uid = '' } = environment()
  return process.geteuid?.() === 0 && /^\d{1,10}$/.test(uid) ? [Number(uid)] : []
}

function overflowUser(): number[] {
  const map = kernelTextIfAny('/proc/self/uid_map') ?? ''
  if (map === '' || /^\s*0\s+0\s+4294967295\s*$/.test(map)) return []
  return [Number(kernelTextIfAny('/proc/sys/kernel/overflowuid') ?? 65534)]
}

/** Why somebody else could have written a file with these attributes, for messages; undefined: nobody could. */
export function whoElseWrites(stats: Pick<Stats, 'uid' | 'mode'>, owners = trustedOwners()): string | undefined {
  if (!owners.has(stats.uid)) return `belongs to uid ${stats.uid}`
  return (stats.mode & OTHERS_WRITE) === 0 ? undefined : 'can be written by others'
}

/** Is it a directory like /tmp: anybody may create a name in it, and only the name's owner can remove it. */
export function isShared({ mode }: Pick<Stats, 'mode'>): boolean {
  return (mode & STICKY) !== 0 && (mode & OTHERS_WRITE) !== 0
}
