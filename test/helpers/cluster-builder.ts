/** Clusters in a few words: nodes, pods with claims, PersistentVolumes, attachments. Everything is healthy unless said otherwise. */
import type {
  ClusterAttachment,
  ClusterNode,
  ClusterPod,
  ClusterPodVolume,
  ClusterResource,
  ClusterState,
  ClusterVolume,
  LeaseEvidence,
} from '../../src/core/cluster/model/cluster-state.ts'
import type { ClusterOptions } from '../../src/core/plan/cluster-plan.ts'
import type { ClaimFacts } from '../../src/core/volumes/resolve-claim.ts'
import { attachmentName, csiUniqueName } from '../../src/core/volumes/volume-names.ts'

export const DRIVER = 'disk.csi.example.com'
export const NOW = '2026-03-01T12:00:00Z'

/** A time so many minutes before the reading began. */
export function ago(minutes: number): string {
  return new Date(Date.parse(NOW) - minutes * 60_000).toISOString()
}

export const DEAD: LeaseEvidence = {
  name: 'kube-system/kube-controller-manager',
  holder: 'cp-1',
  renewTime: ago(4),
  durationSeconds: 15,
}
export const ALIVE: LeaseEvidence = { ...DEAD, renewTime: ago(0.05) }

/** Every list is whole. */
function listsOf({
  nodes,
  pods,
  claims,
  volumes,
  attachments,
  drivers,
  podCount,
}: ClusterState): ClusterState['lists'] {
  const counts: Readonly<Partial<Record<ClusterResource, number>>> = {
    nodes: nodes.length,
    pods: Math.max(podCount, pods.length),
    persistentvolumeclaims: claims.length,
    persistentvolumes: volumes.length,
    volumeattachments: attachments.length,
    csidrivers: drivers.length,
    csinodes: nodes.length,
  }
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, { state: 'whole', count }]),
  ) as ClusterState['lists']
}

/** This list could not be read. */
export function unread(list: ClusterResource): Pick<ClusterState, 'lists'> {
  return { lists: { ...cluster().lists, [list]: { state: 'failed', count: 0 } } }
}

/** A cluster whose controller is dead, so that the plan does everything. */
export function cluster(parts: Partial<ClusterState> = {}): ClusterState {
  const { pods = [] } = parts
  const state: ClusterState = {
    apiVersion: 'volctl.io/v1',
    kind: 'ClusterSnapshot',
    capturedAt: NOW,
    server: 'https://api.example:6443',
    clusterUID: 'cluster-uid',
    lists: {} as ClusterState['lists'],
    errors: [],
    rights: {},
    controller: { lease: DEAD, leaseAtEnd: DEAD },
    nodes: [node('a'), node('b')],
    podCount: pods.length,
    claims: [],
    volumes: [],
    attachments: [],
    drivers: [{ name: DRIVER, attachRequired: true }],
    attachers: [],
    lostNodes: [],
    ...parts,
    pods,
  }
  return { ...state, lists: parts.lists ?? listsOf(state) }
}

export function node(name: string, parts: Partial<ClusterNode> = {}): ClusterNode {
  return {
    name,
    uid: `node-${name}`,
    resourceVersion: '7',
    createdAt: ago(10_000),
    managed: true,
    ready: 'True',
    readySince: ago(5000),
    heartbeat: ago(1),
    leaseRenewTime: ago(0.1),
    outOfService: false,
    csi: { state: 'known', drivers: [{ name: DRIVER }] },
    ...parts,
  }
}

/** Ready is Unknown, and the kubelet silent, for so many minutes. */
export function silentNode(name: string, minutes: number, parts: Partial<ClusterNode> = {}): ClusterNode {
  const since = ago(minutes)
  return node(name, { ready: 'Unknown', readySince: since, heartbeat: since, leaseRenewTime: since, ...parts })
}

/** A pod of namespace default that runs, with the volumes of these claims. */
export function pod(
  name: string,
  on: string | undefined,
  claims: readonly string[],
  parts: Partial<ClusterPod> = {},
): ClusterPod {
  return {
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    createdAt: ago(1000),
    ...(on !== undefined && { node: on }),
    terminated: false,
    started: true,
    volumes: claims.map((claim): ClusterPodVolume => ({ name: claim, claim })),
    ...parts,
  }
}

/** What a volume is called in a Node's status. */
export function uniqueName(name: string): string {
  return csiUniqueName(DRIVER, `h-${name}`)
}

export function volume(name: string, parts: Partial<ClusterVolume> = {}): ClusterVolume {
  const { driver = DRIVER, handle = `h-${name}` } = parts
  return {
    name: `pv-${name}`,
    uid: `pv-uid-${name}`,
    phase: 'Bound',
    claim: { namespace: 'default', name, uid: `claim-${name}` },
    accessModes: ['ReadWriteOnce'],
    plugin: 'kubernetes.io/csi',
    uniqueName: csiUniqueName(driver, handle),
    driver,
    handle,
    attachability: 'attachable',
    ...parts,
  }
}

export function claim(name: string, parts: Partial<ClaimFacts> = {}): ClaimFacts {
  return {
    namespace: 'default',
    name,
    uid: `claim-${name}`,
    volumeName: `pv-${name}`,
    phase: 'Bound',
    wasBound: true,
    ...parts,
  }
}

/** The attachment of pv-NAME to a node, as the controller would have created it. */
export function attachment(name: string, on: string, parts: Partial<ClusterAttachment> = {}): ClusterAttachment {
  const attacher = parts.attacher ?? DRIVER
  return {
    name: attachmentName(`h-${name}`, attacher, on),
    uid: `va-${name}-${on}`,
    resourceVersion: '9',
    createdAt: ago(900),
    finalizers: [`external-attacher/${attacher.replaceAll('.', '-')}`],
    attacher,
    node: on,
    persistentVolume: `pv-${name}`,
    attached: true,
    ...parts,
  }
}

/** Claims and PersistentVolumes of these names. */
export function bound(...names: readonly string[]): Pick<ClusterState, 'claims' | 'volumes'> {
  return { claims: names.map((name) => claim(name)), volumes: names.map((name) => volume(name)) }
}

export function clusterOptions(parts: Partial<ClusterOptions> = {}): ClusterOptions {
  return { settleMs: 120_000, volctlVersion: '0.1.0', ...parts }
}
