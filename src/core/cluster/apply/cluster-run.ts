/** The state of one apply of a cluster: what is known of it, and what an operation rests on. */

import { type Comparison, type FoundAgain, foundAgain } from '../../apply/find-again.ts'
import { Run } from '../../apply/operation/run.ts'
import { VolctlError } from '../../base/errors.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { CameBack, OperationRefused } from '../../base/operation-error.ts'
import type { KubeClient } from '../../kube/kube-client.ts'
import { causeOf } from '../../messages/codes.ts'
import type { ClusterOperation, ClusterOptions, ClusterPlan } from '../../plan/cluster-plan.ts'
import type { Journal } from '../../plan/documents/write-journal.ts'
import type { ApplyEvent, EventSubject } from '../../plan/events.ts'
import { areOfOneRow, rowOf, rowsOf } from '../../plan/subject.ts'
import { type ClusterContext, clusterContext } from '../model/cluster-context.ts'
import { ClusterObjects } from '../model/cluster-objects.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { planPart } from '../pass/plan-cluster.ts'
import { partOf } from '../pass/row-part.ts'
import { RecordReader } from '../read/record-reader.ts'
import { ClusterCache } from './cluster-cache.ts'
import type { LeaseLock } from './lease-lock.ts'

interface ClusterRunParts {
  readonly client: KubeClient
  readonly options: ClusterOptions
  readonly timeoutMs: number
  readonly pollMs: number
  readonly lock: Pick<LeaseLock, 'keep'>
  readonly journal: Journal
  readonly emit: (event: ApplyEvent) => void
  /** Aborted: start nothing more, and wait for nothing. */
  readonly signal: AbortSignal | undefined
}

export class ClusterRun extends Run<ClusterOperation> {
  readonly parts: ClusterRunParts
  readonly cluster: ClusterCache
  readonly #wasDead: boolean

  constructor(parts: ClusterRunParts, state: ClusterState) {
    super(parts.journal, parts.emit, parts.signal)
    this.parts = parts
    this.cluster = new ClusterCache(state, parts.options.settleMs)
    this.#wasDead = this.cluster.facts.controller.state === 'dead'
  }

  /** Of its pods the first. */
  subjectOf({ id, kind, node, volume, pods }: ClusterOperation): EventSubject {
    return { id, kind, node, volume, ...omitUndefined({ pod: pods[0] }) }
  }

  /** Operations are few, and each takes seconds: its outcome is on the disk before the message. */
  protected settled(): void {
    this.flushOutcomes()
  }

  /**
   * Reads again all that the operation rests on, and plans on it (S26). The pass over that part takes milliseconds: what it says is as
   * fresh as what was read.
   *
   * @returns the operation as it is now
   * @throws OperationRefused if it is not the same any more, or if the controller came back, which stops the apply (S11)
   */
  async requireSame(planned: ClusterOperation): Promise<ClusterOperation> {
    await this.look(planned)
    this.#requireNoController()
    const { operation, refused } = recheck(this.cluster, planned, this.parts.options)
    if (refused !== undefined) throw new OperationRefused(refused.code, refused.message, { hint: refused.hint })
    return operation
  }

  /** @throws ApiError */
  async look(operation: ClusterOperation): Promise<void> {
    const { drivers, lists, errors, controller } = this.cluster.state
    const managers = controller.writes?.map(({ manager }) => manager)
    const { lookup } = new ClusterObjects({ drivers, lists, errors })
    const reader = new RecordReader(this.parts.client, { managers, drivers: lookup })
    await this.cluster.read(reader, operation)
  }

  #requireNoController(): void {
    const { state, note } = this.cluster.facts.controller
    if (!this.#wasDead || state === 'dead') return
    throw this.stopFor(
      new CameBack('ControllerRunning', `the attach/detach controller is back, and the rest is its work: ${note}`),
    )
  }

  /** What a pass over the part that the operation rests on reads. */
  contextOf(operation: ClusterOperation): ClusterContext {
    const { options } = this.parts
    return clusterContext(partOf(this.cluster.state, operation), options, this.cluster.facts)
  }

  /** @throws OperationRefused Locked, which stops the apply */
  async keepLock(): Promise<void> {
    try {
      await this.parts.lock.keep()
    } catch (error) {
      if (error instanceof VolctlError) this.stopFor(error)
      throw error
    }
  }
}

/**
 * Is an operation still the same, by what was read of it just now? The pass over that part says the same of it as the pass over the whole
 * cluster.
 *
 * The outage guard (S29) is not asked again. It counts a whole cluster, and so it was asked at the whole look with which the apply
 * began: no operation is carried out that was not planned there, with its pods in the API. What is read after that can only take
 * operations away, whatever the API loses meanwhile; and an API that went back to a backup has another lease of the controller than
 * before, which counts as a controller that is back.
 */
export function recheck(
  { state, facts }: ClusterCache,
  planned: ClusterOperation,
  options: ClusterOptions,
): FoundClusterOperation {
  const part = partOf(state, planned)
  return foundAgain(planned, comparisonWith(planPart(part, options, facts), part))
}

export type FoundClusterOperation = FoundAgain<ClusterOperation>

/** A plan made just now of this state, to compare reviewed operations with. */
export function comparisonWith(fresh: ClusterPlan, state: ClusterState): Comparison<ClusterOperation> {
  return {
    byId: new Map(fresh.operations.map((operation) => [operation.id, operation])),
    isDone: (planned) => isDone(planned, state),
    whyGone: (planned) => whyGone(planned, fresh),
    // The attach of a plan waits for its detach; by then, the order of the reviewed plan holds.
    refuses: ({ code }) => causeOf(code) !== 'follows',
  }
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

function whyGone({ kind, node, subject }: ClusterOperation, { waiting, problems }: ClusterPlan): string {
  const row = rowOf(subject)
  const wait = waiting.find((each) => areOfOneRow(each.subject, subject))
  const problem = problems.find((each) => row !== undefined && rowsOf(each.subject).includes(row))
  return (
    wait?.message ??
    (kind === 'AttachVolume' ? problem?.message : undefined) ??
    (kind === 'DetachVolume'
      ? `a pod of node ${node} wants the volume, or may want it`
      : `no pod of node ${node} waits for the volume any more`)
  )
}
