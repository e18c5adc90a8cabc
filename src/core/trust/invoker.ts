import { type UserInfo, userInfo } from 'node:os'
import { environment } from './run.ts'

/** Who runs this process, for the lock and the journal. */
export interface Invoker {
  readonly pid: number
  /** Effective. */
  readonly uid: number
  readonly user: string
  /** Who became that user with sudo(8). */
  readonly sudoUser?: string
}

export function invoker(): Invoker {
  const { SUDO_USER: sudoUser } = environment()
  const uid = process.geteuid?.() ?? 0
  return { pid: process.pid, uid, user: ownUser().username ?? String(uid), sudoUser }
}

/** The user that this process runs as, whatever the environment says; nothing is known of one without an entry. */
export function ownUser(): Partial<Pick<UserInfo<string>, 'username' | 'homedir'>> {
  try {
    return userInfo()
  } catch {
    return {}
  }
}
