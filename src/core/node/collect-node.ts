/**
 * Reads a live node: one complete look.
 *
 * The order of the reads matters for safety (R804, N48): a pod that is on disk but not in the API's pod list must have been
 * on disk before the list was made. Still, the API is asked first, since it is the slowest. Its list counts if it names every
 * pod that has a directory; if not, the list is read again, after disk and runtime. Attributes of the directories of pods
 * that still run are not read at all (see read-tree.ts).
 */

import { accessSync, constants, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { omitUndefined } from '../base/collections.ts'
import { compareText, present, unlessEmpty } from '../base/text.ts'
import type { Pod } from '../kube/api/objects.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { loopDevices } from '../linux/block/device-use.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { parseMountinfo } from '../linux/parse-mountinfo.ts'
import { isInUserNamespace } from '../linux/standing.ts'
import { allowing, errnoOf, errorMessage, MISSING } from '../messages/findings.ts'
import type { CsiSocket, RuntimeSnapshot, SandboxState } from '../rpc/endpoints.ts'
import { allDoubts, checkTrusted, NotTrusted, readTrustedText } from '../trust/files.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'
import type { ListedEntry } from '../volumes/on-disk/tree.ts'
import { isTerminalPhase, isTerminating, namedUids } from '../volumes/pods.ts'
import type { ApiSnapshot, FlexDriver, KubeletSnapshot, NodeSnapshot, NodeState, Selinux } from '../volumes/snapshot.ts'
import { unescapeQualifiedName } from '../volumes/volume-names.ts'
import type { DiskRead } from './api/read-api.ts'
import { deadMounts } from './dead-mounts.ts'
import { hostIdentity } from './host-identity.ts'
import { hostPaths } from './host-paths.ts'
import type { KubeletChoice } from './kubelet/find-kubelet.ts'
import { type LocalKubelet, withSignsOfLife } from './kubelet/signs-of-life.ts'
import { unitFacts, whyUnstoppable } from './kubelet/stoppable.ts'
import { type LocatedNode, locateNode } from './locate-node.ts'
import { copiesObstacle } from './private-copies.ts'
import { DEFAULT_JOURNAL_DIR, readLazilyDetached } from './read-lazily-detached.ts'
import { mountTableReader, readMountTable } from './read-mountinfo.ts'
import { readStaticPods } from './static-pods.ts'
import type { LivingPod } from './tree/pod-directory.ts'
import { scanTree } from './tree/read-tree.ts'
import { structureLinks } from './tree/structure-links.ts'

export interface CollectOptions extends KubeletChoice {
  readonly kubeconfig?: string
  readonly context?: string
  /** --host-root: volctl was started in a container. */
  readonly hostRoot?: string
  /** `all` for a snapshot and for explain, `plan` for a plan. */
  readonly attributes: 'all' | 'plan'
  readonly signal?: AbortSignal
  /** Called with what was read and how long it took (--verbose). */
  readonly log?: (line: string) => void
  /** Those of an earlier look at this node are used again. */
  readonly before?: Connections
}

/** To be closed by the caller. */
interface Connections {
  readonly client: KubeClient
  readonly kubeletClient: KubeClient | undefined
  /** The kubelet's credential, if it exists but is not used, and why (S2). */
  readonly kubeletUnused: { readonly source: string; readonly problem: string } | undefined
}

interface Look extends NodeState {
  readonly node: LocatedNode
  /** Reads the mount table again. */
  readMounts(): MountTable
}

/** The node's state, and what a later look or an apply needs to read it again. */
export interface CollectedNode extends Look, Connections {}

/** Parts of a look that can fail one by one. */
export type Part =
  | ('api' | 'mountinfo' | 'tree' | 'runtime' | 'csiSockets' | 'kubelet' | 'deadMounts')
  | ('staticPods' | 'blockDevices' | 'flexDrivers' | 'selinux')

/**
 * Reads one part of a look. What cannot be read is thrown, or its section is missing, which counts as in use; it is never empty, which
 * would count as nothing there.
 */
export type Attempt = <T>(part: Part, read: () => T | Promise<T>) => Promise<T | undefined>

/** For plan and apply: where a part cannot be read, there is no look. */
const orThrow: Attempt = async (_, read) => await read()

/** @throws VolctlError or SafetyRefusal if there is nothing to plan from; see locateNode, scanTree and readApi */
export async function collectNode(options: CollectOptions): Promise<CollectedNode> {
  const log = stopwatch(options.log)
  const node = await locateNode(options)
  const { connections, ...look } = await lookAt(node, { ...options, log }, orThrow)
  if (connections === undefined) throw new Error('the API was not asked')
  return { ...look, ...connections }
}

/**
 * @param attempt without a default: whoever looks says what becomes of a part that cannot be read
 * @returns the connections of the look, too, to be closed by the caller; absent: the API could not be read
 */
export async function lookAt(
  node: LocatedNode,
  options: CollectOptions & { readonly log: (line: string) => void },
  attempt: Attempt,
): Promise<Look & { readonly connections?: Connections }> {
  const { log } = options
  log(`node ${node.nodeName}, root ${node.rootDir}, kubelet: ${node.kubelet?.source ?? 'none found'}`)
  const capturedAt = new Date().toISOString()
  const processes = node.processes()
  const { machineID, systemUUID, bootID, bootTime, kernelVersion } = { ...node.places }
  // Of a test's host it is what the test says.
  const host = {
    ...hostIdentity('', node.kubelet?.flags),
    ...omitUndefined({ machineID, systemUUID, bootID, bootTime, kernelVersion }),
  }
  const staticPods = await attempt('staticPods', () => readStaticPods(node.staticPods))
  const blockDevices = await attempt('blockDevices', loopDevices)
  const installed = await attempt('flexDrivers', () => flexDrivers(node))
  const selinux = await attempt('selinux', () => node.places?.selinux ?? readSelinux())
  const directory = node.places?.journalDir ?? DEFAULT_JOURNAL_DIR

  // Started after the request to the API, and while the others are asked: the scan yields, so that their answers are read.
  const begun = nextTurn()
  const { rootDir } = node
  const read = begun.then(() => attempt('mountinfo', () => readMounts(rootDir, log)))
  // Without the mount table no directory is entered, and nobody is asked: what is mounted there might hang.
  const within = <T>(
    part: Part,
    work: (known: ReturnType<typeof readMounts>) => T | Promise<T>,
  ): Promise<T | undefined> =>
    read.then((known) => (known === undefined ? undefined : attempt(part, () => work(known))))
  const scan = within('tree', (known) => scanTree({ rootDir, ...known, attributes: options.attributes }))
  const local = [
    scan,
    begun.then(() => attempt('runtime', () => node.runtime())),
    scan.then((tree) => tree && attempt('csiSockets', () => askDrivers(rootDir, tree.listed()))),
    within('deadMounts', ({ mounts }) => deadMounts(mounts, rootDir)),
    begun.then(() => attempt('kubelet', () => kubeletHere(node))),
  ] as const
  const disk = {
    podUids: async () => [...((await scan)?.podUids ?? []), ...(processes?.podUids ?? []), ...living(await local[1])],
    read: () => Promise.all(local),
  }
  // Without the directories there is no plan, so the API is not waited for.
  const noUse = new AbortController()
  scan.then(
    (tree) => tree !== undefined && log(`directories: ${tree.podUids.length} pods`),
    () => noUse.abort(),
  )
  const signal = AbortSignal.any(present(noUse.signal, options.signal))
  const remote = attempt('api', () => askApi({ ...options, signal }, node, disk))
  // All reads end before anything is thrown: no child and no request is left behind.
  await Promise.allSettled([remote, ...local])
  const [tree, runtime, csiSockets, dead, localKubelet] = await Promise.all(local)
  const known = await read
  const mounts = known?.mounts ?? parseMountinfo('')
  const lazy = readLazilyDetached(directory, host.bootID, mounts)
  const { api, connections } = { ...(await remote) }
  if (api !== undefined) log(`API ${api.server}: ${api.pods.length} pods, ${api.errors.length} errors`)
  // As the host shows it, with what the API server saw of it, and the name that it gives its node.
  const kubelet = localKubelet && { ...withSignsOfLife(localKubelet, api, Date.parse(capturedAt)), ...node.ownName }
  const renewed = api?.lease?.spec?.renewTime ?? 'not readable'
  if (kubelet !== undefined) log(`kubelet: ${describe(kubelet)}; lease ${renewed}`)
  const pods = runtime && `${runtime.endpoint ?? runtime.source}: ${runtime.pods.length} sandboxes`
  log(`runtime ${pods ?? 'not known'}; ${csiSockets?.length ?? 'unknown'} CSI sockets`)
  const entries = tree?.complete(api === undefined ? new Map() : livingVolumes(api))
  if (entries !== undefined) log(`directories complete: ${entries.length} entries`)

  const alive = new Set([...(processes?.podUids ?? []), ...(processes?.nestedUids ?? []), ...living(runtime)])
  const checked =
    api === undefined || known === undefined ? [] : await hostPaths(api, known.mounts, (uid) => alive.has(uid))

  // What was not trusted so far. Of a test's host only doubts about files count: processes and ports are this machine's.
  const doubts = allDoubts().filter(({ what }) => node.places === undefined || what.startsWith('/'))
  const snapshot: NodeSnapshot = {
    ...{ apiVersion: 'volctl.io/v1', kind: 'NodeSnapshot', capturedAt, nodeName: node.nodeName, rootDir },
    ...host,
    userNamespace: isInUserNamespace() || undefined,
    mountinfo: mounts.text,
    api,
    tree: entries,
    runtime,
    deadMounts: dead,
    staticPods,
    kubelet,
    blockDevices,
    csiSockets,
    selinux,
    processes: processes?.podUids,
    flexDrivers: installed,
    nestedProcesses: unlessEmpty(processes?.nestedUids),
    hostPaths: unlessEmpty(checked),
    notBelieved: unlessEmpty(doubts),
    lazilyDetached: unlessEmpty(lazy.detached),
    lazyMemory: lazy.defect,
  }
  // What the container itself would hold keeps volctl from changing anything, and says nothing of who uses it on the node.
  const copies = known && (await attempt('mountinfo', () => copiesObstacle(mounts, rootDir, options.hostRoot)))
  return {
    snapshot,
    mounts,
    connections,
    node: copies === undefined ? node : { ...node, standing: [...node.standing, copies] },
    readMounts: mountTableReader(rootDir, known?.links.links ?? []),
  }
}

function readMounts(rootDir: string, log: (line: string) => void) {
  const raw = readMountTable()
  const links = structureLinks(rootDir, raw)
  const mounts = raw.withLinks(links.links)
  log(`mount table: ${mounts.all.length} mounts`)
  return { mounts, links }
}

function describe({ running, mayReturn, stoppedAt, stopShownBy }: KubeletSnapshot): string {
  if (running || mayReturn) return running ? 'runs' : 'may come back'
  return stoppedAt === undefined ? 'stopped' : `stopped at ${stoppedAt}, by ${stopShownBy ?? 'unit'}`
}

/** UIDs of pods that still run, by the container runtime. */
function living(runtime: RuntimeSnapshot | undefined): string[] {
  const lives = ({ state, containers }: SandboxState): boolean =>
    state !== 'SANDBOX_NOTREADY' || containers.some((container) => container.state !== 'CONTAINER_EXITED')
  return (runtime?.pods ?? []).filter(lives).map(({ uid }) => uid)
}

/** With why --stop-kubelet would be refused; a test's node has no unit of this machine. */
async function kubeletHere(node: LocatedNode): Promise<LocalKubelet> {
  const kubelet = await node.kubeletState()
  const { running, unit } = kubelet
  if (!running || unit === undefined || node.places !== undefined) return kubelet
  const facts = await unitFacts(unit)
  return { ...kubelet, unstoppable: facts && whyUnstoppable(facts) }
}

async function askDrivers(rootDir: string, tree: readonly ListedEntry[]): Promise<readonly CsiSocket[]> {
  const { discoverCsiSockets } = await import('../rpc/discover-csi-sockets.ts')
  return discoverCsiSockets(rootDir, tree)
}

async function askApi(options: CollectOptions, node: LocatedNode, disk: DiskRead) {
  const [{ readApi }, { createKubeClient }, { discoverKubeConfig, discoverKubeletConfig }] = await Promise.all([
    import('./api/read-api.ts'),
    import('../kube/kube-client.ts'),
    import('../kube/kubeconfig/kube-config.ts'),
  ])
  const { signal, log, before } = options
  const places = {
    kubeletKubeconfig: node.kubelet?.kubeconfig,
    onAttempt: ({ source, problem }: { source: string; problem?: string }) =>
      log?.(`credential ${source}: ${problem ?? 'used'}`),
  }
  const connect = (): Connections => {
    const kubeconfig = options.kubeconfig ?? node.places?.kubeconfig
    const credentials = discoverKubeConfig({ ...places, kubeconfig, context: options.context })
    const client = createKubeClient(credentials)
    // A test's host has no kubelet, and this machine's is of another cluster.
    const second = credentials.kind === 'kubelet' || node.places !== undefined ? {} : discoverKubeletConfig(places)
    const kubeletClient = second.credentials && createKubeClient(second.credentials)
    return { client, kubeletClient, kubeletUnused: second.unused }
  }
  const { client, kubeletClient, kubeletUnused } = before ?? connect()
  try {
    const api = await readApi({ client, nodeName: node.nodeName, kubeletClient, kubeletUnused, disk, signal })
    return { api, connections: { client, kubeletClient, kubeletUnused } }
  } catch (error) {
    if (before === undefined) {
      client.close()
      kubeletClient?.close()
    }
    throw error
  }
}

/** Adds to each line the time since the one before. */
function stopwatch(log: ((line: string) => void) | undefined): (line: string) => void {
  let last = performance.now()
  return (line) => {
    const now = performance.now()
    log?.(`${line} (${(now - last).toFixed(0)} ms)`)
    last = now
  }
}

// flexVolume drivers that are installed on this node, in the directory where its kubelet looks for them (P85).

const DEFAULT_DIRECTORY = '/usr/libexec/kubernetes/kubelet-plugins/volume/exec'

function flexDrivers({ places, config, kubelet }: LocatedNode): readonly FlexDriver[] | undefined {
  const own = posix.resolve(kubelet?.workingDirectory ?? '/', config.volumePluginDir ?? DEFAULT_DIRECTORY)
  // A test's host has its own drivers, or none: never this machine's.
  const directory = places === undefined ? own : places.volumePluginDir
  return directory === undefined ? [] : driversIn(directory)
}

/** @returns undefined if the directory exists but cannot be read, so that the drivers are unknown */
export function driversIn(directory: string): readonly FlexDriver[] | undefined {
  let names: string[]
  try {
    names = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? [] : undefined
  }
  return names.toSorted(compareText).map((name) => {
    // VENDOR~DRIVER/DRIVER; without a vendor the program has the directory's name.
    const program = name.slice(name.indexOf('~') + 1)
    const executable = posix.join(directory, name, program)
    const error = whyNotExecutable(executable)
    return { name: unescapeQualifiedName(name), executable, error }
  })
}

function whyNotExecutable(path: string): string | undefined {
  try {
    // The driver will be run as root: nobody else may have put it there (S33).
    if (!checkTrusted(path).isFile()) return 'it is not a file'
    accessSync(path, constants.X_OK)
    return undefined
  } catch (error) {
    return error instanceof NotTrusted ? error.message : (errnoOf(error) ?? 'cannot be read')
  }
}

// Facts about pods that have not ended, from the API, that decide which of their files a plan must read.

/**
 * Of the pods that the API lists and that have not ended, by on-disk UID. The volumes of a Finished pod are treated like those of
 * a Gone pod, so for these everything is read.
 */
export function livingVolumes(api: ApiSnapshot): ReadonlyMap<string, LivingPod> {
  const volumesOf =
    ({ spec }: Pod): LivingPod =>
    (volume) =>
      spec.volumes?.find(({ name }) => name === volume)
  const living = api.pods.filter((pod) => !isTerminating(pod) && !isTerminalPhase(pod))
  return new Map(living.flatMap((pod) => namedUids(pod).map((uid) => [uid, volumesOf(pod)])))
}

// The SELinux label of containers' files on this host (C68), read as the kubelet's own library reads it.

/** Read first; otherwise lxc_contexts of the policy. */
const CONTAINER_CONTEXTS = '/usr/share/containers/selinux/contexts'
const DEFAULT_POLICY = 'targeted'

/** @param root prefix of the paths, for tests */
export function readSelinux(root = ''): Selinux {
  const enforce = kernelTextIfAny(`${root}/sys/fs/selinux/enforce`)
  // Before a policy is loaded, every process has the label `kernel`.
  const own = kernelTextIfAny(`${root}/proc/self/attr/current`)?.replaceAll('\0', '')
  if (enforce === undefined || own === 'kernel') return { enabled: false }
  const policy = (): string =>
    lastValue(readIfThere(`${root}/etc/selinux/config`) ?? '', 'SELINUXTYPE') || DEFAULT_POLICY
  try {
    const text =
      readIfThere(root + CONTAINER_CONTEXTS) ?? readIfThere(`${root}/etc/selinux/${policy()}/contexts/lxc_contexts`)
    const fileLabel = lastValue(text ?? '', 'file')
    return { enabled: true, fileLabel: fileLabel || undefined }
  } catch (error) {
    return { enabled: true, error: errorMessage(error) }
  }
}

/** The value of `key = "value"`; the quotes are optional, and the last line with the key counts. */
function lastValue(text: string, key: string): string | undefined {
  return text
    .split('\n')
    .map((line) => /^\s*([^=#;]+?)\s*=\s*(.*?)\s*$/.exec(line))
    .findLast((match) => match?.[1] === key)?.[2]
    ?.replace(/^"(.*)"$/, '$1')
}

/** @throws the system's error if the file exists and cannot be read */
function readIfThere(path: string): string | undefined {
  return allowing(MISSING, undefined, () => readTrustedText(path))
}
