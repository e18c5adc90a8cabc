/**
 * Reads everything that `volctl doctor` judges, each part by itself: what plan gives up at is what doctor goes on after. The disk is
 * read before the API server is asked, so that a pod on disk that the list lacks is older than the list (R804).
 */
import { loopDevices } from '../../block/block-devices.ts'
import { discoverCsiSockets } from '../../csi/discover-csi-sockets.ts'
import { defined } from '../../lang/defined.ts'
import type { NodeState } from '../../model/node-state.ts'
import type { ApiSnapshot, NodeSnapshot } from '../../model/snapshot.ts'
import { withLinks } from '../../mountinfo/linked-mounts.ts'
import type { MountTable } from '../../mountinfo/mount-table.ts'
import { parseMountinfo } from '../../mountinfo/parse-mountinfo.ts'
import { deadMounts } from '../../node/dead-mounts.ts'
import { flexDrivers } from '../../node/flex-drivers.ts'
import { identityOf } from '../../node/host-identity.ts'
import type { KubeletChoice } from '../../node/kubelet/find-kubelet.ts'
import { livingVolumes } from '../../node/living-volumes.ts'
import { type LocatedNode, locateNode } from '../../node/locate-node.ts'
import { readMountTable } from '../../node/read-mountinfo.ts'
import { doubtsOf, headingOf, kubeletOf } from '../../node/snapshot-parts.ts'
import { readStaticPods } from '../../node/static-pods.ts'
import { scanTree, type TreeScan } from '../../node/tree/read-tree.ts'
import { structureLinks } from '../../node/tree/structure-links.ts'
import { isInUserNamespace } from '../../processes/standing.ts'
import type { DoctorFacts, Failure, Source } from '../facts.ts'
import { attempt, resultOf } from './attempt.ts'
import { type ApiChoice, gatherApi } from './gather-api.ts'
import { gatherHost } from './gather-host.ts'

type Failures = Partial<Record<Source, Failure>>

/**
 * The facts of this node.
 *
 * @throws WrongNamespace where root has to enter another mount namespace first (S6)
 */
export async function gatherFacts(
  choice: KubeletChoice & ApiChoice & { readonly hostRoot?: string | undefined },
): Promise<DoctorFacts> {
  const { log = () => undefined } = choice
  const located = await attempt(() => locateNode(choice))
  const node = resultOf(located)
  const table = await attempt(readMountTable)
  const disk = node === undefined ? undefined : await readDisk(node, resultOf(table))
  log(`node ${node?.nodeName ?? located.failure?.message}`)
  const { api, facts, failures } = await gatherApi(choice, node)
  log(`API: ${api === undefined ? (failures.api ?? failures.server ?? failures.credential)?.message : api.server}`)
  const host = await gatherHost(node, resultOf(table), disk?.kubelet?.pid, choice.hostRoot)
  return {
    source: 'node',
    ...(node !== undefined && disk !== undefined && { state: stateOf(node, disk, api) }),
    failures: { ...defined({ node: located.failure, mountinfo: table.failure }), ...disk?.failures, ...failures },
    api: facts,
    host,
  }
}

/** A snapshot's facts. */
export function factsOfSnapshot(state: NodeState): DoctorFacts {
  return { source: 'snapshot', state, failures: {} }
}

interface Disk {
  readonly mounts: MountTable
  readonly scan: TreeScan | undefined
  readonly sections: Omit<NodeSnapshot, 'apiVersion' | 'kind' | 'capturedAt' | 'nodeName' | 'rootDir' | 'kubelet'>
  readonly kubelet: Awaited<ReturnType<LocatedNode['kubeletState']>> | undefined
  readonly failures: Failures
}

/** Without the mount table no directory is entered: what is mounted there might hang. */
async function readDisk(node: LocatedNode, raw: MountTable | undefined): Promise<Disk> {
  const { rootDir } = node
  const links = raw && structureLinks(rootDir, raw)
  const mounts = raw === undefined || links === undefined ? parseMountinfo('') : withLinks(raw, links.links)
  const scan = await attempt(async () =>
    links === undefined ? undefined : await scanTree({ rootDir, mounts, links, attributes: 'plan' }),
  )
  const isMountPoint = resultOf(scan)?.isMountPoint ?? (() => false)
  const unknownLink = (path: string): string | undefined => links?.unknown.get(path)
  const [runtime, csiSockets, kubelet, dead] = await Promise.all([
    attempt(() => node.runtime()),
    attempt(() => (links === undefined ? undefined : discoverCsiSockets({ rootDir, isMountPoint, unknownLink }))),
    attempt(() => node.kubeletState()),
    attempt(() => deadMounts(mounts, rootDir)),
  ])
  const asked = { runtime: resultOf(runtime), csiSockets: resultOf(csiSockets), deadMounts: resultOf(dead) }
  return {
    mounts,
    scan: resultOf(scan),
    kubelet: resultOf(kubelet),
    sections: { ...identityOf(node), ...defined(asked), ...(await ownSections(node)) },
    failures: defined({
      tree: scan.failure,
      runtime: runtime.failure,
      csiSockets: csiSockets.failure,
      kubelet: kubelet.failure,
    }),
  }
}

/** What is read without asking anybody. */
async function ownSections(node: LocatedNode): Promise<Partial<Disk['sections']>> {
  const processes = node.processes()
  return {
    ...(isInUserNamespace() && { userNamespace: true }),
    ...defined({
      processes: processes?.podUids,
      nestedProcesses: processes?.nestedUids,
      staticPods: resultOf(await attempt(() => readStaticPods(node.staticPods))),
      blockDevices: resultOf(await attempt(loopDevices)),
      flexDrivers: resultOf(await attempt(() => flexDrivers(node))),
    }),
  }
}

function stateOf(
  node: LocatedNode,
  { mounts, scan, sections, kubelet }: Disk,
  api: ApiSnapshot | undefined,
): NodeState {
  const capturedAt = new Date().toISOString()
  const tree = scan?.complete(api === undefined ? new Map() : livingVolumes(api))
  const snapshot: NodeSnapshot = {
    ...headingOf(node, capturedAt),
    ...sections,
    mountinfo: mounts.text,
    ...defined({ api, tree, kubelet: kubelet && kubeletOf(node, kubelet, api, capturedAt) }),
    ...doubtsOf(node),
  }
  return { snapshot, mounts }
}
