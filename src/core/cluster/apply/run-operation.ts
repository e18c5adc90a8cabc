/** One operation: look, delete or create, look once more, wait for the external attacher. */

import { describeAttachment, lookAtAttacher } from '../../base/command.ts'
import { formatDuration } from '../../base/duration.ts'
import { OperationRefused, StepFailed, StepInterrupted } from '../../base/operation-error.ts'
import type { VolumeAttachment } from '../../kube/api/objects.ts'
import { ATTACHMENTS } from '../../kube/api/resources.ts'
import { ApiError } from '../../kube/api-error.ts'
import { findObject } from '../../kube/objects.ts'
import {
  type AttachmentVersion,
  createVolumeAttachment,
  deleteVolumeAttachment,
  removeFinalizers,
} from '../../kube/writes.ts'
import { pause } from '../../linux/deadline.ts'
import type { ClusterOperation, ClusterStep, NewAttachment } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { canonicalJson } from '../../trust/digest.ts'
import { waitsToDetach } from '../../volumes/api-objects.ts'
import { attacherLease, type ClusterContext, isDriverGone, isStale } from '../model/cluster-context.ts'
import { attachmentRecord, CREATED_BY } from '../read/records.ts'
import type { ClusterRun } from './cluster-run.ts'

/** @returns once it is changed or refused; `ended`: its outcome is known, after the attacher's part */
export async function runOperation(run: ClusterRun, planned: ClusterOperation): Promise<{ ended: Promise<void> }> {
  run.started(planned)
  try {
    await run.keepLock()
    const operation = await run.requireSame(planned)
    // A slow look may outlast the lease.
    await run.keepLock()
    run.intend([operation])
    const { creates } = operation
    const ask = creates === undefined ? await remove(run, operation) : await create(run, operation, creates)
    return { ended: finish(run, operation, ask) }
  } catch (error) {
    run.settleFailed(planned, error)
    return { ended: Promise.resolve() }
  }
}

/** What there is left to wait for; undefined: nothing. */
type Ask = () => Promise<string | undefined>

async function finish(run: ClusterRun, operation: ClusterOperation, ask: Ask): Promise<void> {
  try {
    await waitFor(run, operation, ask)
    run.settle(operation, 'done', { message: operation.message })
  } catch (error) {
    run.settleFailed(operation, error)
  }
}

function sayStep(run: ClusterRun, operation: ClusterOperation, { op, target }: ClusterStep): void {
  run.say(operation, `${op} ${target}`)
}

function attachmentCalled({ parts: { client } }: ClusterRun, name: string): Promise<VolumeAttachment | undefined> {
  return findObject(client, ATTACHMENTS, { name })
}

async function remove(run: ClusterRun, operation: ClusterOperation): Promise<Ask> {
  const { name, uid = '', resourceVersion = '' } = operation.attachment
  const strip = operation.steps.find((step) => step.op === 'removeFinalizers')
  for (const step of operation.steps) {
    sayStep(run, operation, step)
    if (step.op === 'deleteVolumeAttachment') await deleteIt(run, { name, uid, resourceVersion })
    else if (strip !== undefined) await stripIt(run, { name, uid }, strip)
  }
  await sayWhoCame(run, operation)
  return async () => {
    const found = await attachmentCalled(run, name)
    if (found?.metadata.uid === uid) return waitsToDetach(found)
    run.cluster.putAttachment(name, undefined)
    return undefined
  }
}

async function deleteIt({ parts }: ClusterRun, version: AttachmentVersion): Promise<void> {
  const outcome = await deleteVolumeAttachment(parts.client, version)
  if (outcome.state !== 'changed') return
  throw new OperationRefused(
    'Changed',
    `VolumeAttachment ${version.name} changed in the moment before it was deleted: ${outcome.message}`,
  )
}

/** Only those finalizers that the person saw, of the object that they saw. */
async function stripIt(
  run: ClusterRun,
  { name, uid }: Pick<AttachmentVersion, 'name' | 'uid'>,
  { finalizers }: Extract<ClusterStep, { op: 'removeFinalizers' }>,
): Promise<void> {
  const found = await attachmentCalled(run, name)
  if (found?.metadata.uid !== uid) return
  const { deletionTimestamp, finalizers: now = [], resourceVersion = '' } = found.metadata
  if (deletionTimestamp == null || now.some((each) => !finalizers.includes(each))) {
    throw new OperationRefused('Changed', `VolumeAttachment ${name} has other finalizers now: ${now.join(', ')}`)
  }
  await removeFinalizers(run.parts.client, { name, uid, resourceVersion })
}

/**
 * The window that no precondition closes: between the look and the delete a pod may be scheduled to the node. Its kubelet refuses to
 * mount an attachment that is being deleted, unless the volume was mounted before.
 */
