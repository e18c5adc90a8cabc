/** The state of one apply of a cluster; and one operation: look, delete or create, look once more, wait for the external attacher. */

import { formatDuration } from '../../base/text.ts'
import { clusterFacts } from '../../cluster/model/cluster-context.ts'
import { type ClusterState, clusterObjects } from '../../cluster/model/cluster-state.ts'
import { Rows } from '../../cluster/model/rows.ts'
import { RecordReader } from '../../cluster/read/read-cluster.ts'
import { CREATED_BY } from '../../cluster/read/records.ts'
import { namespacedName } from '../../kube/api/names.ts'
import { ATTACHMENTS, type VolumeAttachment } from '../../kube/api/objects.ts'
import { orInstead } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/kube-client.ts'
import { createVolumeAttachment, deleteVolumeAttachment } from '../../kube/writes.ts'
import { pause } from '../../linux/deadline.ts'
import { advice, describeAttachment, lookAtAttacher, marked } from '../../messages/command.ts'
import { CameBack, OperationRefused, StepFailed, StepInterrupted, said, VolctlError } from '../../messages/findings.ts'
import type { ClusterOperation, ClusterOptions, NewAttachment } from '../../plan/cluster-plan.ts'
import type { ApplyEvent } from '../../plan/events.ts'
import { canonicalJson } from '../../trust/digest.ts'
import { waitsToDetach } from '../../volumes/api-objects.ts'
import type { Journal } from '../journal/write-journal.ts'
import { Run } from '../operation/run.ts'
import type { LeaseLock } from './lease-lock.ts'
import { type Look, partOf, readAgain, recheck } from './recheck.ts'

/** Beside those for the run. */
export interface ClusterRunOptions {
  /** Those that the plan was made with. */
  readonly options: ClusterOptions
  /** For the wait of one operation. */
  readonly timeoutMs: number
  readonly pollMs?: number
  /** Aborted: start nothing more, and wait for nothing. */
  readonly signal?: AbortSignal
}

const POLL_MS = 500

interface ClusterRunParts extends ClusterRunOptions {
  readonly client: KubeClient
  readonly lock: Pick<LeaseLock, 'keep'>
  readonly journal: Journal
  readonly emit: (event: ApplyEvent) => void
}

export class ClusterRun extends Run<ClusterOperation> {
  readonly #parts: ClusterRunParts
  /** At the whole cluster, with which the apply began; and what was read again since then in the place of the same. */
  #known: Look
  /** At the first look. */
  readonly #wasControllerDead: boolean

  constructor(parts: ClusterRunParts, state: ClusterState) {
    super(parts.journal, parts.emit, parts.signal)
    this.#parts = parts
    const facts = clusterFacts(state, parts.options.settleMs)
    this.#known = { state, facts }
    this.#wasControllerDead = facts.controller.state === 'dead'
  }

  /** Nothing is run any more. The look at what is left takes as much memory again. */
  forget(): void {
    const none = { nodes: [], pods: [], claims: [], volumes: [], attachments: [] }
    this.#known = { ...this.#known, state: { ...this.#known.state, ...none } }
  }

  /** Operations are few, and each takes seconds: its outcome is on the disk before the message. */
  protected settled(): void {
    this.flushOutcomes()
  }

  /** @returns once it is changed or refused; `ended`: its outcome is known, after the attacher's part */
  async run(planned: ClusterOperation) {
    this.started(planned)
    try {
      await this.#keepLock()
      const operation = this.#requireSame(planned, await this.#look(planned))
      // A slow look may outlast the lease.
      await this.#keepLock()
      this.intend([operation])
      for (const { op, target } of operation.steps) this.say(operation, `${op} ${target}`)
      if (operation.creates === undefined) await this.#remove(operation)
      else await this.#create(operation.creates)
      return { ended: this.#finish(operation) }
    } catch (error) {
      this.settleFailed(planned, error)
      return { ended: Promise.resolve() }
    }
  }

  /** @throws OperationRefused Locked, which stops the apply */
  async #keepLock(): Promise<void> {
    try {
      await this.#parts.lock.keep()
    } catch (error) {
      if (error instanceof VolctlError) this.stopFor(error)
      throw error
    }
  }

