/** What is planned for a node that a test has built, in short. */

import type { Pod } from '../../src/core/kube/api/objects.ts'
import type { Operation, OperationKind, Plan, PlanOptions } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import type { StaticPodsSnapshot } from '../../src/core/volumes/snapshot.ts'
import { claimOf, type NodeBuilder, ROOT, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

/** A pod that the API does not list, and of which nothing runs. */
export const GONE = uid(9)

/** Its directory of a CSI volume. */
export const GONE_CSI = `pods/${GONE}/volumes/kubernetes.io~csi/pv-1`

export function plan(built: NodeBuilder, options: Partial<PlanOptions> = {}): Plan {
  return planNode(built.build(), planOptions(options))
}

/** Kinds of the operations that would be carried out. */
export function kinds({ operations }: Plan): OperationKind[] {
  return operations.filter((each) => each.blocked === undefined).map((each) => each.kind)
}

/** Kind and code of each of the others, as one text. */
export function blocked({ operations }: Plan): string[] {
  return operations.flatMap((each) => (each.blocked === undefined ? [] : [`${each.kind} ${each.blocked.code}`]))
}

/** Of each operation its kind, and its code where it is blocked; then kind and code of what waits. */
export function outcome({ operations, waiting }: Plan): string[] {
  return [
    ...operations.map(({ kind, blocked }) => (blocked === undefined ? kind : `${kind} ${blocked.code}`)),
    ...waiting.map(({ kind, code }) => `${kind} waits: ${code}`),
  ]
}

/** Codes of the problems. */
export function codes({ problems }: Plan): string[] {
  return problems.map((each) => each.code)
}

/** Kind and code of what waits. */
export function waits({ waiting }: Plan): string[] {
  return waiting.map((each) => `${each.kind} ${each.code}`)
}

/** The steps of each operation, as one text. */
export function ops({ operations }: Plan): string[] {
  return operations.map(({ steps }) => steps.map(({ op }) => op).join(', '))
}

/** S13: what is blocked without --orphans, what is done with it, and what the first of that deletes. */
export function withOrphans(built: NodeBuilder, options: Partial<PlanOptions> = {}) {
  const made = plan(built, { ...options, orphans: true })
  return [...blocked(plan(built, options)), ...kinds(made), made.operations[0]?.deletes]
}

/** What `withOrphans` says of data that nothing but the flag keeps. */
export const DATA = ['UnmountVolume DeletesData', 'UnmountVolume', 'RemoveOrphanPodDir']
export const UNCOUNTED = [...DATA, { files: 0, bytes: 0, counted: false }]

/** @throws where there is not exactly one */
export function only({ operations }: Plan, kind: OperationKind): Operation {
  const found = operations.filter((each) => each.kind === kind)
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} operations of kind ${kind}`)
  return found[0]
}

/** The mirror pod of a static pod whose manifest has this hash. */
export function mirrorPod(name: string, hash: string, parts: Partial<Pod> = {}, namespace = 'default'): Pod {
  const annotations = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash }
  return { metadata: { name, namespace, uid: uid(7), annotations }, spec: {}, status: { phase: 'Running' }, ...parts }
}

export const BLOCK = 'plugins/kubernetes.io/csi/volumeDevices'

/** A raw block volume of a pod, mapped as the kubelet maps it. */
export function mappedBlock(built: NodeBuilder, podUid: string, name = 'pv-1'): NodeBuilder {
  const device = { dev: '0:6', root: '/loop7', fsType: 'devtmpfs', type: 'file' as const }
  return built
    .mount(`${BLOCK}/${name}/dev/${podUid}`, device)
    .mount(`${BLOCK}/publish/${name}/${podUid}`, device)
    .link(`pods/${podUid}/volumeDevices/kubernetes.io~csi/${name}`, `${ROOT}/${BLOCK}/publish/${name}/${podUid}`)
}

/** Of a pod: by its claim the volume that `persistentVolume('pv-1')` makes. */
export const WANTS_PV_1 = [claimOf('pv-1', 'v')]

/** A kubelet that runs. */
export const RUNNING = { kubelet: { running: true, mayReturn: true } }

/** One static pod has a manifest on the node. */
export function oneManifest(name = 'a', parts: Partial<StaticPodsSnapshot['manifests'][number]> = {}) {
  const manifests = [{ file: `/m/${name}.yaml`, namespace: 'default', name, ...parts }]
  return { staticPods: { path: '/m', readable: true, manifests } }
}
