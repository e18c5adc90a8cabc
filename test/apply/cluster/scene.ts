/** A small cluster on a test API server: pods of namespace shop, volumes of one driver, and a controller that has died. */

import { applyCluster, type ClusterApplyOptions } from '../../../src/core/apply/cluster/apply-cluster.ts'
import type { Journal } from '../../../src/core/apply/journal/write-journal.ts'
import { readCluster } from '../../../src/core/cluster/read/read-cluster.ts'
import { createKubeClient, type KubeClient, type Write } from '../../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/kube/kubeconfig/kube-config.ts'
import type { ClusterOptions, ClusterPlan } from '../../../src/core/plan/cluster-plan.ts'
import type { ApplyEvent, ClusterApplyResult } from '../../../src/core/plan/events.ts'
import { attachmentName, csiUniqueName } from '../../../src/core/volumes/volume-names.ts'
import type { TestApiServer } from '../../helpers/api-server/start.ts'
import { clusterOptions } from '../../helpers/cluster-builder.ts'
import { planOf as planOfState } from '../../helpers/cluster-plan.ts'
import {
  attachmentObject,
  boundVolume,
  csiDriverObject,
  csiNodeObject,
  nodeObject,
  podObject,
  ready,
} from '../../helpers/objects.ts'

export const DRIVER = 'disk.csi.example.com'

export function ago(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString()
}

function lease(namespace: string, name: string, minutes: number): object {
  return {
    kind: 'Lease',
    metadata: { namespace, name },
    spec: { holderIdentity: `holder-${name}`, leaseDurationSeconds: 15, renewTime: ago(minutes) },
  }
}

/** The controller's lease, last renewed so long ago. */
export function controllerLease(minutes: number): object {
  return lease('kube-system', 'kube-controller-manager', minutes)
}

export interface NodeParts {
  readonly isOutOfService?: boolean
  readonly ready?: 'True' | 'Unknown'
  readonly inUse?: readonly string[]
}

export function node(
  name: string,
  { isOutOfService = false, ready: status = 'True', inUse = [] }: NodeParts = {},
): object[] {
  const [heard, seen] = status === 'True' ? [1, 0.1] : [60, 60]
  const made = nodeObject(
    {
      ...ready(ago(heard), { status, lastTransitionTime: ago(60) }),
      volumesInUse: inUse.map((volume) => csiUniqueName(DRIVER, `h-${volume}`)),
    },
    { name, uid: `node-${name}`, creationTimestamp: ago(10_000) },
  )
  const taints = isOutOfService ? [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] : []
  return [{ ...made, spec: { taints } }, csiNodeObject(name, [DRIVER]), lease('kube-node-lease', name, seen)]
}

export function claimed(volume: string): object[] {
  const csi = { driver: DRIVER, volumeHandle: `h-${volume}` }
  const made = boundVolume(`pv-${volume}`, { csi }, { name: volume, namespace: 'shop' })
  const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' }
  return [{ ...made.claim, metadata: { ...made.claim.metadata, annotations } }, made.volume]
}

export function pod(name: string, on: string, claimName: string): object {
  return podObject(
    { namespace: 'shop', name, uid: `pod-${name}`, creationTimestamp: ago(30) },
    [{ name: 'data', persistentVolumeClaim: { claimName } }],
    { spec: { nodeName: on }, status: { phase: 'Pending' } },
  )
}

export function attachmentOf(volume: string, on: string): string {
  return attachmentName(`h-${volume}`, DRIVER, on)
}

export function attached(volume: string, on: string, metadata: object = {}): object {
  const made = attachmentObject(DRIVER, `h-${volume}`, `pv-${volume}`, on)
  return { ...made, metadata: { ...made.metadata, creationTimestamp: ago(9000), ...metadata } }
}

/** Without nodes: a dead controller, the driver, and the namespace that names the cluster. */
export function base(): object[] {
  return [
    { kind: 'Namespace', metadata: { name: 'kube-system', uid: 'cluster-1' } },
    csiDriverObject(DRIVER),
    controllerLease(10),
  ]
}

export function clientOf(api: Pick<TestApiServer, 'kubeconfig'>, user = 'admin'): KubeClient {
  return createKubeClient(discoverKubeConfig({ kubeconfig: api.kubeconfig(user) }))
}

export async function planOf(client: KubeClient, options: Partial<ClusterOptions> = {}): Promise<ClusterPlan> {
  return planOfState(await readCluster({ client }), options)
}

export interface Applied {
  readonly result: ClusterApplyResult
  readonly events: readonly ApplyEvent[]
}

const NO_JOURNAL: Journal = { write: () => {}, [Symbol.dispose]: () => {} }

/** Applies with waits of a test; the plan's options are `settings.options`. */
export async function apply(
  client: KubeClient,
  plan: ClusterPlan,
  settings: Partial<Omit<ClusterApplyOptions, 'options'>> & { readonly options?: Partial<ClusterOptions> } = {},
  onEvent: (event: ApplyEvent) => void = () => {},
): Promise<Applied> {
  const events: ApplyEvent[] = []
  const result = await applyCluster(
    client,
    plan,
    {
      ...{ timeoutMs: 15_000, pollMs: 20, openJournal: () => NO_JOURNAL },
      ...settings,
      options: clusterOptions(settings.options),
    },
    (event) => {
      events.push(event)
      onEvent(event)
    },
  )
  return { result, events }
}

/** The same client, whose calls go through this. */
export function intercepted(
  client: KubeClient,
  through: (key: string | symbol, args: readonly unknown[], call: () => Promise<unknown>) => unknown,
): KubeClient {
  return new Proxy(client, {
    get: (target, key) => {
      const value = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => through(key, args, () => value.apply(target, args))
    },
  })
}

/** The same client, whose requests that change something go through this. */
export function changing(
  client: KubeClient,
  through: (write: Write, path: string, send: () => Promise<unknown>) => Promise<unknown>,
): KubeClient {
  return intercepted(client, (key, [write, sent], send) =>
    key === 'send' && write !== 'review' ? through(write as Write, (sent as { path: string }).path, send) : send(),
  )
}

/** The same client, which calls this before each request that changes something. */
export function beforeChange(client: KubeClient, hook: (write: Write, path: string) => unknown): KubeClient {
  return changing(client, async (write, path, send) => {
    await hook(write, path)
    return await send()
  })
}
