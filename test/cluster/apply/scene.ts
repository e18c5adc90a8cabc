/** A small cluster on a test API server: pods of namespace shop, volumes of one driver, and a controller that has died. */
import { createKubeClient, type KubeClient } from '../../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/api/kubeconfig/kube-config.ts'
import { applyCluster, type ClusterApplyOptions } from '../../../src/core/cluster/apply/apply-cluster.ts'
import { planCluster } from '../../../src/core/cluster/pass/plan-cluster.ts'
import { readCluster } from '../../../src/core/cluster/read/read-cluster.ts'
import { attachmentName, csiUniqueName } from '../../../src/core/names/volume-names.ts'
import type { ClusterOptions, ClusterPlan } from '../../../src/core/plan/cluster-plan.ts'
import type { ApplyEvent, ClusterApplyResult } from '../../../src/core/plan/events.ts'
import type { TestApiServer } from '../../helpers/api-server/start.ts'

export const DRIVER = 'disk.csi.example.com'
export const FINALIZER = 'external-attacher/disk-csi-example-com'

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

export function node(name: string, { isOutOfService = false, ready = 'True', inUse = [] }: NodeParts = {}): object[] {
  return [
    {
      kind: 'Node',
      metadata: {
        name,
        uid: `node-${name}`,
        creationTimestamp: ago(10_000),
        annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
      },
      spec: { taints: isOutOfService ? [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] : [] },
      status: {
        conditions: [
          {
            type: 'Ready',
            status: ready,
            lastTransitionTime: ago(60),
            lastHeartbeatTime: ago(ready === 'True' ? 1 : 60),
          },
        ],
        volumesInUse: inUse.map((volume) => csiUniqueName(DRIVER, `h-${volume}`)),
      },
    },
    {
      kind: 'CSINode',
      metadata: { name, uid: `csi-${name}` },
      spec: { drivers: [{ name: DRIVER, nodeID: name, topologyKeys: null }] },
    },
    lease('kube-node-lease', name, ready === 'True' ? 0.1 : 60),
  ]
}

export function claimed(volume: string): object[] {
  return [
    {
      kind: 'PersistentVolumeClaim',
      metadata: {
        namespace: 'shop',
        name: volume,
        uid: `claim-${volume}`,
        annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
      },
      spec: { volumeName: `pv-${volume}` },
      status: { phase: 'Bound' },
    },
    {
      kind: 'PersistentVolume',
      metadata: { name: `pv-${volume}`, uid: `pv-uid-${volume}` },
      spec: {
        csi: { driver: DRIVER, volumeHandle: `h-${volume}` },
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace: 'shop', name: volume, uid: `claim-${volume}` },
      },
      status: { phase: 'Bound' },
    },
  ]
}

export function pod(name: string, on: string, claim: string): object {
  return {
    kind: 'Pod',
    metadata: { namespace: 'shop', name, uid: `pod-${name}`, creationTimestamp: ago(30) },
    spec: {
      nodeName: on,
      containers: [{ name: 'main', image: 'main' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }],
    },
    status: { phase: 'Pending' },
  }
}

export function attachmentOf(volume: string, on: string): string {
  return attachmentName(`h-${volume}`, DRIVER, on)
}

export function attached(volume: string, on: string, metadata: object = {}): object {
  return {
    kind: 'VolumeAttachment',
    metadata: {
      name: attachmentOf(volume, on),
      uid: `va-${volume}-${on}`,
      creationTimestamp: ago(9000),
      finalizers: [FINALIZER],
      ...metadata,
    },
    spec: { attacher: DRIVER, nodeName: on, source: { persistentVolumeName: `pv-${volume}` } },
    status: { attached: true },
  }
}

/** Without nodes: a dead controller, the driver, and the namespace that names the cluster. */
export function base(): object[] {
  return [
    { kind: 'Namespace', metadata: { name: 'kube-system', uid: 'cluster-1' } },
    { kind: 'CSIDriver', metadata: { name: DRIVER, uid: 'driver' }, spec: { attachRequired: true } },
    controllerLease(10),
  ]
}

export const OPTIONS: ClusterOptions = { settleMs: 120_000, volctlVersion: '0.1.0' }

export function clientOf(api: Pick<TestApiServer, 'kubeconfig'>, user = 'admin'): KubeClient {
  return createKubeClient(discoverKubeConfig({ kubeconfig: api.kubeconfig(user) }))
}

export async function planOf(client: KubeClient, options: Partial<ClusterOptions> = {}): Promise<ClusterPlan> {
  return planCluster(await readCluster({ client }), { ...OPTIONS, ...options })
}

export interface Applied {
  readonly result: ClusterApplyResult
  readonly events: readonly ApplyEvent[]
}

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
    { timeoutMs: 15_000, pollMs: 20, ...settings, options: { ...OPTIONS, ...settings.options } },
    (event) => {
      events.push(event)
      onEvent(event)
    },
  )
  return { result, events }
}

type Change = 'delete' | 'create' | 'replace' | 'mergePatch'

/** The same client, whose requests that change something go through this. */
export function changing(
  client: KubeClient,
  through: (method: Change, path: string, send: () => Promise<unknown>) => Promise<unknown>,
): KubeClient {
  return new Proxy(client, {
    get: (target, key) => {
      const value = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      if (!['delete', 'create', 'replace', 'mergePatch'].includes(String(key))) return value.bind(target)
      return (path: string, ...rest: unknown[]) => through(key as Change, path, () => value.call(target, path, ...rest))
    },
  })
}

/** The same client, which calls this before each request that changes something. */
export function beforeChange(client: KubeClient, hook: (method: Change, path: string) => Promise<void>): KubeClient {
  return changing(client, async (method, path, send) => {
    await hook(method, path)
    return await send()
  })
}
