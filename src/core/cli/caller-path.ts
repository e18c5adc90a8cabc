import { readlinkSync } from 'node:fs'
import { posix, resolve } from 'node:path'

/** Set for a run inside another mount namespace: /proc/PID of the volctl that was typed, which waits for it. */
export const CALLER_VARIABLE = 'VOLCTL_CALLER'

/**
 * A path as the person meant it: of the working directory and the file system that volctl was started in, though it may
 * stand in another mount namespace by now (S6).
 */
export function callerPath(path: string, caller = process.env[CALLER_VARIABLE]): string {
  if (caller === undefined || !/^\/proc\/\d+$/.test(caller)) return resolve(path)
  return path.startsWith('/') ? `${caller}/root${path}` : `${caller}/cwd/${path}`
}

/** What was typed, a relative path (., .., ./a, ../a) as the absolute one of the directory that volctl was started in. */
export function typedPath(text: string, caller = process.env[CALLER_VARIABLE]): string {
  if (!/^\.{1,2}(\/|$)/.test(text)) return text
  const directory = caller !== undefined && /^\/proc\/\d+$/.test(caller) ? readlinkSync(`${caller}/cwd`) : process.cwd()
  return posix.resolve(directory, text)
}
