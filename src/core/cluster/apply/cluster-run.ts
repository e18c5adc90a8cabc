/** The state of one apply of a cluster: what is known of it, and what an operation rests on. */
import type { KubeClient } from '../../api/kube-client.ts'
import { Run } from '../../apply/operation/run.ts'
import { VolctlError } from '../../errors/errors.ts'
import { CameBack, OperationRefused } from '../../errors/operation-error.ts'
import type { Journal } from '../../journal/write-journal.ts'
import { defined } from '../../lang/defined.ts'
import type { ClusterOperation, ClusterOptions, ClusterPlan } from '../../plan/cluster-plan.ts'
import type { ApplyEvent, EventSubject } from '../../plan/events.ts'
import { type ClusterContext, clusterContext } from '../context/cluster-context.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { planPart } from '../pass/plan-cluster.ts'
import { lookAtDriver, lookAtVolume, restsOnDriver } from './fresh-look.ts'
import { type Judged, judgeAgain } from './judge-again.ts'
import { KnownCluster } from './known-cluster.ts'
import type { LeaseLock } from './lease-lock.ts'
import { partOf } from './part-of-cluster.ts'

export interface ClusterRunParts {
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
  /** By the last look at each part of it. */
  cluster: KnownCluster
  readonly #first: ClusterPlan

  constructor(parts: ClusterRunParts, state: ClusterState, first: ClusterPlan) {
    super(parts.journal, parts.emit, parts.signal)
    this.parts = parts
    this.cluster = new KnownCluster(state)
    this.#first = first
  }

  /** Of its pods the first. */
  subjectOf({ id, kind, node, volume, pods }: ClusterOperation): EventSubject {
    return { id, kind, node, volume, ...defined({ pod: pods[0] }) }
  }

  /** Operations are few, and each takes seconds: its outcome is on the disk before the message. */
  protected settled(): void {
    this.flushOutcomes()
  }

  /** Nothing is run any more. The look at what is left takes as much memory again. */
  forget(): void {
    this.cluster = new KnownCluster({
      ...this.cluster.head,
      nodes: [],
      pods: [],
      claims: [],
      volumes: [],
      attachments: [],
    })
  }

  /**
   * Looks again at all that the operation rests on, and plans on it (S26). The pass over that part takes milliseconds: what it says is as
   * fresh as the look.
   *
   * @returns the operation as it is now
   * @throws OperationRefused if it is not the same any more, or if the controller came back, which stops the apply (S11)
   */
  async requireSame(planned: ClusterOperation): Promise<ClusterOperation> {
    const { client, options } = this.parts
    const driver = restsOnDriver(planned) ? await lookAtDriver(client, this.cluster, planned) : undefined
    if (driver !== undefined) this.cluster.layDriver(driver)
    await this.look(planned)
    this.#requireNoController()
    const { operation, refused } = judgeFresh(this.cluster, planned, options)
    if (refused !== undefined)
      throw new OperationRefused(refused.code, refused.message, defined({ hint: refused.hint }))
    return operation
  }

  /** Reads what the operation rests on, and lays it over the cluster. @throws ApiError */
  async look(operation: ClusterOperation): Promise<void> {
    this.cluster.lay(await lookAtVolume(this.parts.client, this.cluster, operation))
  }

  #requireNoController(): void {
    if (this.#first.inputs.controller.state !== 'dead') return
    const { state, note } = this.cluster.facts(this.parts.options.settleMs).controller
    if (state === 'dead') return
    throw this.stopFor(
      new CameBack('ControllerRunning', `the attach/detach controller is back, and the rest is its work: ${note}`, {
        hint: 'Let the controller do the rest. What it never does: volctl plan --cluster',
      }),
    )
  }

  /** What a pass over the part that the operation rests on reads. */
  contextOf(operation: ClusterOperation): ClusterContext {
    const { options } = this.parts
    return clusterContext(partOf(this.cluster, operation, options), options, this.cluster.facts(options.settleMs))
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

  begin(operation: ClusterOperation): void {
    this.started(operation)
  }

  fail(operation: ClusterOperation, error: unknown): void {
    this.settleFailed(operation, error)
  }
}

/**
 * Is an operation still the same, by a fresh look at what it rests on? The pass over that part says the same of it as the pass over the
 * whole cluster (test/cluster/apply/part-of-cluster.test.ts).
 *
 * The outage guard (S29) is not asked again. It counts a whole cluster, and so it was asked at the whole look with which the apply
 * began: no operation is carried out that was not planned there, with its pods in the API. What is read after that can only take
 * operations away, whatever the API loses meanwhile; and an API that went back to a backup has another lease of the controller than
 * before, which counts as a controller that is back.
 */
export function judgeFresh(cluster: KnownCluster, planned: ClusterOperation, options: ClusterOptions): Judged {
  const part = partOf(cluster, planned, options)
  return judgeAgain(planned, planPart(part, options, cluster.facts(options.settleMs)), part)
}
