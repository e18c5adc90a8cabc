/** Operations of a cluster's plan in the making: drafts are linked by reference, and ids come last. */

import { Grouped } from '../../base/collections.ts'
import { take, unlessEmpty } from '../../base/text.ts'
import type { Code, ProblemCode, Reason } from '../../messages/codes.ts'
import { type Finding, type Hint, said } from '../../messages/findings.ts'
import type {
  ClusterAbout,
  ClusterOperation,
  ClusterProblem,
  ClusterVolumeRef,
  ClusterWaiting,
} from '../../plan/cluster-plan.ts'
import { AnyFindings, type Wait } from '../../plan/draft.ts'
import type { OperationKind, Refusal, Severity } from '../../plan/plan.ts'
import {
  type Because,
  type Blocked,
  type PodRef,
  type PodUid,
  podOf,
  type RowKey,
  rowsOf,
  type Subject,
} from '../../volumes/finding.ts'
import { CSI_PLUGIN } from '../../volumes/volume-names.ts'
import type { ClusterPod, ClusterState } from './cluster-state.ts'
import type { Attached, Rows } from './rows.ts'
import { type UnresolvedPodVolume, volumeKey, volumeRef } from './volumes.ts'

export interface ClusterDraft extends Omit<ClusterOperation, 'id' | 'after'> {
  readonly after: readonly ClusterDraft[]
}

/** What a problem names, and whose it is, where that does not follow from it (subjectOf). */
type About = ClusterAbout & { readonly subject?: Subject }

/** Of the API as a whole, or of all of the cluster. */
export const ON_API: About = {}

/** Of the pod as a whole. */
export function ofPod(pod: ClusterPod): About {
  return { pods: [podRef(pod)], nodes: pod.node === undefined ? undefined : [pod.node] }
}

/** The subject of a finding that names all this: a volume on each of the nodes, a claim, a driver, a list, a pod, or the nodes themselves. */
export function subjectOf({ nodes, volume, attachment, claim, driver, list, pods: [pod] = [] }: ClusterAbout): Subject {
  if (volume !== undefined || attachment !== undefined) {
    const { uniqueName = attachment === undefined ? volume?.name : `va/${attachment}` } = volume ?? {}
    const [row = '', ...others] = (nodes ?? [undefined]).map((node) => volumeKey(node, uniqueName ?? ''))
    return others.length === 0 ? { row } : { rows: [row, ...others] }
  }
  if (claim !== undefined) return { claim }
  if (driver !== undefined) return { driver }
  if (list !== undefined) return { list }
  if (pod !== undefined) return { pod: pod.uid }
  return nodes === undefined ? { api: true } : { nodes }
}

export class ClusterFindings extends AnyFindings<ClusterDraft, ClusterWaiting, ClusterProblem> {
  /** Planned detaches of a volume. */
  readonly detachesOf = new Grouped<string, ClusterDraft>()

  /** @param planned what is said of it has its reason as the code */
  add({ code: reason, ...planned }: Omit<ClusterDraft, 'subject' | 'reason'> & Finding<Reason>): void {
    const { kind, node, volume, attachment } = planned
    const draft = { ...planned, reason, subject: subjectOf({ nodes: [node], volume, attachment: attachment.name }) }
    this.operations.push(draft)
    if (kind === 'DetachVolume' && volume.uniqueName !== undefined) this.detachesOf.add(volume.uniqueName, draft)
  }

  wait(
    kind: OperationKind,
    wait: Wait,
    rule: string,
    { attachment, ...about }: Pick<ClusterWaiting, 'node' | 'pods' | 'volume' | 'attachment'>,
  ): void {
    const subject = subjectOf({ nodes: [about.node], volume: about.volume, attachment })
    this.waiting.push({ kind, ...wait, ...about, subject, attachment, rule })
  }

  override problem(
    severity: Severity,
    finding: Finding<ProblemCode>,
    { subject, ...about }: About,
    hint?: Hint,
    because?: Because,
  ): void {
    super.problem(severity, finding, { ...about, subject: subject ?? subjectOf(about) }, hint, because)
  }

