/**
 * Reads a live node: one complete look.
 *
 * The order of the reads matters for safety (R804, N48): a pod that is on disk but not in the API's pod list must have been
 * on disk before the list was made. Still, the API is asked first, since it is the slowest. Its list counts if it names every
 * pod that has a directory; if not, the list is read again, after disk and runtime. Attributes of the directories of pods
 * that still run are not read at all (see read-tree.ts).
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { KubeClient } from '../api/kube-client.ts'
import type { DiskRead } from '../api/read-api.ts'
import { loopDevices } from '../block/block-devices.ts'
import { isSuperblockGone } from '../block/device-use.ts'
import { DEFAULT_JOURNAL_DIR } from '../journal/lazy-memory.ts'
import { defined } from '../lang/defined.ts'
import type { NodeState } from '../model/node-state.ts'
import type { Pod } from '../model/objects.ts'
import type {
  ApiSnapshot,
  CsiSocket,
  KubeletSnapshot,
  NodeSnapshot,
  RuntimeSnapshot,
  SandboxState,
} from '../model/snapshot.ts'
import { withLinks } from '../mountinfo/linked-mounts.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { parseMountinfo } from '../mountinfo/parse-mountinfo.ts'
import { isInUserNamespace } from '../processes/standing.ts'
import { allDoubts } from '../trust/doubts.ts'
import { deadMounts } from './dead-mounts.ts'
import { flexDrivers } from './flex-drivers.ts'
import { identityOf } from './host-identity.ts'
import { hostPaths } from './host-paths.ts'
import type { KubeletChoice } from './kubelet/find-kubelet.ts'
import { withSignsOfLife } from './kubelet/signs-of-life.ts'
import { livingVolumes } from './living-volumes.ts'
import { type LocatedNode, locateNode } from './locate-node.ts'
import { readLazilyDetached } from './read-lazily-detached.ts'
import { mountTableReader, readMountTable } from './read-mountinfo.ts'
import { readSelinux } from './read-selinux.ts'
import { readStaticPods } from './static-pods.ts'
import { scanTree } from './tree/read-tree.ts'
import { type StructureLinks, structureLinks } from './tree/structure-links.ts'

export interface CollectOptions {
  readonly rootDir?: string | undefined
  readonly nodeName?: string | undefined
  readonly runtimeEndpoint?: string | undefined
  readonly stopped?: KubeletChoice['stopped']
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  /** `all` for a snapshot, `plan` for a plan. */
  readonly attributes: 'all' | 'plan'
  /** With `all`: pods to read in full, by on-disk UID; of all others, only what a plan needs is read. Default: all pods. */
  readonly wholePods?: ((pods: readonly Pod[]) => ReadonlySet<string> | undefined) | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with what was read and how long it took (--verbose). */
  readonly log?: (line: string) => void
  /** From an earlier look at this node, so that its connections are reused. */
  readonly client?: KubeClient | undefined
  readonly kubeletClient?: KubeClient | undefined
  readonly kubeletUnused?: CollectedNode['kubeletUnused']
}

/** The node's state, and what a later look or an apply needs to read it again. */
export interface CollectedNode extends NodeState {
  readonly node: LocatedNode
  /** To be closed by the caller. */
  readonly client: KubeClient
  readonly kubeletClient: KubeClient | undefined
  /** The kubelet's credential, if it exists but is not used, and why (S2). */
  readonly kubeletUnused: { readonly source: string; readonly problem: string } | undefined
  /** Reads the mount table again. */
  readMounts(): MountTable
}

/** Parts of a look that can fail one by one. */
export type Part = 'api' | 'mountinfo' | 'tree' | 'runtime' | 'csiSockets' | 'kubelet' | 'deadMounts' | LocalPart
type LocalPart = 'staticPods' | 'blockDevices' | 'flexDrivers' | 'selinux'

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
  const { asked, ...look } = await lookAt(node, { ...options, log }, orThrow)
  if (asked === undefined) throw new Error('the API was not asked')
  const { client, kubeletClient, kubeletUnused } = asked
  return { ...look, node, client, kubeletClient, kubeletUnused }
}

/**
 * @param attempt without a default: whoever looks says what becomes of a part that cannot be read
 * @returns the connections of the look, too, to be closed by the caller; absent: the API could not be read
 */
