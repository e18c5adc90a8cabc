import { errorMessage, SafetyRefusal, VolctlError } from '../errors/errors.ts'
import { sameDirectory } from '../files/same-directory.ts'
import type { KubeletSnapshot, Selinux } from '../model/snapshot.ts'
import { isInInitialPidNamespace, isInUserNamespace } from '../processes/standing.ts'
import { type Environment, environment } from '../trust/environment.ts'
import { readTrustedText } from '../trust/files.ts'
import { namespaceOf } from '../trust/kernel.ts'
import { KNOWN_ROOT_DIRS } from './kubelet/find-kubelet.ts'
import type { KubeletCandidate } from './kubelet/kubelet-candidate.ts'

/** The environment variable that names a file describing a fake host: for tests only (S34). */
export const TEST_HOST_VARIABLE = 'VOLCTL_TEST_HOST'

/** A fake host. A field that is absent is read from the real host. */
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

/** The fake host of this run, if the variable is set; `allowTestHost` decides whether it may be used. */
export function readTestHost({ VOLCTL_TEST_HOST: path = '' }: Environment = environment()): TestHost | undefined {
  if (path === '') return undefined
  try {
    const host: unknown = JSON.parse(readTrustedText(path))
    if (typeof host !== 'object' || host === null || Array.isArray(host)) throw new Error('not a JSON object')
    return host
  } catch (error) {
    throw new VolctlError('TestHostUnreadable', `${TEST_HOST_VARIABLE}=${path}: ${errorMessage(error)}`, {
      cause: error,
      hint: `${TEST_HOST_VARIABLE} is for tests: unset it.`,
    })
  }
}

/** What /proc shows about this process. */
export interface TestStanding {
  /** Root of the machine itself, not of a user namespace. */
  readonly isRoot: boolean
  /** In the mount namespace of the machine's process 1, which contains the root directory of every real node. */
  readonly besideProcessOne: boolean
}

/**
 * Refuses the variable wherever there may be a real node (S34), since it replaces the safety rules S1, S6, S7, S9 and S11.
 * For root it only works in another mount namespace than the host's, and on a temporary directory that is not the root
 * directory of a kubelet: of one that runs, of one that a unit of this host would start, or of a known distribution.
 * Directories are compared by device and inode, through links and self-binds.
 */
export function allowTestHost(
  rootDir: string,
  kubelets: readonly Pick<KubeletCandidate, 'rootDir'>[],
  { isRoot, besideProcessOne } = testStanding(),
): void {
  const roots = [...KNOWN_ROOT_DIRS, ...kubelets.map((kubelet) => kubelet.rootDir)]
  const real = roots.some((root) => sameDirectory(root, rootDir))
  const why = real
    ? `${rootDir} is the root directory of a real kubelet`
    : isRoot && besideProcessOne
      ? "volctl runs as root in the host's mount namespace"
      : isRoot && !TEMPORARY.test(rootDir)
        ? `${rootDir} is not in a temporary directory`
        : undefined
  if (why === undefined) return
  throw new SafetyRefusal('S34', 'TestHostOnRealNode', `${TEST_HOST_VARIABLE} is set, but ${why}`, {
    hint: `${TEST_HOST_VARIABLE} is for tests: unset it.`,
  })
}

/** No kubelet has its root directory in one of these. */
const TEMPORARY = /\/(tmp|shm)\//

function testStanding(): TestStanding {
  const [one, own] = [namespaceOf(1, 'mnt'), namespaceOf('self', 'mnt')]
  return {
    isRoot: process.geteuid?.() === 0 && !isInUserNamespace(),
    besideProcessOne: isInInitialPidNamespace() && one !== undefined && one === own,
  }
}
