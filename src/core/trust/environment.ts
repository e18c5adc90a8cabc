/**
 * The gate for the environment: no other file reads it.
 *
 * volctl runs as root with variables from a user's shell, sudo or cron. Before Node.js starts, the launcher drops all but
 * those named here, so that variables of Node.js (NODE_OPTIONS, NODE_TLS_REJECT_UNAUTHORIZED), OpenSSL or the dynamic loader
 * have no effect (S34). None of the variables kept weakens a safety rule: they show who called, which kubeconfig is meant,
 * how to reach the API server, and what the terminal can display.
 */
import { type Io, io } from './run.ts'

export type Environment = Io['env']

/** The variables of this run. As with kubectl, HTTPS_PROXY and NO_PROXY among them apply to an API server. */
export function environment(): Environment {
  return io().env
}

/** Directories in which volctl, and programs that it starts, look for programs; never the caller's PATH (S33). */
export const PROGRAM_DIRECTORIES: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  // NixOS has no other.
  '/run/current-system/sw/bin',
]

/** The whole environment of programs that volctl starts: nothing of the caller's (S33). */
export const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  TZ: 'UTC',
  PATH: PROGRAM_DIRECTORIES.join(':'),
}
