/**
 * Deletes a VolumeAttachment: checks all of S21 right before, then waits for the attacher. What the node itself shows is the
 * proof that nothing uses the volume.
 */

import { pause, withDeadline } from '../../linux/deadline.ts'
import { errorMessage, OperationRefused, said } from '../../messages/findings.ts'
import type { Operation } from '../../plan/plan.ts'
import { askCluster } from '../../rules/machine-facts.ts'
import { requireRules } from '../../rules/rules.ts'
import { waitsToDetach } from '../../volumes/api-objects.ts'
import { mayWant } from '../../volumes/populate.ts'
import { askLease, kubeletCameBack, kubeletIsBack } from '../operation/ask-kubelet.ts'
import type { StepContext } from '../operation/step.ts'

type Bound = NonNullable<Operation['attachment']>

const POLL_MS = 500

/** S21: what the API says is of the same second as the deletion. */
const SAME_SECOND_MS = 1000

/** @returns what the detach still waits for, if anything */
export async function detachVolume(run: StepContext, waitMs: number): Promise<string | undefined> {
  const bound = run.operation.attachment
  if (bound === undefined) throw new OperationRefused(said('Changed.noAttachment'))
  const facts = await askApi(run, bound.name)
  if (facts === undefined) return undefined
  const asked = performance.now()
  run.around.changed()
  await requireRules(facts, 'apply')
  // The look at the devices may have taken long, or this process was suspended: a kubelet may have started, or a pod come.
  if (performance.now() - asked > SAME_SECOND_MS) {
    const again = await askApi(run, bound.name)
    if (again === undefined) return undefined
    await requireRules(again, 'again')
  }
  await deleteAttachment(run, bound)
  return waitUntilGone(run, bound, waitMs)
}

/** Asks the API who wants the volume, by the controller's own rule. @returns undefined: the attachment is gone @throws CameBack */
async function askApi(run: StepContext, name: string): Promise<StepContext | undefined> {
  const { operation, context, waiting } = run
  const { cluster } = context
  const [[attachment, node, pods], isBack, renewed] = await waiting.spend((ms) => {
    const asked = Promise.all([cluster.getVolumeAttachment(name), cluster.getNode(), cluster.listNodePods()])
    return Promise.all([withDeadline(asked, ms, 'the API server'), kubeletIsBack(context), askLease(context, ms)])
  })
  if (renewed !== undefined || isBack) throw kubeletCameBack(renewed)
  if (attachment === undefined) return undefined
  const volume = operation.volume?.uniqueName
  const wanted = await context.wantedOf(pods)
  const isWanted = wanted === undefined || volume === undefined || mayWant(wanted, volume)
  // Once more, since the API server may have been slow.
  if (await kubeletIsBack(context)) throw kubeletCameBack()
  return { ...run, attachment, api: { node, isWanted } }
}

async function deleteAttachment(run: StepContext, bound: Bound): Promise<void> {
  try {
    await askCluster(run, (cluster) => cluster.deleteVolumeAttachment(bound))
  } catch (error) {
    if ((error as { status?: unknown }).status !== 409) throw error
    throw new OperationRefused(said('Changed.attachment', { name: bound.name }), {
      cause: error,
    })
  }
}

/** An attachment that still exists is not a failure: the controller or the attacher acts next (N59). */
async function waitUntilGone(run: StepContext, bound: Bound, waitMs: number): Promise<string | undefined> {
  const until = performance.now() + waitMs
  let reported: string | undefined
  for (;;) {
    const waiting = await stillThere(run, bound)
    if (waiting === undefined) return undefined
    if (waiting !== reported) run.say(waiting)
    reported = waiting
    if (performance.now() >= until || run.waiting.isSpent || run.signal?.aborted) return waiting
    await run.waiting.spend((ms) => pause(Math.min(POLL_MS, waitMs, ms), run.signal))
  }
}

async function stillThere(run: StepContext, { name, uid }: Bound): Promise<string | undefined> {
  try {
    const attachment = await askCluster(run, (cluster) => cluster.getVolumeAttachment(name))
    if (attachment === undefined || attachment.metadata.uid !== uid) return undefined
    return waitsToDetach(attachment)
  } catch (error) {
    return `deleted; could not check whether it is gone: ${errorMessage(error)}`
  }
}
