/** A cluster during an apply: the whole look at its beginning, and what was read again since then in the place of the same. */
import { omitUndefined } from '../../base/omit-undefined.ts'
import { unlessRefused } from '../../kube/api-error.ts'
import type { ClusterOperation } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterFacts, clusterFacts, lastPart, leaseName } from '../model/cluster-context.ts'
import type { ClusterAttachment, ClusterClaim, ClusterState } from '../model/cluster-state.ts'
import { changesBetween, controllerState, lookedAt } from '../model/controller-state.ts'
import { claimsOf, needsOf } from '../pass/row-part.ts'
import { newestWrites } from '../read/controller-writes.ts'
import { CONTROLLER_LEASE } from '../read/read-cluster.ts'
import type { RecordReader } from '../read/record-reader.ts'
import { nodeLease } from '../read/records.ts'

/** Where single objects of a cluster are read. */
export type RowSource = Pick<RecordReader, 'get' | 'list' | 'now'> & {
  readonly writes: Pick<RecordReader['writes'], 'found'>
}

export class ClusterCache {
  state: ClusterState
  facts: ClusterFacts
  readonly #settleMs: number

  constructor(state: ClusterState, settleMs: number) {
    this.state = state
    this.facts = clusterFacts(state, settleMs)
    this.#settleMs = settleMs
  }

