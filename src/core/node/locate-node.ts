/** Finds out which node this is: root directory, name, kubelet and runtime, from one scan of the processes (S8). */

import { existsSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { load } from 'js-yaml'
import { present } from '../base/text.ts'
import { readStandingFacts, type StandingObstacle, standingObstacles } from '../linux/standing.ts'
import { errnoOf, isMissing, SafetyRefusal, said, usageError, VolctlError } from '../messages/findings.ts'
import { type RuntimeSnapshot, unixSocketPath } from '../rpc/endpoints.ts'
import { addDoubt, allDoubts, checkTrusted, NotTrusted, TRUST_HINT, trustedTextIfAny } from '../trust/files.ts'
import { pin } from '../trust/processes.ts'
import { environment } from '../trust/run.ts'
import type { KubeletSnapshot } from '../volumes/snapshot.ts'
import { findKubelet, type KubeletChoice, kubeletsSeen } from './kubelet/find-kubelet.ts'
import { DEFAULT_ROOT_DIR, type KubeletCandidate } from './kubelet/kubelet-candidate.ts'
import { type KubeletConfig, kubeletConfig } from './kubelet/kubelet-config.ts'
import { canonicalNodeName, otherName } from './kubelet/kubelet-flags.ts'
import { healthOf, kubeletState } from './kubelet/kubelet-state.ts'
import { scanProcesses } from './kubelet/scan-processes.ts'
import type { LocalKubelet } from './kubelet/signs-of-life.ts'
import { type Places, places as placesNow } from './places.ts'
import { checkMountNamespace } from './read-mountinfo.ts'

/** This host as a node. */
export type LocatedNode = Awaited<ReturnType<typeof locateNode>>

const RUNTIME_DEADLINE_MS = 5000
const KUBEADM_STATIC_PODS = '/etc/kubernetes/manifests'

/**
 * @throws WrongNamespace if volctl must enter the kubelet's mount namespace first (S6), SafetyRefusal for several kubelets
 * (S8) or another kubelet's name (S1), VolctlError for a missing root directory
 */
export async function locateNode(choice: KubeletChoice) {
  using scan = scanProcesses()
  using seen = await kubeletsSeen(scan.kubelets)
  const running = seen.kubelets
  const places = placesNow()
  const kubelet = places === undefined ? findKubelet(running, choice) : undefined
  const wantedRoot = choice.rootDir ?? places?.rootDir ?? kubelet?.rootDir ?? DEFAULT_ROOT_DIR
  const ownName = await ownNodeName(kubelet)
  if (choice.nodeName !== undefined) requireOwnName(choice.nodeName, ownName)
  const nodeName = choice.nodeName ?? places?.nodeName ?? ownName?.nodeName ?? kubelet?.nodeName ?? hostname()
  if (places === undefined) {
    const runtimes = scan.runtimes.flatMap(({ process }) => process ?? [])
    checkMountNamespace(kubelet?.process, runtimes, wantedRoot)
  }
  const rootDir = resolvedRoot(wantedRoot)
  const config: KubeletConfig = kubelet === undefined ? {} : kubeletConfig(kubelet.flags, kubelet.workingDirectory)
  let first = scan.pods
  return {
    /** With links resolved, as in mountinfo. */
    rootDir,
    nodeName: canonicalNodeName(nodeName),
    /** Undefined: none was found, or none was to be looked for. Its process is only pinned while the node is located. */
    kubelet: kubelet && { ...kubelet, process: undefined },
    /** The node name that this kubelet uses, if known. */
    ownName,
    config,
    /** Why volctl may only read here, and change nothing. */
    standing: places === undefined ? standing(kubelet, scan.runtimes.length > 0) : [],
    places,
    staticPods: staticPodSource(places, kubelet, config),
    /** Pods that have a process at this moment; undefined: /proc could not be listed. */
    processes: () => {
      using again = first === undefined ? scanProcesses() : undefined
      const seen = first ?? again?.pods
      first = undefined
      return seen && { ...seen, podUids: [...new Set([...seen.podUids, ...(places?.processes ?? [])])].sort() }
    },
    /** Asks the process table, systemd and the kubelet's ports again (S11). */
    kubeletState: async () => placesNow()?.kubelet ?? stateNow(kubelet, config, choice.stopped !== undefined),
    /** Whether the kubelet's health port answers now; undefined: it has none. */
    kubeletHealth: () => healthOf(config),
    /** Asks the container runtimes again (S9). */
    runtime: () =>
      askRuntimes(places, choice.runtimeEndpoint, config.containerRuntimeEndpoint ?? kubelet?.runtimeEndpoint),
  }
}

/** S1, decided from this host alone. @throws SafetyRefusal OtherNode */
function requireOwnName(chosen: string, own: OwnNodeName | undefined): void {
  if (own === undefined || own.nodeNameFrom === 'hostname' || own.nodeName === canonicalNodeName(chosen)) return
  const other = otherName(chosen, own.nodeName)
  throw new SafetyRefusal(other.rule, other, other)
}

async function stateNow(
  kubelet: KubeletCandidate | undefined,
  config: KubeletConfig,
  stoppedHere: boolean,
): Promise<LocalKubelet> {
  using seen = await kubeletsSeen()
  const chosen = seen.kubelets.find((each) => each.rootDir === kubelet?.rootDir) ?? kubelet
  return await kubeletState({ running: seen.kubelets, chosen, config, stoppedHere })
}

function resolvedRoot(rootDir: string): string {
  try {
    return realpathSync.native(rootDir)
  } catch (error) {
    const missing = isMissing(error)
    throw new VolctlError(
      said('NodeUnreadable.rootDir', {
        rootDir,
        fault: missing ? ' does not exist' : ` cannot be read: ${errnoOf(error)}`,
      }),
      {
        cause: error,
        hint: missing ? `${passedOver()}Name the kubelet's root directory with --root-dir.` : 'Run volctl as root.',
      },
    )
  }
}

/** No plan can report doubts here, so the hint has to: a kubelet may have been found and ignored (S32). */
function passedOver(): string {
  return allDoubts()
    .map(({ what, why }) => `${what}: ${why}. `)
    .join('')
}

function standing(kubelet: KubeletCandidate | undefined, runtime: boolean): readonly StandingObstacle[] {
  using first = pin(1)
  const facts = readStandingFacts(kubelet?.process ?? first, { kubelet: kubelet?.process !== undefined, runtime })
  if (!kubelet?.standalone) return standingObstacles(facts)
  const standalone: StandingObstacle = {
    rule: 'S8',
    ...said('KubeletUnclear.standalone', kubelet),
    hint: 'volctl can only report here; it changes nothing unless the kubelet has a --kubeconfig.',
  }
  return [...standingObstacles(facts), standalone]
}

/** If no configuration could be read, kubeadm's directory is read: more static pods can only protect more directories. */
function staticPodSource(places: Places | undefined, kubelet: KubeletCandidate | undefined, config: KubeletConfig) {
  const guess = kubelet?.flags.has('config') || places !== undefined || !existsSync(KUBEADM_STATIC_PODS)
  const path =
    places?.staticPodPath ?? config.staticPodPath ?? kubelet?.staticPodPath ?? (guess ? undefined : KUBEADM_STATIC_PODS)
  return { path, url: config.staticPodURL }
}

/** Merges the answers of all runtimes (S9): those that are named, and those with a socket in the usual places. */
async function askRuntimes(
  places: Places | undefined,
  given: string | undefined,
  configured: string | undefined,
): Promise<RuntimeSnapshot> {
  const { readRuntime, WELL_KNOWN_RUNTIME_ENDPOINTS } = await import('../rpc/read-runtime.ts')
  const ofTest = places?.runtimeEndpoints
  const isNodes = ofTest === undefined || given !== undefined
  const { required, others } = isNodes ? runtimeEndpoints(given, configured) : { required: ofTest, others: [] }
  const endpoints = [...others, ...(ofTest ?? WELL_KNOWN_RUNTIME_ENDPOINTS)]
  const expected = places?.runtimeExpected ?? isNodes
  return readRuntime({ endpoints, required, expected, deadlineMs: RUNTIME_DEADLINE_MS })
}

/** From a `flag` or its distribution's file; a `credential`, as the API accepts it under no other name; the `hostname`: neither exists. */
type OwnNodeName = Pick<KubeletSnapshot, 'nodeName' | 'nodeNameFrom'> & { readonly nodeName: string }

/**
 * The name that this host's kubelet uses (S1, N13). Undefined also for a root directory without a process or unit: how its kubelet is
 * started is unknown.
 */
export async function ownNodeName(kubelet: KubeletCandidate | undefined): Promise<OwnNodeName | undefined> {
  if (kubelet === undefined) return undefined
  if (kubelet.isNamed) return { nodeName: kubelet.nodeName, nodeNameFrom: 'flag' }
  // Imported only when needed, which is seldom: most kubelets have a flag.
  const { nodeNameInKubeconfig } = await import('../kube/kubeconfig/kube-credentials.ts')
  const name = kubelet.kubeconfig === undefined ? undefined : nodeNameInKubeconfig(kubelet.kubeconfig)
  if (name !== undefined) return { nodeName: canonicalNodeName(name), nodeNameFrom: 'credential' }
  const isStarted = kubelet.pid !== undefined || kubelet.unit !== undefined
  // An in-tree cloud provider asks the cloud for the name.
  const cloud = kubelet.flags.get('cloud-provider') ?? ''
  if (!isStarted || !['', 'external'].includes(cloud)) return undefined
  return { nodeName: kubelet.nodeName, nodeNameFrom: 'hostname' }
}

// Where this node's container runtime listens: by --runtime-endpoint, otherwise by the kubelet's or crictl(1)'s configuration (S8, S9).

/** crictl's own configuration file. */
const CRICTL_CONFIG = '/etc/crictl.yaml'

/**
 * The endpoint that is named first must answer. The others are asked as well, and all answers are merged (S9).
 *
 * @param given --runtime-endpoint
 * @param configured the kubelet's endpoint
 * @returns those that must answer, and others that are asked in addition
 * @throws VolctlError Usage for a `given` that is not a unix socket
 */
export function runtimeEndpoints(
  given: string | undefined,
  configured: string | undefined,
  variable = environment().CONTAINER_RUNTIME_ENDPOINT,
  crictlConfig = CRICTL_CONFIG,
) {
  if (given !== undefined && unixSocketPath(given) === undefined) {
    throw usageError('Usage.form', 'Give a socket such as unix:///run/containerd/containerd.sock.', {
      flag: '--runtime-endpoint',
      text: given,
      form: 'a unix socket',
    })
  }
  // An empty endpoint counts as none.
  const named = present(given, configured, believed(variable, 'CONTAINER_RUNTIME_ENDPOINT'))
  const crictls = believed(crictlsEndpoint(crictlConfig), crictlConfig)
  return { required: named.slice(0, 1), others: present(...named.slice(1), crictls) }
}

/** A socket's answer about which pods run only counts if nobody but root could have put the socket there (S32). */
function believed(endpoint: string | undefined, source: string): string | undefined {
  const path = endpoint === undefined ? undefined : unixSocketPath(endpoint)
  if (path === undefined) return undefined
  try {
    checkTrusted(dirname(path))
    return endpoint
  } catch (error) {
    if (!(error instanceof NotTrusted)) return endpoint
    addDoubt({ what: `${path} (${source})`, why: `this socket is not asked: ${error.message}`, hint: TRUST_HINT })
    return undefined
  }
}

function crictlsEndpoint(file: string): string | undefined {
  const { text, unusable } = trustedTextIfAny(file)
  if (unusable !== undefined) addDoubt({ what: file, why: `this file is ignored: ${unusable}`, hint: TRUST_HINT })
  if (text === undefined) return undefined
  try {
    const endpoint = (load(text) as Readonly<Record<string, unknown>> | undefined)?.['runtime-endpoint']
    return typeof endpoint === 'string' ? endpoint : undefined
  } catch {
    // A damaged file of crictl's is no error of this node: the usual places are asked anyway.
    return undefined
  }
}