  /** Reads again all that the operation rests on. @throws ApiError */
  async #look(operation: ClusterOperation): Promise<Look> {
    const { client, options } = this.#parts
    const { drivers, lists, errors, controller } = this.#known.state
    const managers = controller.writes?.map(({ manager }) => manager)
    const reader = new RecordReader(client, { managers, drivers: clusterObjects({ drivers, lists, errors }) })
    this.#known = await readAgain(reader, this.#known, operation, options)
    return this.#known
  }

  /**
   * @returns the operation as it is now
   * @throws OperationRefused if it is not the same any more, or if the controller came back, which stops the apply (S11)
   */
  #requireSame(planned: ClusterOperation, look: Look): ClusterOperation {
    const { state, note } = look.facts.controller
    if (state !== 'dead' && this.#wasControllerDead) {
      throw this.stopFor(new CameBack(said('ControllerRunning', { note })))
    }
    const { operation, refused } = recheck(look, planned, this.#parts.options)
    if (refused !== undefined) throw new OperationRefused(refused, { hint: refused.hint })
    return operation
  }

  async #remove(operation: ClusterOperation): Promise<void> {
    const { client } = this.#parts
    const { name, uid = '', resourceVersion = '' } = operation.attachment
    await orInstead(deleteVolumeAttachment(client, { name, uid, resourceVersion }), (error) => {
      if (error.status !== 409) throw error
      throw new OperationRefused(said('Changed.beforeDelete', { name, message: error.message }))
    })
    await this.#sayWhoCame(operation)
  }

  /**
   * The window that no precondition closes: between the look and the delete a pod may be scheduled to the node. Its kubelet refuses to
   * mount an attachment that is being deleted, unless the volume was mounted before.
   */
  async #sayWhoCame(operation: ClusterOperation): Promise<void> {
    const { node, volume } = operation
    if (volume.uniqueName === undefined) return
    // One that cannot be made is no failure of the detach.
    const look = await this.#look(operation).catch(() => undefined)
    if (look === undefined) {
      this.say(operation, `whether a pod that wants the volume appeared on node ${node} meanwhile could not be read`)
      return
    }
    const rows = new Rows(partOf(look.state, operation)).ofVolume.of(volume.uniqueName)
    for (const pod of rows.flatMap(({ pods }) => pods)) {
      const message = `pod ${namespacedName(pod)} wants the volume on node ${node}, and appeared while the volume was being detached`
      const hint = marked(
        'The kubelet mounts no volume whose attachment is being deleted. Once the attachment is gone, the controller attaches the volume again; or volctl does: `volctl plan --cluster`',
      )
      this.say(operation, message, { code: 'AttachmentDeleting', hint })
    }
  }

  async #create(creates: NewAttachment): Promise<void> {
    const { client, options } = this.#parts
    const annotations = { [CREATED_BY]: `volctl ${options.volctlVersion}` }
    const { name, ...spec } = creates
    const there = await createVolumeAttachment(client, { name, annotations }, spec)
    if (there !== undefined) requireSameSpec(there, creates)
  }

  /** Asks until there is nothing left to wait for, or for --timeout. What the attacher says is repeated once each time it changes. */
  async #finish(operation: ClusterOperation): Promise<void> {
    const { timeoutMs, pollMs = POLL_MS, signal } = this.#parts
    const { attachment, volume, message } = operation
    const until = performance.now() + timeoutMs
    let shown: string | undefined
    try {
      for (;;) {
        // A server that does not answer for a while must not make it look undone.
        const waits = await orInstead(
          this.#waits(operation),
          ({ message: why }) => `the change was made; what became of it could not be read: ${why}`,
        )
        if (waits === undefined) return this.settle(operation, 'done', { message })
        if (waits !== shown) this.say(operation, waits)
        shown = waits
        if (signal?.aborted) throw new StepInterrupted(said('StillAtWork.waits', { waits }))
        if (performance.now() >= until) {
          throw new StepFailed(said('TimedOut.unfinished', { timeout: formatDuration(timeoutMs), waits }), {
            hint: lookAtAttacher(attachment.name, volume.driver ?? ''),
          })
        }
        await this.#keepLock()
        await pause(pollMs, signal)
      }
    } catch (error) {
      this.settleFailed(operation, error)
    }
  }

  /** What there is left to wait for; undefined: nothing. */
  async #waits({ attachment: { name, uid = '' }, creates }: ClusterOperation): Promise<string | undefined> {
    const found = await this.#parts.client.find(ATTACHMENTS, { name })
    if (creates === undefined) return found?.metadata.uid === uid ? waitsToDetach(found) : undefined
    if (found === undefined) {
      throw new StepFailed(said('TimedOut.deleted', { name }), {
        hint: marked('Run `volctl plan --cluster` to see what is left to do.'),
      })
    }
    requireSameSpec(found, creates)
    return waitsToAttach(found)
  }
}

function requireSameSpec({ spec }: VolumeAttachment, { name, ...wanted }: NewAttachment): void {
  const { attacher, nodeName, source } = spec
  if (canonicalJson({ attacher, nodeName, source }) === canonicalJson(wanted)) return
  throw new OperationRefused(said('Changed.createdByOther', { name }), {
    hint: advice`Look at the attachment: ${describeAttachment(name)}`,
  })
}

/** What an attachment still waits for, by its own words and by those of its external attacher; undefined: attached. */
function waitsToAttach({ status, metadata }: VolumeAttachment): string | undefined {
  if (metadata.deletionTimestamp != null) return 'somebody else deletes it'
  if (status?.attached === true) return undefined
  const error = status?.attachError?.message
  return `waiting for the external attacher${error === undefined ? '' : `; the last attempt to attach failed: ${error}`}`
}
