import { readFileSync } from 'node:fs'
import { errorMessage, SafetyRefusal, VolctlError } from '../errors.ts'
import type { KubeletSnapshot, Selinux } from '../model/snapshot.ts'
import { sameDirectory } from './same-directory.ts'

/** The environment variable that names a file describing a fake host: for tests only (S7). */
export const TEST_HOST_VARIABLE = 'VOLCTL_TEST_HOST'

const REAL_ROOT = '/var/lib/kubelet'

/** A fake host. What a field does not say is read from the real one. */
export interface TestHost {
  readonly machineID?: string
  readonly systemUUID?: string
  readonly bootID?: string
  readonly bootTime?: string
  readonly kernelVersion?: string
  readonly nodeName?: string
  readonly rootDir?: string
  readonly kubelet?: KubeletSnapshot
  readonly staticPodPath?: string
  readonly runtimeEndpoints?: readonly string[]
  readonly runtimeExpected?: boolean
  /** Pod UIDs added to what /proc shows. */
  readonly processes?: readonly string[]
  readonly lockFile?: string
  readonly journalDir?: string
  readonly kubeconfig?: string
  /** Drivers of flexVolumes; absent: there is no such directory. */
  readonly volumePluginDir?: string
  readonly selinux?: Selinux
}

/** The fake host of this run, if the variable is set. Whether it may be used is `allowTestHost`'s to say. */
export function readTestHost(env: Readonly<Record<string, string | undefined>> = process.env): TestHost | undefined {
  const path = env[TEST_HOST_VARIABLE]
  if (path === undefined || path === '') return undefined
  try {
    const host: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof host !== 'object' || host === null || Array.isArray(host)) throw new Error('not a JSON object')
    return host
  } catch (error) {
    throw new VolctlError('TestHostUnreadable', `${TEST_HOST_VARIABLE}=${path}: ${errorMessage(error)}`, {
      cause: error,
      hint: `${TEST_HOST_VARIABLE} is for tests: unset it.`,
    })
  }
}

/**
 * Refuses the switch on a real node: where the root is /var/lib/kubelet, or that of a kubelet that runs here (S7).
 * Directories are compared by device and inode, through links and self-binds.
 */
export function allowTestHost(rootDir: string, runningRoots: readonly string[]): void {
  for (const root of [REAL_ROOT, ...runningRoots]) {
    if (!sameDirectory(root, rootDir)) continue
    throw new SafetyRefusal(
      'S7',
      'TestHostOnRealNode',
      `${TEST_HOST_VARIABLE} is set, and ${rootDir} is the root directory of a real kubelet`,
      {
        hint: `${TEST_HOST_VARIABLE} is for tests: unset it.`,
      },
    )
  }
}
