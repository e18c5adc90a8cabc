/** What is said of a volume on a node, or of a pod as a whole: of several things the one that says most. */
import type { Code } from '../../messages/codes.ts'
import type { ClusterOperationKind, ClusterProblem, ClusterWaiting } from '../../plan/cluster-plan.ts'
import type { Refusal } from '../../plan/plan.ts'
import { type PodUid, podOf, type RowKey, rowsOf } from '../../plan/subject.ts'
import { blockOf, type ClusterDraft, type ClusterFindings } from './findings.ts'

export interface Said {
  readonly is: 'wrong' | 'waiting' | 'blocked' | 'ready'
  readonly code: Code
  readonly message: string
  readonly hint?: string | undefined
  /** Of what is to be done. */
  readonly kind?: ClusterOperationKind
}

/**
 * Notes say nothing of a volume; an operation says more than a wait, and that more than a problem.
 *
 * @param refused why the plan as a whole is not carried out
 */
export function saidOf(
  { operations, waiting, problems }: ClusterFindings,
  refused?: Pick<Refusal, 'code' | 'message' | 'hint'>,
): ReadonlyMap<RowKey | PodUid, Said> {
  const [rows, pods] = [new Map<string, Said>(), new Map<string, Said>()]
  const note = ({ subject }: Pick<ClusterDraft | ClusterWaiting | ClusterProblem, 'subject'>, said: Said): void => {
    const keys = rowsOf(subject)
    for (const key of keys) rows.set(key, said)
    const pod = podOf(subject)
    if (keys.length === 0 && pod !== undefined) pods.set(pod, said)
  }
  for (const problem of problems) if (problem.severity !== 'info') note(problem, { ...problem, is: 'wrong' })
  for (const wait of waiting) note(wait, { ...wait, is: 'waiting' })
  for (const draft of operations) {
    const { kind, reason: code, message } = draft
    const blocked = refused ?? blockOf(draft)
    note(draft, blocked === undefined ? { is: 'ready', kind, code, message } : { is: 'blocked', kind, ...blocked })
  }
  return new Map([...pods, ...rows])
}
