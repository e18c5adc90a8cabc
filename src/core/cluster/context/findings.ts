/** Operations of a cluster's plan in the making: drafts are linked by reference, and ids come last. */

import type { BlockCode, ProblemCode, WaitingCode } from '../../codes/codes.ts'
import { append } from '../../lang/append.ts'
import { defined } from '../../lang/defined.ts'
import { sha256Hex } from '../../names/volume-names.ts'
import type { CauseOf } from '../../plan/cause.ts'
import type {
  ClusterAbout,
  ClusterBlocked,
  ClusterOperation,
  ClusterOperationKind,
  ClusterProblem,
  ClusterVolumeRef,
  ClusterWaiting,
} from '../../plan/cluster-plan.ts'
import type { PodRef, Severity } from '../../plan/plan.ts'
import type { ClusterSubject } from '../../plan/subject.ts'
import type { ClusterPod } from '../model/cluster-state.ts'

export interface ClusterDraft extends Omit<ClusterOperation, 'id' | 'after' | 'paths' | 'subject'> {
  readonly subject: ClusterSubject
  readonly after: readonly ClusterDraft[]
}

export interface ClusterWait {
  readonly code: WaitingCode
  readonly message: string
  readonly hint?: string
  readonly until?: string
}

/** Whose a problem is, and what it names. */
export type About = ClusterAbout & { readonly subject: ClusterSubject }

/** Of the API as a whole, or of all of the cluster. */
export const ON_API: About = { subject: { api: true } }

/** Of these nodes, and of no volume there alone. */
export function onNodes(...nodes: readonly string[]): About {
  return { nodes, subject: { nodes } }
}

/** Of the pod as a whole. */
export function ofPod(pod: ClusterPod): About {
  return {
    pods: [podRef(pod)],
    ...defined({ nodes: pod.node === undefined ? undefined : [pod.node] }),
    subject: { pod: pod.uid },
  }
}

export class ClusterFindings {
  readonly operations: ClusterDraft[] = []
  readonly waiting: ClusterWaiting[] = []
  readonly problems: ClusterProblem[] = []
  complete = true
  readonly #detaches = new Map<string, ClusterDraft[]>()

  add(draft: ClusterDraft): ClusterDraft {
    this.operations.push(draft)
    const name = draft.volume.uniqueName
    if (draft.kind === 'DetachVolume' && name !== undefined) append(this.#detaches, name, draft)
    return draft
  }

  /** Planned detaches of a volume. */
  detachesOf(uniqueName: string): readonly ClusterDraft[] {
    return this.#detaches.get(uniqueName) ?? []
  }

  wait(
    kind: ClusterOperationKind,
    wait: ClusterWait,
    rule: string,
    about: Pick<ClusterWaiting, 'node' | 'pods'> & {
      readonly subject: ClusterSubject
      volume?: ClusterVolumeRef
      attachment?: string
    },
  ): void {
    this.waiting.push({ kind, ...wait, ...about, rule })
  }

  /** @param of where its cause is another thing than what it is about */
  problem(
    severity: Severity,
    code: ProblemCode,
    message: string,
    { subject, ...about }: About,
    hint?: string,
    of?: CauseOf,
  ): void {
    this.problems.push({ severity, code, message, ...defined({ hint, of }), about, subject })
  }

  /** Something that may matter is not known. */
  incomplete(code: ProblemCode, message: string, about: About, hint?: string): void {
    this.complete = false
    this.problem('warning', code, message, about, hint)
  }
}

export function blockedBy(code: BlockCode, message: string, hint?: string): ClusterBlocked {
  return { code, message, ...defined({ hint }) }
}

export function podRef({ namespace, name, uid }: ClusterPod): PodRef {
  return { namespace, name, uid }
}

/**
 * Drafts become operations; the ids are made from what an operation is about, so they are the same for the same state. An
 * operation after one that is blocked is blocked, too (S26). Each comes after its predecessors.
 */
export function finishOperations(drafts: readonly ClusterDraft[]): ClusterOperation[] {
  const numbers = new Map(drafts.map((draft, index) => [draft, index + 1]))
  const ids = new Map(drafts.map((draft) => [draft, idOf(draft)]))
  const isBlocked = new Set<ClusterDraft>()
  return drafts.map((draft) => {
    const { after, blocked: own, kind, reason, message, node, pods, volume, steps, ...rest } = draft
    const before = after.find((each) => isBlocked.has(each))
    const blocked = own ?? (before && predecessorBlocked(numbers.get(before)))
    if (blocked !== undefined) isBlocked.add(draft)
    return {
      ...{ id: ids.get(draft) as string, kind, reason, message, node, pods, volume },
      ...{ paths: [], steps, after: after.flatMap((each) => ids.get(each) ?? []) },
      ...defined({ blocked }),
      ...rest,
    }
  })
}

function predecessorBlocked(number: number | undefined): ClusterBlocked {
  const hint = number === undefined ? undefined : `Resolve operation ${number} first.`
  return blockedBy('Predecessor', 'the detach that has to come first is blocked', hint)
}

function idOf({ kind, node, volume, attachment }: ClusterDraft): string {
  const about = [kind, node, volume.uniqueName ?? volume.name, attachment.name, attachment.uid ?? '']
  return sha256Hex(about.join('\0')).slice(0, 12)
}
