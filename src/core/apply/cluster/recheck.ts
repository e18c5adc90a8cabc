/** What an operation rests on, read again right before it, and judged by the same pass (S26). */
import { type ClusterFacts, driversOn, lastPart, leaseName } from '../../cluster/model/cluster-context.ts'
import type { ClusterState } from '../../cluster/model/cluster-state.ts'
import { changesBetween, controllerState, lookedAt } from '../../cluster/model/controller-state.ts'
import { type Found, planPart } from '../../cluster/pass/plan-cluster.ts'
import { newestWrites } from '../../cluster/read/controller-writes.ts'
import { CONTROLLER_LEASE, joined, type RecordReader } from '../../cluster/read/read-cluster.ts'
import { namespacedName } from '../../kube/api/names.ts'
import { unlessRefused } from '../../kube/api-error.ts'
import { causeOf } from '../../messages/codes.ts'
import type { ClusterOperation, ClusterOptions } from '../../plan/cluster-plan.ts'
import { rowOf, rowsOf } from '../../volumes/finding.ts'
import type { ClaimFacts } from '../../volumes/resolve-claim.ts'
import { type FoundAgain, finderIn } from '../find-again.ts'

/** A cluster, and what only the whole of it shows. */
export interface Look {
  readonly state: ClusterState
  readonly facts: ClusterFacts
}

/** Where the operation rests on what no node, object or lease says of a driver: which. All that can show the driver is read again. */
export function driverOf(
  { attachments }: ClusterState,
  { reason, volume, attachment }: ClusterOperation,
): string | undefined {
  if (reason !== 'DriverRemoved') return undefined
  return attachments.find(({ name }) => name === attachment.name)?.attacher ?? volume.driver
}

/**
 * Reads again what an operation rests on: its node, with Lease and CSINode, and all pods there, as no other pod can want a volume on it; its
 * attachment, or for an attach all, since somebody may have made one elsewhere, of whatever name; its PersistentVolume and claim; and the
 * controller's lease. What is known until now decides only which claims are asked for.
 *
 * @returns what is known, with what was read now in the place of the same
 * @throws ApiError if anything cannot be read: nothing is done then
 */
export async function readAgain(
  source: RecordReader,
  { state: known, facts }: Look,
  operation: ClusterOperation,
  { settleMs }: Pick<ClusterOptions, 'settleMs'>,
): Promise<Look> {
  const { kind, node: name, attachment, volume: its } = operation
  const isAttach = kind === 'AttachVolume'
  // Every pod with the claim of one for which a volume is attached is in one of these.
  const namespaces = new Set(isAttach ? operation.pods.flatMap(({ namespace }) => namespace ?? []) : [])
  const driver = driverOf(known, operation)
  const ofDriver = driver === undefined ? undefined : await readDriver(source, driver)
  // Pods after the rest: no attachment or Node may be younger than the pods that want it. At the very end, who acts.
  const [node, csi, heard, attachments, volume] = await Promise.all([
    source.get('nodes', { name }),
    source.get('csinodes', { name }),
    // Evidence beside other evidence: a right that is missing hides it, as at the first look.
    unlessRefused(source.get('leases', { namespace: 'kube-node-lease', name })),
    isAttach
      ? source.list('attachments').then(({ records }) => records)
      : source.get('attachments', { name: attachment.name }).then(listed),
    its.persistentVolume === undefined ? undefined : source.get('volumes', { name: its.persistentVolume }),
  ])
  const listedPods = await Promise.all([
    source.list('pods', { fieldSelector: `spec.nodeName=${name}` }),
    ...[...namespaces].map((namespace) => source.list('pods', { namespace })),
  ])
  const pods = [...new Map(listedPods.flatMap(({ records }) => records).map((pod) => [pod.uid, pod])).values()]
  const there = new Set(known.volumes.map((each) => each.name))
  const bound = new Set(known.claims.filter(({ volumeName = '' }) => there.has(volumeName)).map(namespacedName))
  // The volume's own claim, and those of the pods that were not known to be bound: a claim keeps its volume, and a volume its source.
  const claimed = pods.flatMap(({ namespace, volumes: of }) =>
    of.flatMap((each) => ('claim' in each ? `${namespace}/${each.claim}` : [])),
  )
  const asked = new Set([...listed(volume?.claim).map(namespacedName), ...claimed.filter((each) => !bound.has(each))])
  // One after the other: rarely more than one.
  const claims: ClaimFacts[] = []
  const volumes = new Map(listed(volume).map((each) => [each.name, each]))
  for (const each of asked) {
    const [namespace, own = ''] = each.split('/')
    const claim = await source.get('claims', { namespace, name: own })
    claims.push(...listed(claim))
    const { volumeName } = claim ?? {}
    if (volumeName === undefined || there.has(volumeName)) continue
    for (const found of listed(await source.get('volumes', { name: volumeName }))) volumes.set(volumeName, found)
  }
  const lease = await source.get('leases', CONTROLLER_LEASE)
  const { controller, lostNodes } = known
  const isNode = (each: { readonly name: string }): boolean => each.name === name
  const { nodes, lostNodes: lost } = joined(listed(node), listed(csi), listed(heard), 'absent')
  const state: ClusterState = {
    ...known,
    capturedAt: source.byServer(),
    // The lease stays that of the first look: one that was renewed since then shows that a controller lives, whatever the clocks say.
    controller: {
      ...controller,
      lease: lease && controller.lease,
      leaseAtEnd: lease,
      writes: newestWrites([...(controller.writes ?? []), ...source.writes.found()]),
      changes: changesBetween(lookedAt(known), { nodes, attachments }),
    },
    nodes: replaced(known.nodes, nodes, isNode),
    // A list that is not readable stays so.
    lostNodes: lostNodes && replaced(lostNodes, lost, isNode),
    pods: replaced(known.pods, pods, (pod) => pod.node === name || namespaces.has(pod.namespace)),
    claims: replaced(known.claims, claims, (claim) => asked.has(namespacedName(claim))),
    volumes: replaced(
      known.volumes,
      [...volumes.values()],
      ({ name: of }) => of === its.persistentVolume || volumes.has(of),
    ),
    attachments: replaced(known.attachments, attachments, (each) => isAttach || each.name === attachment.name),
    ...(ofDriver && {
      drivers: ofDriver.drivers,
      attachers: replaced(known.attachers, ofDriver.attachers, (each) => lastPart(each.name) === ofDriver.lease),
    }),
  }
  return {
    state,
    facts: {
      // Whoever was dead is asked again: a sign that was seen stays one. That kubelets are heard (5.) the first look has shown for all.
      controller: facts.controller.state === 'dead' ? controllerState(state, settleMs, true) : facts.controller,
      driversOnNodes: ofDriver?.onNodes ?? facts.driversOnNodes,
    },
  }
}

