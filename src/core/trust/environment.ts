/**
 * The gate for the environment: no other file reads it.
 *
 * volctl runs as root with variables from a user's shell, sudo or cron. Before Node.js starts, the launcher drops all but
 * those named here, so that variables of Node.js (NODE_OPTIONS, NODE_TLS_REJECT_UNAUTHORIZED), OpenSSL or the dynamic loader
 * have no effect (S34). None of the variables kept weakens a safety rule: they show who called, which kubeconfig is meant,
 * how to reach the API server, and what the terminal can display.
 */

export interface Environment {
  readonly HOME?: string
  readonly XDG_STATE_HOME?: string
  readonly KUBECONFIG?: string
  readonly NO_COLOR?: string
  readonly FORCE_COLOR?: string
  readonly LC_ALL?: string
  readonly LC_CTYPE?: string
  readonly LANG?: string
  readonly TERM?: string
  readonly SUDO_UID?: string
  readonly SUDO_USER?: string
  readonly KUBERNETES_SERVICE_HOST?: string
  readonly KUBERNETES_SERVICE_PORT?: string
  /** As for crictl: the container runtime's socket. */
  readonly CONTAINER_RUNTIME_ENDPOINT?: string
}

/** The variables of this process that volctl reads. */
export function environment(): Environment {
  return process.env
}

/** As with kubectl, HTTPS_PROXY and NO_PROXY apply to an API server. For node:https only. */
export function proxyEnvironment(): NodeJS.ProcessEnv {
  return process.env
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

/** The environment for volctl itself, when it runs again in another mount namespace. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  return process.env
}
