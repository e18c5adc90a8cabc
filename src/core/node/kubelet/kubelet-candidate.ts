import { hostname } from 'node:os'
import { posix } from 'node:path'
import { defined } from '../../lang/defined.ts'
import type { PinnedProcess } from '../../trust/processes.ts'
import { canonicalNodeName } from './canonical-node-name.ts'
import { type KubeletFlags, parseKubeletFlags, withoutSecrets } from './kubelet-flags.ts'

export const DEFAULT_ROOT_DIR = '/var/lib/kubelet'

/** A kubelet that runs, or would be started, on this host. Its configuration file is not read yet. */
export interface KubeletCandidate {
  /** For messages: "process 812", "unit kubelet.service". */
  readonly source: string
  readonly pid?: number
  /** Pinned while the node is located. */
  readonly process?: PinnedProcess
  readonly unit?: string
  readonly flags: KubeletFlags
  readonly args: readonly string[]
  readonly rootDir: string
  readonly nodeName: string
  /**
   * True if a flag or the distribution's file sets the name; otherwise it is the host name, or comes from the cloud provider.
   */
  readonly isNamed: boolean
  /** Absent: a kubelet without an API server (N12), or one whose kubeconfig is in its distribution's usual place. */
  readonly kubeconfig?: string
  readonly workingDirectory: string
  /** Defaults of an embedded kubelet's distribution; flags win. */
  readonly runtimeEndpoint?: string
  readonly staticPodPath?: string
  /** The kubelet's flags name no kubeconfig at all: it does not talk to an API server. */
  readonly standalone: boolean
}

export interface CandidateSource {
  readonly source: string
  /** Without the program's name. */
  readonly args: readonly string[]
  readonly workingDirectory: string
  readonly pid?: number
  readonly process?: PinnedProcess
  readonly unit?: string
  readonly rootDir?: string
  readonly nodeName?: string
  readonly kubeconfig?: string
  readonly runtimeEndpoint?: string
  readonly staticPodPath?: string
}

/** Flags win over the defaults of the distribution (N12, N13, N16). */
export function candidateFrom(source: CandidateSource): KubeletCandidate {
  const flags = parseKubeletFlags(source.args)
  const kubeconfig = flags.get('kubeconfig') ?? source.kubeconfig
  const named = flags.get('hostname-override')?.trim() || source.nodeName
  const bootstrap = flags.get('bootstrap-kubeconfig')
  return {
    source: source.source,
    ...defined({ pid: source.pid, process: source.process, unit: source.unit }),
    flags,
    args: withoutSecrets(source.args),
    rootDir: posix.resolve(source.workingDirectory, flags.get('root-dir') || source.rootDir || DEFAULT_ROOT_DIR),
    nodeName: canonicalNodeName(named || hostname()),
    isNamed: Boolean(named),
    // Relative to the kubelet's working directory, as for the kubelet itself (S33).
    ...(kubeconfig && { kubeconfig: posix.resolve(source.workingDirectory, kubeconfig) }),
    workingDirectory: source.workingDirectory,
    ...defined({ runtimeEndpoint: source.runtimeEndpoint, staticPodPath: source.staticPodPath }),
    standalone: (source.pid !== undefined || source.unit !== undefined) && !kubeconfig && !bootstrap,
  }
}