export async function lookAt(
  node: LocatedNode,
  options: CollectOptions & { readonly log: (line: string) => void },
  attempt: Attempt,
): Promise<NodeState & Pick<CollectedNode, 'readMounts'> & { readonly asked: Asked | undefined }> {
  const { log } = options
  log(`node ${node.nodeName}, root ${node.rootDir}, kubelet: ${node.kubelet?.source ?? 'none found'}`)
  const capturedAt = new Date().toISOString()
  const processes = node.processes()
  const host = identityOf(node)
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
  const within = <T>(part: Part, work: (known: KnownMounts) => T | Promise<T>): Promise<T | undefined> =>
    read.then((known) => (known === undefined ? undefined : attempt(part, () => work(known))))
  const scan = within('tree', (known) => scanTree({ rootDir, ...known, attributes: options.attributes }))
  const local = [
    scan,
    begun.then(() => attempt('runtime', () => node.runtime())),
    scan.then((tree) => within('csiSockets', ({ links }) => askDrivers(rootDir, tree?.isMountPoint ?? NOWHERE, links))),
    within('deadMounts', ({ mounts }) => deadMounts(mounts, rootDir)),
    begun.then(() => attempt('kubelet', () => node.kubeletState())),
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
  const signal = AbortSignal.any([noUse.signal, ...(options.signal === undefined ? [] : [options.signal])])
  const remote = attempt('api', () => askApi({ ...options, signal }, node, disk))
  // All reads end before anything is thrown: no child and no request is left behind.
  await Promise.allSettled([remote, ...local])
  const [tree, runtime, csiSockets, dead, localKubelet] = await Promise.all(local)
  const known = await read
  const mounts = known?.mounts ?? parseMountinfo('')
  const lazy = readLazilyDetached({ directory, bootID: host.bootID, mounts, isSuperblockGone })
  const asked = await remote
  const api = asked?.api
  if (api !== undefined) log(`API ${api.server}: ${api.pods.length} pods, ${api.errors.length} errors`)
  const kubelet = localKubelet && kubeletOf(node, localKubelet, api, capturedAt)
  const renewed = api?.lease?.spec?.renewTime ?? 'not readable'
  if (kubelet !== undefined) log(`kubelet: ${describe(kubelet)}; lease ${renewed}`)
  const pods = runtime && `${runtime.endpoint ?? runtime.source}: ${runtime.pods.length} sandboxes`
  log(`runtime ${pods ?? 'not known'}; ${csiSockets?.length ?? 'unknown'} CSI sockets`)
  const entries = tree?.complete(
    api === undefined ? new Map() : livingVolumes(api),
    options.wholePods?.(api?.pods ?? []),
  )
  if (entries !== undefined) log(`directories complete: ${entries.length} entries`)

  const alive = new Set([...(processes?.podUids ?? []), ...(processes?.nestedUids ?? []), ...living(runtime)])
  const checked = api === undefined ? [] : await hostPaths(api, (uid) => alive.has(uid))

  const snapshot: NodeSnapshot = {
    ...headingOf(node, capturedAt),
    ...host,
    ...(isInUserNamespace() && { userNamespace: true }),
    // On demand: a plan needs the table, and only a snapshot its text.
    get mountinfo() {
      return mounts.text
    },
    ...defined({
      api,
      tree: entries,
      runtime,
      deadMounts: dead,
      staticPods,
      kubelet,
      blockDevices,
      csiSockets,
      selinux,
    }),
    ...defined({ processes: processes?.podUids, flexDrivers: installed }),
    ...(processes !== undefined && processes.nestedUids.length > 0 && { nestedProcesses: processes.nestedUids }),
    ...(checked.length > 0 && { hostPaths: checked }),
    ...doubtsOf(node),
    ...(lazy.detached.length > 0 && { lazilyDetached: lazy.detached }),
    ...defined({ lazyMemory: lazy.defect }),
  }
  return { snapshot, mounts, readMounts: mountTableReader(rootDir, known?.links.links ?? []), asked }
}

const NOWHERE = (): boolean => false

interface KnownMounts {
  readonly mounts: MountTable
  readonly links: StructureLinks
}

function readMounts(rootDir: string, log: (line: string) => void): KnownMounts {
  const raw = readMountTable()
  const links = structureLinks(rootDir, raw)
  const mounts = withLinks(raw, links.links)
  log(`mount table: ${mounts.size} mounts`)
  return { mounts, links }
}

function describe({ running, mayReturn, stoppedAt, stopShownBy }: KubeletSnapshot): string {
  if (running || mayReturn) return running ? 'runs' : 'may come back'
  return stoppedAt === undefined ? 'stopped' : `stopped at ${stoppedAt}, by ${stopShownBy ?? 'unit'}`
}

/** UIDs of pods that still run, by the container runtime. */
function living({ pods }: Pick<RuntimeSnapshot, 'pods'> = { pods: [] }): string[] {
  const lives = ({ state, containers }: SandboxState): boolean =>
    state !== 'SANDBOX_NOTREADY' || containers.some((container) => container.state !== 'CONTAINER_EXITED')
  return pods.filter(lives).map(({ uid }) => uid)
}

async function askDrivers(
  rootDir: string,
  isMountPoint: (path: string) => boolean,
  { unknown }: StructureLinks,
): Promise<readonly CsiSocket[]> {
  const { discoverCsiSockets } = await import('../csi/discover-csi-sockets.ts')
  return discoverCsiSockets({ rootDir, isMountPoint, unknownLink: (path) => unknown.get(path) })
}

interface Asked extends Pick<CollectedNode, 'client' | 'kubeletClient' | 'kubeletUnused'> {
  readonly api: ApiSnapshot
}

async function askApi(options: CollectOptions, node: LocatedNode, disk: DiskRead): Promise<Asked> {
  const [{ readApi }, { createKubeClient }, { discoverKubeConfig, discoverKubeletConfig }] = await Promise.all([
    import('../api/read-api.ts'),
    import('../api/kube-client.ts'),
    import('../api/kubeconfig/kube-config.ts'),
  ])
  const { signal, log } = options
  const places = {
    kubeletKubeconfig: node.kubelet?.kubeconfig,
    onAttempt: ({ source, problem }: { source: string; problem?: string }) =>
      log?.(`credential ${source}: ${problem ?? 'used'}`),
  }
  let { client, kubeletClient, kubeletUnused } = options
  if (client === undefined) {
    const kubeconfig = options.kubeconfig ?? node.places?.kubeconfig
    const credentials = discoverKubeConfig({ ...places, kubeconfig, context: options.context })
    client = createKubeClient(credentials)
    // A test's host has no kubelet, and this machine's is of another cluster.
    const second = credentials.kind === 'kubelet' || node.places !== undefined ? {} : discoverKubeletConfig(places)
    if (second.credentials !== undefined) kubeletClient = createKubeClient(second.credentials)
    kubeletUnused = second.unused
  }
  try {
    const api = await readApi({ client, nodeName: node.nodeName, kubeletClient, kubeletUnused, disk, signal })
    return { api, client, kubeletClient, kubeletUnused }
  } catch (error) {
    if (options.client === undefined) {
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

type Heading = Pick<NodeSnapshot, 'apiVersion' | 'kind' | 'capturedAt' | 'nodeName' | 'rootDir'>

/** @param capturedAt RFC 3339 */
function headingOf({ nodeName, rootDir }: LocatedNode, capturedAt: string): Heading {
  return { apiVersion: 'volctl.io/v1', kind: 'NodeSnapshot', capturedAt, nodeName, rootDir }
}

/** What was not trusted so far. Of a test's host only doubts about files count: processes and ports are this machine's. */
function doubtsOf({ places }: LocatedNode): Pick<NodeSnapshot, 'notBelieved'> {
  const doubts = allDoubts().filter(({ what }) => places === undefined || what.startsWith('/'))
  return doubts.length > 0 ? { notBelieved: doubts } : {}
}

/** The kubelet as the host shows it, with what the API server saw of it, and the name that it gives its node. */
function kubeletOf(
  { ownName }: LocatedNode,
  local: KubeletSnapshot,
  api: ApiSnapshot | undefined,
  capturedAt: string,
): KubeletSnapshot {
  const named = ownName === undefined ? {} : { nodeName: ownName.name, nodeNameFrom: ownName.from }
  return { ...withSignsOfLife(local, api, Date.parse(capturedAt)), ...named }
}