  /**
   * Reads again what an operation rests on, right before it (S26): what `needsOf` names. What is known until now decides only which
   * claims are asked for.
   *
   * @throws ApiError if anything cannot be read: nothing is done then
   */
  async read(source: RowSource, operation: ClusterOperation): Promise<void> {
    const { node: name, attachment, namespaces, persistentVolume, driver } = needsOf(this.state, operation)
    const ofDriver = driver === undefined ? undefined : await readDriver(source, driver)
    // Pods after the rest: no attachment or Node may be younger than the pods that want it. At the very end, who acts.
    const [node, csi, heard, attachments, volume] = await Promise.all([
      source.get('nodes', { name }),
      source.get('csinodes', { name }),
      // Evidence beside other evidence: a right that is missing hides it, as at the first look.
      unlessRefused(source.get('leases', { namespace: 'kube-node-lease', name })),
      attachment === undefined
        ? source.list('attachments').then(({ records }) => records)
        : source.get('attachments', { name: attachment }).then(listed),
      persistentVolume === undefined ? undefined : source.get('volumes', { name: persistentVolume }),
    ])
    const found = await Promise.all([
      source.list('pods', { fieldSelector: `spec.nodeName=${name}` }),
      ...namespaces.map((namespace) => source.list('pods', { namespace })),
    ])
    const pods = [...new Map(found.flatMap(({ records }) => records).map((pod) => [pod.uid, pod])).values()]
    const there = new Set(this.state.volumes.map((each) => each.name))
    const bound = this.state.claims.filter(({ volumeName = '' }) => there.has(volumeName)).map(namespacedName)
    // The volume's own claim, and those of the pods that were not known to be bound: a claim keeps its volume, and a volume its source.
    const unbound = new Set(pods.flatMap(claimsOf)).difference(new Set(bound))
    const asked = new Set([...listed(volume?.claim).map(namespacedName), ...unbound])
    // One after the other: rarely more than one.
    const claims: ClusterClaim[] = []
    const volumes = new Map(listed(volume).map((its) => [its.name, its]))
    for (const each of asked) {
      const [namespace, own = ''] = each.split('/')
      const claim = await source.get('claims', { namespace, name: own })
      claims.push(...listed(claim))
      const { volumeName } = claim ?? {}
      if (volumeName === undefined || there.has(volumeName)) continue
      for (const its of listed(await source.get('volumes', { name: volumeName }))) volumes.set(its.name, its)
    }
    const lease = await source.get('leases', CONTROLLER_LEASE)
    const before = this.state
    const kubelet: ReturnType<typeof nodeLease> = heard === undefined ? {} : nodeLease(heard)
    const leaseRenewTime = kubelet.leaseWrittenAt ?? kubelet.leaseRenewTime
    const isNode = (each: { readonly name: string }): boolean => each.name === name
    const nodes = listed(node).map((each) => ({ ...each, csi: csi?.csi ?? { state: 'absent' as const }, ...kubelet }))
    // If there is only its lease, when its kubelet was last heard.
    const lost = node === undefined && leaseRenewTime !== undefined ? [{ name, leaseRenewTime }] : []
    const changes = changesBetween(lookedAt(before), { nodes, attachments })
    const { lease: first = lease, otherLeases, writes = [], changes: earlier = [] } = before.controller
    const podNames = new Set(pods.map(namespacedName))
    this.state = {
      ...before,
      capturedAt: source.now(),
      // The lease stays that of the first look: one that was renewed since then shows that a controller lives, whatever the clocks say.
      // Signs of an earlier look stay signs.
      controller: {
        ...omitUndefined({ lease: lease && first, leaseAtEnd: before.controller.lease && lease, otherLeases }),
        writes: newestWrites([...writes, ...source.writes.found()]),
        changes: [...new Set([...earlier, ...changes])],
      },
      nodes: replaced(before.nodes, nodes, isNode),
      // A list that is not readable stays so.
      ...(before.lostNodes && { lostNodes: replaced(before.lostNodes, lost, isNode) }),
      pods: replaced(
        before.pods,
        pods,
        (pod) => pod.node === name || namespaces.includes(pod.namespace) || podNames.has(namespacedName(pod)),
      ),
      claims: replaced(before.claims, claims, (claim) => asked.has(namespacedName(claim))),
      volumes: replaced(
        before.volumes,
        [...volumes.values()],
        (each) => each.name === persistentVolume || volumes.has(each.name),
      ),
      attachments: replaced(
        before.attachments,
        attachments,
        (each) => attachment === undefined || each.name === attachment,
      ),
      ...(ofDriver && {
        drivers: ofDriver.drivers,
        attachers: replaced(before.attachers, ofDriver.attachers, (each) => lastPart(each.name) === ofDriver.lease),
      }),
    }
    const { controller, driversOnNodes } = this.facts
    this.facts = {
      // Whoever was dead is asked again. That kubelets are heard (5.) the first look has shown for all.
      controller:
        controller.state === 'dead' ? controllerState(this.state, this.#settleMs, { isHeard: true }) : controller,
      driversOnNodes: ofDriver?.onNodes ?? driversOnNodes,
    }
  }

  /** @param record undefined: there is none of this name any more */
  putAttachment(name: string, record: ClusterAttachment | undefined): void {
    const attachments = replaced(this.state.attachments, listed(record), (each) => each.name === name)
    this.state = { ...this.state, attachments }
  }

  /** Nothing is run any more. The look at what is left takes as much memory again. */
  forget(): void {
    this.state = { ...this.state, nodes: [], pods: [], claims: [], volumes: [], attachments: [] }
  }
}

function replaced<T>(before: readonly T[], records: readonly T[], replaces: (each: T) => boolean): readonly T[] {
  return before.filter((each) => !replaces(each)).concat(records)
}

function listed<T>(record: T | undefined): readonly T[] {
  return record === undefined ? [] : [record]
}

/** With leases by the name of its external attacher, of any namespace, and what all CSINodes list. */
async function readDriver(source: RowSource, driver: string) {
  const lease = leaseName(driver)
  const [drivers, nodes, attachers] = await Promise.all([
    source.list('drivers'),
    source.list('csinodes'),
    source.list('leases', { fieldSelector: `metadata.name=${lease}` }),
  ])
  const onNodes = nodes.records.flatMap(({ csi }) => csi.drivers ?? [])
  return {
    lease,
    drivers: drivers.records,
    attachers: attachers.records,
    onNodes: new Set(onNodes.map(({ name }) => name)),
  }
}
