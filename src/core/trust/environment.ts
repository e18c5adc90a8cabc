/**
 * The gate for the environment: no other file reads it.
 *
 * volctl runs as root with variables that a person, sudo or cron left behind. The launcher drops all but those named here
 * before Node starts, so that none of Node's own (NODE_OPTIONS, NODE_TLS_REJECT_UNAUTHORIZED), of OpenSSL's or of the
 * dynamic loader's takes part (S34). None of those kept weakens a guard: they say who called, which kubeconfig is meant,
 * how to reach the API server, and what the terminal can show.
 */

export interface Environment {
  readonly HOME?: string
  readonly KUBECONFIG?: string
  readonly NO_COLOR?: string
  readonly TERM?: string
  readonly SUDO_UID?: string
  readonly SUDO_USER?: string
  readonly KUBERNETES_SERVICE_HOST?: string
  readonly KUBERNETES_SERVICE_PORT?: string
  /** As crictl: the container runtime's socket. */
  readonly CONTAINER_RUNTIME_ENDPOINT?: string
  /** For tests, and refused where a real node can be: see node/test-host.ts. */
  readonly VOLCTL_TEST_HOST?: string
}

/** The variables of this process that volctl reads. */
export function environment(): Environment {
  return process.env
}

/** As kubectl: HTTPS_PROXY and NO_PROXY count for an API server. For node:https alone. */
export function proxyEnvironment(): NodeJS.ProcessEnv {
  return process.env
}

/** Where programs are looked for, by volctl and by the programs that it starts; never the caller's PATH (S33). */
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

/** All that a program gets from volctl: nothing of the caller's (S33). */
export const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  TZ: 'UTC',
  PATH: PROGRAM_DIRECTORIES.join(':'),
}

/** What volctl gives to itself, when it starts again in another mount namespace. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  return process.env
}