  /** Something that may matter is not known. */
  incomplete(finding: Finding<ProblemCode>, about: About, hint?: Hint): void {
    this.complete = false
    this.problem('warning', finding, about, hint)
  }
}

/** A right that its step needs. */
export function forbidden({ rights }: ClusterState, verb: 'create' | 'delete'): Blocked | undefined {
  if (rights[`${verb}Attachments`] !== false) return undefined
  return said('Forbidden.change', { verb })
}

export function podRef({ namespace, name, uid }: ClusterPod): PodRef {
  return { namespace, name, uid }
}

// What is said of a volume on a node, or of a pod as a whole: of several things the one that says most.

export interface Said {
  readonly is: 'wrong' | 'waiting' | 'blocked' | 'ready'
  readonly code: Code
  readonly message: string
  readonly hint?: Hint
  /** Of what is to be done. */
  readonly kind?: OperationKind
}

/**
 * Notes say nothing of a volume; an operation says more than a wait, and that more than a problem.
 *
 * @param refused why the plan as a whole is not carried out
 */
export function saidOf(
  { operations, waiting, problems }: ClusterFindings,
  refused?: Pick<Refusal, 'code' | 'message' | 'hint'>,
) {
  const all = new Map<RowKey | PodUid, Said>()
  const note = ({ subject }: Pick<ClusterDraft | ClusterWaiting | ClusterProblem, 'subject'>, said: Said): void => {
    const rows = rowsOf(subject)
    for (const key of rows.length > 0 ? rows : [podOf(subject)]) if (key !== undefined) all.set(key, said)
  }
  for (const problem of problems) if (problem.severity !== 'info') note(problem, { ...problem, is: 'wrong' })
  for (const wait of waiting) note(wait, { ...wait, is: 'waiting' })
  for (const draft of operations) {
    const { kind, reason: code, message } = draft
    const blocked = refused ?? draft.blocked
    note(draft, blocked === undefined ? { is: 'ready', kind, code, message } : { is: 'blocked', kind, ...blocked })
  }
  return all
}

// How a plan names an attachment and its volume, what a volume on a node is called in the subjects of findings, and lists of names.

/** With where else it is attached, and whether its node reports it in use. */
export function attachedRef({ object, row }: Attached, rows: Rows): ClusterVolumeRef {
  const { name, attacher: driver, node, persistentVolume } = object
  const nodes = row === undefined ? [] : rows.nodesWith(row.uniqueName).slice(0, MOST_ELSEWHERE + 1)
  const elsewhere = nodes.filter((each) => each !== node).slice(0, MOST_ELSEWHERE)
  return {
    ...(row === undefined ? { name, plugin: CSI_PLUGIN, driver } : volumeRef(row.volume)),
    // Of several PersistentVolumes behind one handle the one that the attachment names.
    ...(persistentVolume !== undefined && { name: persistentVolume, persistentVolume }),
    attachedElsewhere: unlessEmpty(elsewhere),
    attached: object.attached === true,
    inUse: row?.isInUse === true,
  }
}

/** A volume that many nodes may have is named with the first few. */
const MOST_ELSEWHERE = 20

export function unresolvedKey({ pod: { node, uid }, name }: UnresolvedPodVolume): RowKey {
  return `${node ?? '-'} pod/${uid}/${name}`
}

const MOST_NODES = 5

/** `node a`; `nodes a, b`; `nodes a, b, c, d, e, and 3 more`. */
export function nodesText(nodes: readonly string[], most = MOST_NODES): string {
  return `${nodes.length === 1 ? 'node' : 'nodes'} ${take(nodes, most, 'and ').join(', ')}`
}

/** Of an object that is being deleted: `, held by FINALIZER`, or nothing. */
export function heldBy(finalizers: readonly string[] | undefined): string {
  return finalizers === undefined || finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`
}