async function sayWhoCame(run: ClusterRun, operation: ClusterOperation): Promise<void> {
  const { uniqueName } = operation.volume
  if (uniqueName === undefined) return
  // One that cannot be made is no failure of the detach.
  const hasLooked = await run.look(operation).then(
    () => true,
    () => false,
  )
  if (!hasLooked) {
    run.say(
      operation,
      `whether a pod that wants the volume appeared on node ${operation.node} meanwhile could not be read`,
    )
    return
  }
  const pods = run.contextOf(operation).rows.of(operation.node, uniqueName)?.pods ?? []
  for (const pod of pods) {
    const message = `pod ${namespacedName(pod)} wants the volume on node ${operation.node}, and appeared while the volume was being detached`
    const hint =
      'The kubelet mounts no volume whose attachment is being deleted. Once the attachment is gone, the controller attaches the volume again; or volctl does: volctl plan --cluster'
    run.say(operation, message, { code: 'AttachmentDeleting', hint })
  }
}

async function create(run: ClusterRun, operation: ClusterOperation, creates: NewAttachment): Promise<Ask> {
  for (const step of operation.steps) sayStep(run, operation, step)
  const { client, options } = run.parts
  const { name } = creates
  const spec = specOf(creates)
  const annotations = { [CREATED_BY]: `volctl ${options.volctlVersion}` }
  const { attachment, state } = await createVolumeAttachment(client, { name, annotations, spec })
  if (state === 'exists') requireSameSpec(attachment, spec)
  run.cluster.putAttachment(name, attachmentRecord(attachment))
  return async () => {
    const found = await attachmentCalled(run, name)
    if (found === undefined) {
      throw new StepFailed('TimedOut', `VolumeAttachment ${name} was created, and somebody else has deleted it`, {
        hint: 'Run volctl plan --cluster to see what is left to do.',
      })
    }
    requireSameSpec(found, spec)
    run.cluster.putAttachment(name, attachmentRecord(found))
    return waitsToAttach(found)
  }
}

function specOf({ attacher, nodeName, source }: NewAttachment): VolumeAttachment['spec'] {
  return { attacher, nodeName, source }
}

function requireSameSpec({ metadata, spec }: VolumeAttachment, wanted: VolumeAttachment['spec']): void {
  const { attacher, nodeName, source } = spec
  if (canonicalJson({ attacher, nodeName, source }) === canonicalJson(wanted)) return
  throw new OperationRefused(
    'Changed',
    `somebody else has created VolumeAttachment ${metadata.name}, of another volume or node`,
    { hint: `Look at the attachment: ${describeAttachment(metadata.name)}` },
  )
}

/**
 * Asks until there is nothing left to wait for. What the attacher says is repeated once each time it changes.
 *
 * @throws StepFailed TimedOut after --timeout; StillAtWork after an interruption
 */
async function waitFor(run: ClusterRun, operation: ClusterOperation, ask: Ask): Promise<void> {
  const { timeoutMs, pollMs, signal } = run.parts
  const { creates, volume } = operation
  // '' only where the attachment does not name it.
  const driver = creates?.attacher ?? volume.driver ?? ''
  const until = performance.now() + timeoutMs
  let told: string | undefined
  for (;;) {
    const waits = await ask().catch(unlessAway)
    if (waits === undefined) return
    const nobody = told === undefined ? whyNoAttacher(run.contextOf(operation), driver) : undefined
    if (nobody !== undefined) run.say(operation, nobody, { code: 'AttacherSilent' })
    if (waits !== told) run.say(operation, waits)
    told = waits
    if (signal?.aborted) throw new StepInterrupted(`interrupted; ${waits}`, { code: 'StillAtWork' })
    if (performance.now() >= until) {
      throw new StepFailed('TimedOut', `not finished after ${formatDuration(timeoutMs)}: ${waits}`, {
        hint: lookAtAttacher(operation.attachment.name, driver),
      })
    }
    await run.keepLock()
    await pause(pollMs, signal)
  }
}

/** The change was made; a server that does not answer for a while must not make it look undone. */
function unlessAway(error: unknown): string {
  if (!(error instanceof ApiError)) throw error
  return `the change was made; what became of it could not be read: ${error.message}`
}

/** What an attachment still waits for, by its own words and by those of its external attacher; undefined: attached. */
function waitsToAttach({ status, metadata }: VolumeAttachment): string | undefined {
  if (metadata.deletionTimestamp != null) return 'somebody else deletes it'
  if (status?.attached === true) return undefined
  const error = status?.attachError?.message
  return `waiting for the external attacher${error === undefined ? '' : `; the last attempt to attach failed: ${error}`}`
}

/** Why nobody may be there to attach or detach; undefined: nothing shows that. */
function whyNoAttacher(context: ClusterContext, driver: string): string | undefined {
  if (isDriverGone(context, driver)) return `no CSIDriver, CSINode or attacher knows driver ${driver}`
  const lease = attacherLease(context, driver)
  if (lease === undefined || !isStale(context, lease)) return undefined
  return `no external attacher of driver ${driver} runs: lease ${lease.name} was last renewed ${lease.renewTime ?? 'at an unknown time'}`
}
