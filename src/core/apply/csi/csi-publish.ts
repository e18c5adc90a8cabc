/** NodePublishVolume, and the check that something is mounted afterwards (C53-C55). */
import { allowing, errorMessage } from '../../base/errors.ts'
import { StepFailed } from '../../base/operation-error.ts'
import type { Undo } from '../../base/undo.ts'
import { DRIVER_DIRECTORIES } from '../../facts/actual/tree.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import type { Step } from '../../plan/plan.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { csiPublishStateFile, csiStagingPath } from '../../volumes/paths.ts'
import { otherThanStaged } from '../../volumes/same-volume.ts'
import { removeDirectory, removeStep } from '../mounts/remove.ts'
import type { StepContext } from '../operation/ports.ts'
import { requireRulesOf } from '../operation/step-command.ts'
import { callNode, openDriver, untilNotPending, wantedCsi } from './csi-call.ts'
import { factsOf, readSecret, requestTokens } from './csi-objects.ts'
import { publishRequest, stageRequest } from './csi-requests.ts'

export async function nodePublishVolume(step: Step, run: StepContext): Promise<void> {
  const { volume } = wantedCsi(run)
  const wasThere = run.around.table.top(step.target) !== undefined
  const hidden = new Set(run.around.table.at(step.target).map(({ id }) => id))
  if (!wasThere) await requireRulesOf('mount', { target: { path: step.target, isDriversOwn: true } }, run)
  const facts = await factsOf(run, step.label)
  const secrets = await readSecret(run, 'nodePublishSecretRef')
  const tokens = await requestTokens(run, facts)
  await callNode(step, run, (node, ms) => node.nodePublishVolume(publishRequest(facts, secrets, tokens), ms))
  run.around.changed()
  requireSomethingThere(step, run)
  const wrong = otherMounted(step.target, volume, run)
  if (wrong !== undefined)
    throw await withoutWrong(wrong, wasThere ? undefined : () => unpublishTarget(step, hidden, run))
  const keeps = 'it was published before'
  takeOver(run, {
    what: `the volume published at ${step.target}`,
    back: () => (wasThere ? Promise.reject(new Error(keeps)) : unpublish(step, hidden, run)),
  })
}

/** The driver has the volume now: what earlier steps made belongs to it, and is undone only with it (C54, C66). */
function takeOver({ made }: StepContext, undo: Undo): void {
  made.splice(0, made.length, undo)
}

/**
 * A driver's OK is not trusted if nothing is mounted. Some drivers publish a link or a device instead of a mount (C17, C20).
 */
function requireSomethingThere(step: Step, run: StepContext): void {
  // Only the table is asked about a mount: what was mounted there may hang.
  if (run.around.table.top(step.target) !== undefined) return
  const type = run.host.lstat(step.target)?.type
  if (type === 'link' || type === 'other') return
  const driver = run.operation.volume?.driver
  throw new StepFailed(
    'DriverFailed',
    `${driver} answered OK to ${step.op}, but nothing is mounted on ${step.target}`,
    {
      hint: "See the driver's log, and check that its pod mounts the kubelet's directory with mountPropagation Bidirectional.",
      stuck: true,
    },
  )
}

/** What the driver has mounted instead of the volume: its OK is not trusted (S17, S18). A link or a device shows nothing. */
function otherMounted(target: string, volume: VolumeToMount, { around, plan }: StepContext): string | undefined {
  const { table } = around
  const shown = volume.mode === 'Block' ? undefined : table.top(target)
  if (shown === undefined) return undefined
  const staging = csiStagingPath(volume)
  const own = staging === undefined ? undefined : table.top(`${plan.rootDir}/${staging}`)
  const directories = `${plan.rootDir}/${DRIVER_DIRECTORIES}`
  const staged = (): MountInfo[] => table.ofDevice(shown.dev).filter((mount) => isWithin(mount.mountPoint, directories))
  const other = otherThanStaged(shown, own, staged)
  return other && describeMount(other)
}

/** @param back takes the publication back; absent: it was there before */
async function withoutWrong(what: string, back: (() => Promise<void>) | undefined): Promise<StepFailed> {
  const message = `the driver answered OK to NodePublishVolume, but has mounted another volume: ${what}`
  const hint = "See the driver's log; do not start the pod before plan shows the right volume."
  if (back === undefined) return new StepFailed('OtherVolume', message, { hint, stuck: true })
  try {
    await back()
    return new StepFailed('OtherVolume', `${message}; it was unmounted again`, { hint })
  } catch (cause) {
    return new StepFailed('OtherVolume', `${message}; it is still there: ${errorMessage(cause)}`, {
      cause,
      hint,
      stuck: true,
    })
  }
}

/**
 * C120: only the opposite call undoes the publication.
 *
 * @param before ids of mounts on the target before the call, which were hidden by others
 */
async function unpublish(step: Step, before: ReadonlySet<number>, run: StepContext): Promise<void> {
  await unpublishTarget(step, before, run)
  const { volume } = wantedCsi(run)
  if (volume.mode === 'Block') return
  const file = `${run.plan.rootDir}/${csiPublishStateFile(volume)}`
  removeStep({ op: 'unlink', target: file }, run)
  allowing(['ENOTEMPTY'], undefined, () => run.host.rmdir(file.slice(0, file.lastIndexOf('/'))))
}

/** Without the state file, which was there before the call. */
async function unpublishTarget({ target }: Step, before: ReadonlySet<number>, run: StepContext): Promise<void> {
  const { driver, handle, node } = await openDriver(run)
  await untilNotPending(run, `${driver}: NodeUnpublishVolume`, (ms) =>
    node.nodeUnpublishVolume({ volumeId: handle, targetPath: target }, ms),
  )
  run.around.changed()
  const remaining = run.around.table.at(target).find(({ id }) => !before.has(id))
  if (remaining !== undefined) throw new Error(`${describeMount(remaining)} is still there`)
  removeDirectory(target, run)
}

/**
 * NodeStageVolume (C49, C52).
 * A staged volume is not unstaged if publishing fails: the next attempt uses it, or the last pod's tear-down unstages it (C54).
 */
export async function nodeStageVolume(step: Step, run: StepContext): Promise<void> {
  const facts = await factsOf(run, step.label)
  if (!facts.capabilities.includes('STAGE_UNSTAGE_VOLUME')) {
    throw new StepFailed('Changed', `CSI driver ${run.operation.volume?.driver} no longer stages volumes`)
  }
  const secrets = await readSecret(run, 'nodeStageSecretRef')
  await callNode(step, run, (node, ms) => node.nodeStageVolume(stageRequest(facts, secrets), ms))
  run.around.changed()
  const keeps = 'it stays staged while a pod of this node wants it'
  takeOver(run, { what: `the volume staged at ${step.target}`, back: () => Promise.reject(new Error(keeps)) })
}
