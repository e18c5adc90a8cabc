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
import { isInUserNamespace } from '../processes/standing.ts'
import { deadMounts } from './dead-mounts.ts'
import { flexDrivers } from './flex-drivers.ts'
import { identityOf } from './host-identity.ts'
import { hostPaths } from './host-paths.ts'
import { livingVolumes } from './living-volumes.ts'
import { type LocatedNode, locateNode } from './locate-node.ts'
import { readLazilyDetached } from './read-lazily-detached.ts'
import { mountTableReader, readMountTableBeside } from './read-mountinfo.ts'
import { readSelinux } from './read-selinux.ts'
import { doubtsOf, headingOf, kubeletOf } from './snapshot-parts.ts'
import { readStaticPods } from './static-pods.ts'
import { scanTree } from './tree/read-tree.ts'
import { type StructureLinks, structureLinks } from './tree/structure-links.ts'

export interface CollectOptions {
  readonly rootDir?: string | undefined
  readonly nodeName?: string | undefined
  readonly runtimeEndpoint?: string | undefined
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  /** `all` for a snapshot, `plan` for a plan. */
  readonly attributes: 'all' | 'plan'
  /** With `all`: the pods of which everything is read, by on-disk UID, and of all others what a plan needs; default: all. */
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

/** @throws VolctlError or SafetyRefusal if there is nothing to plan from; see locateNode, scanTree and readApi */
export async function collectNode(options: CollectOptions): Promise<CollectedNode> {
  const log = stopwatch(options.log)
  const node = await locateNode(options)
  log(`node ${node.nodeName}, root ${node.rootDir}, kubelet: ${node.kubelet?.source ?? 'none found'}`)
  const capturedAt = new Date().toISOString()
  const processes = node.processes()
  const host = identityOf(node)
  const staticPods = readStaticPods(node.staticPods)
  const blockDevices = loopDevices()
  const installed = flexDrivers(node)
  const selinux = node.places?.selinux ?? readSelinux()
  const directory = node.places?.journalDir ?? DEFAULT_JOURNAL_DIR

  // Started after the request to the API, and while the others are asked: the scan yields, so that their answers are read.
  const begun = nextTurn()
  const { rootDir } = node
  const read = begun.then(() => readMounts(rootDir, log))
  const scan = read.then((known) => scanTree({ rootDir, ...known, attributes: options.attributes }))
  const local = [
    scan,
    begun.then(() => node.runtime()),
    Promise.all([scan, read]).then(([{ isMountPoint }, { links }]) => askDrivers(rootDir, isMountPoint, links)),
    read.then(({ mounts }) => deadMounts(mounts, rootDir)),
    begun.then(() => node.kubeletState()),
  ] as const
  const disk = {
    podUids: async () => [...(await scan).podUids, ...(processes?.podUids ?? []), ...living(await local[1])],
    read: () => Promise.all(local),
  }
  // Without the directories there is no plan, so the API is not waited for.
  const noUse = new AbortController()
  scan.then(
    ({ podUids }) => log(`directories: ${podUids.length} pods`),
    () => noUse.abort(),
  )
  const signal = AbortSignal.any([noUse.signal, ...(options.signal === undefined ? [] : [options.signal])])
  const remote = askApi({ ...options, signal }, node, disk)
  // All reads end before anything is thrown, so that no child and no request is left behind.
  await Promise.allSettled([remote, ...local])
  const [tree, runtime, csiSockets, dead, localKubelet] = await Promise.all(local)
  const { mounts, links } = await read
  const lazy = readLazilyDetached({ directory, bootID: host.bootID, mounts, isSuperblockGone })
  const { api, client, kubeletClient, kubeletUnused } = await remote
  log(`API ${api.server}: ${api.pods.length} pods, ${api.errors.length} errors`)
  const kubelet = kubeletOf(node, localKubelet, api, capturedAt)
  log(`kubelet: ${describe(kubelet)}; lease ${api.lease?.spec?.renewTime ?? 'not readable'}`)
  log(
    `runtime ${runtime.endpoint ?? runtime.source}: ${runtime.pods.length} sandboxes; ${csiSockets.length} CSI sockets`,
  )
  const entries = tree.complete(livingVolumes(api), options.wholePods?.(api.pods))
  log(`directories complete: ${entries.length} entries`)

  const alive = new Set([...(processes?.podUids ?? []), ...(processes?.nestedUids ?? []), ...living(runtime)])
  const checked = await hostPaths(api, (uid) => alive.has(uid))

  const snapshot: NodeSnapshot = {
    ...headingOf(node, capturedAt),
    ...host,
    ...(isInUserNamespace() && { userNamespace: true }),
    api,
    // On demand: a plan needs the table, and only a snapshot its text.
    get mountinfo() {
      return mounts.text
    },
    tree: entries,
    runtime,
    ...defined({ processes: processes?.podUids }),
    ...(processes !== undefined && processes.nestedUids.length > 0 && { nestedProcesses: processes.nestedUids }),
    deadMounts: dead,
    staticPods,
    kubelet,
    blockDevices,
    csiSockets,
    selinux,
    ...defined({ flexDrivers: installed }),
    ...(checked.length > 0 && { hostPaths: checked }),
    ...doubtsOf(node),
    ...(lazy.detached.length > 0 && { lazilyDetached: lazy.detached }),
    ...defined({ lazyMemory: lazy.defect }),
  }
  const readAgain = mountTableReader(rootDir, links.links)
  return { snapshot, mounts, node, client, kubeletClient, kubeletUnused, readMounts: readAgain }
}

interface KnownMounts {
  readonly mounts: MountTable
  readonly links: StructureLinks
}

async function readMounts(rootDir: string, log: (line: string) => void): Promise<KnownMounts> {
  const raw = await readMountTableBeside()
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
function living({ pods }: RuntimeSnapshot): string[] {
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