function replaced<T>(before: readonly T[], records: readonly T[], replaces: (each: T) => boolean): readonly T[] {
  return before.filter((each) => !replaces(each)).concat(records)
}

function listed<T>(record: T | undefined): readonly T[] {
  return record === undefined ? [] : [record]
}

/** With leases by the name of its external attacher, of any namespace, and what all CSINodes list. */
async function readDriver(source: RecordReader, driver: string) {
  const lease = leaseName(driver)
  const [drivers, nodes, attachers] = await Promise.all([
    source.list('drivers'),
    source.list('csinodes'),
    source.list('leases', { fieldSelector: `metadata.name=${lease}` }),
  ])
  return { lease, drivers: drivers.records, attachers: attachers.records, onNodes: driversOn(nodes.records) }
}

/**
 * The part of a cluster that decides about an operation. A volume is detached for what its node, the pods there and its attachments show;
 * whether it may be attached, any node may decide (R740), and every other volume of its pods, which may take the room on its node (N67).
 */
export function partOf(state: ClusterState, { kind, node }: ClusterOperation): ClusterState {
  if (kind === 'AttachVolume') return state
  return {
    ...state,
    nodes: state.nodes.filter(({ name }) => name === node),
    pods: state.pods.filter((pod) => pod.node === node),
    attachments: state.attachments.filter((each) => each.node === node),
  }
}

/**
 * Is an operation still the same, by what was read of it just now? The pass over that part says the same of it as the pass over the whole
 * cluster, and takes about a second in the largest: what it says is as fresh as what was read.
 *
 * The outage guard (S29) is not asked again. It counts a whole cluster, and so it was asked at the whole look with which the apply
 * began: no operation is carried out that was not planned there, with its pods in the API. What is read after that can only take
 * operations away, whatever the API loses meanwhile; and an API that went back to a backup has another lease of the controller than
 * before, which counts as a controller that is back.
 */
export function recheck(
  { state, facts }: Look,
  planned: ClusterOperation,
  options: ClusterOptions,
): FoundAgain<ClusterOperation> {
  const part = partOf(state, planned)
  return findAgain(planPart(part, options, facts), part)(planned)
}

/** @param fresh what was found just now in this state @returns what finds a reviewed operation there */
export function findAgain(fresh: Found, state: ClusterState) {
  return finderIn(fresh, {
    isDone: (planned) => isDone(planned, state),
    whyGone: (planned) => whyGone(planned, fresh),
    // The attach of a plan waits for its detach; by then, the order of the reviewed plan holds.
    refuses: ({ code }) => causeOf(code) !== 'follows',
  })
}

function isDone({ kind, attachment, creates, steps }: ClusterOperation, { attachments, lists }: ClusterState): boolean {
  const found = attachments.find(({ name }) => name === attachment.name)
  if (kind === 'DetachVolume') {
    const isShown = lists.volumeattachments?.state === 'whole'
    return isShown && steps.length > 0 && (found === undefined || found.uid !== attachment.uid)
  }
  return (
    found !== undefined &&
    found.deletedAt === undefined &&
    found.attacher === creates?.attacher &&
    found.node === creates.nodeName &&
    'persistentVolumeName' in creates.source &&
    found.persistentVolume === creates.source.persistentVolumeName
  )
}

function whyGone({ kind, node, subject }: ClusterOperation, { problems }: Found): string {
  if (kind === 'DetachVolume') return `a pod of node ${node} wants the volume, or may want it`
  const problem = problems.find((each) => rowsOf(each.subject).includes(rowOf(subject) ?? ''))
  return problem?.message ?? `no pod of node ${node} waits for the volume any more`
}
