/** Operations of a cluster's plan in the making: drafts are linked by reference, and ids come last. */

import { append } from '../../base/append.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import type { BlockCode, ProblemCode } from '../../messages/codes.ts'
import type {
  ClusterAbout,
  ClusterBlocked,
  ClusterOperation,
  ClusterOperationKind,
  ClusterProblem,
  ClusterStep,
  ClusterVolumeRef,
  ClusterWaiting,
} from '../../plan/cluster-plan.ts'
import { AnyFindings, operationId, operationsOf, type Wait } from '../../plan/draft.ts'
import type { PodRef } from '../../plan/plan.ts'
import type { Subject } from '../../plan/subject.ts'
import type { ClusterPod, ClusterState } from '../model/cluster-state.ts'
import { credentialFor } from './kubectl.ts'

export interface ClusterDraft extends Omit<ClusterOperation, 'id' | 'after' | 'subject'> {
  readonly subject: Subject
  readonly after: readonly ClusterDraft[]
}

/** Whose a problem is, and what it names. */
export type About = ClusterAbout & { readonly subject: Subject }

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
    ...omitUndefined({ nodes: pod.node === undefined ? undefined : [pod.node] }),
    subject: { pod: pod.uid },
  }
}

export class ClusterFindings extends AnyFindings<ClusterDraft, ClusterWaiting, ClusterProblem> {
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
    wait: Wait,
    rule: string,
    about: Pick<ClusterWaiting, 'node' | 'pods'> & {
      readonly subject: Subject
      volume?: ClusterVolumeRef
      attachment?: string
    },
  ): void {
    this.waiting.push({ kind, ...wait, ...about, rule })
  }

  /** Something that may matter is not known. */
  incomplete(code: ProblemCode, message: string, about: About, hint?: string): void {
    this.complete = false
    this.problem('warning', code, message, about, hint)
  }
}

export function blockedBy(code: BlockCode, message: string, hint?: string): ClusterBlocked {
  return { code, message, ...omitUndefined({ hint }) }
}

const VERBS: Readonly<Record<ClusterStep['op'], 'create' | 'delete' | 'patch'>> = {
  createVolumeAttachment: 'create',
  deleteVolumeAttachment: 'delete',
  removeFinalizers: 'patch',
}

/** A right that one of the steps needs: no operation ends half-way for the lack of it. */
export function forbidden(
  { state: { rights } }: { readonly state: Pick<ClusterState, 'rights'> },
  steps: readonly ClusterStep[],
): ClusterBlocked | undefined {
  const verb = steps.map(({ op }) => VERBS[op]).find((each) => rights[`${each}Attachments`] === false)
  if (verb === undefined) return undefined
  return blockedBy('Forbidden', `this credential may not ${verb} VolumeAttachments`, credentialFor(verb))
}

export function podRef({ namespace, name, uid }: ClusterPod): PodRef {
  return { namespace, name, uid }
}

export function finishOperations(drafts: readonly ClusterDraft[]): ClusterOperation[] {
  return operationsOf<ClusterDraft, ClusterOperation>(drafts, blockOf, ({ kind, node, volume, attachment }) =>
    operationId([kind, node, volume.uniqueName ?? volume.name, attachment.name, attachment.uid]),
  )
}

/** An operation after one that is blocked is blocked, too (S26). */
export function blockOf({ blocked, after }: ClusterDraft): ClusterBlocked | undefined {
  const isBehind = after.some((before) => before.blocked !== undefined)
  return blocked ?? (isBehind ? blockedBy('Predecessor', 'the detach that has to come first is blocked') : undefined)
}
