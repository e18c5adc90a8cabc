/**
 * Sets up a CSI volume: its state file (C12-C15), NodeStageVolume, NodePublishVolume, and the check that something is mounted afterwards
 * (C53-C55).
 */

import { posix } from 'node:path'
import { isSameMount } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import type { Undo } from '../../linux/undo.ts'
import { allowing, errorMessage, StepFailed, said } from '../../messages/findings.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import { goJson } from '../../trust/digest.ts'
import { isEphemeral } from '../../volumes/csi-volume.ts'
import { csiPlaces, type VolumeToMount } from '../../volumes/desired-state.ts'
import { DRIVER_DIRECTORIES } from '../../volumes/on-disk/tree.ts'
import { isUnlike } from '../../volumes/same-volume.ts'
import type { Step } from '../../volumes/steps.ts'
import { attachmentName, readStateFile } from '../../volumes/volume-names.ts'
import { removeDirectory, removeStep } from '../mounts/umount-step.ts'
import { makeDirectory, orWriteFailed } from '../operation/make-directory.ts'
import { requireRulesOf, type StepContext } from '../operation/step.ts'
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
  const hint =
    "See the driver's log, and check that its pod mounts the kubelet's directory with mountPropagation Bidirectional."
  throw new StepFailed(
    said('DriverFailed.notMounted', { driver: run.operation.volume?.driver, op: step.op, target: step.target }),
    { hint, stuck: true },
  )
}

/**
 * What the driver has mounted instead of the volume, or where that is staged: its OK is not trusted, as it may have mixed volumes up, and
 * the pod would write to one that another pod may use (S17, S18). A staged volume is published from where it is staged; without that, only
 * the very same directory is another's. A link or a device shows nothing.
 */
function otherMounted(target: string, volume: VolumeToMount, { around, plan }: StepContext): string | undefined {
  const { table } = around
  const shown = volume.mode === 'Block' ? undefined : table.top(target)
  if (shown === undefined) return undefined
  const staging = csiPlaces(volume).stagingPath
  const own = staging === undefined ? undefined : table.top(`${plan.rootDir}/${staging}`)
  if (own !== undefined) return isUnlike(shown, own) ? describeMount(shown) : undefined
  const directories = `${plan.rootDir}/${DRIVER_DIRECTORIES}`
  const other = table
    .ofDevice(shown.dev)
    .find((mount) => isWithin(mount.mountPoint, directories) && isSameMount(mount, shown))
  return other && describeMount(other)
}

/** @param back takes the publication back; absent: it was there before */
async function withoutWrong(what: string, back: (() => Promise<void>) | undefined): Promise<StepFailed> {
  const hint = "See the driver's log; do not start the pod before plan shows the right volume."
  const failed = (afterwards: string, options: { readonly cause?: unknown; readonly stuck?: true }): StepFailed =>
    new StepFailed(said('OtherVolume.published', { volume: what, afterwards }), { hint, ...options })
  if (back === undefined) return failed('', { stuck: true })
  try {
    await back()
    return failed('; it was unmounted again', {})
  } catch (cause) {
    return failed(`; it is still there: ${errorMessage(cause)}`, { cause, stuck: true })
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
  const file = `${run.plan.rootDir}/${csiPlaces(volume).stateFile}`
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
    throw new StepFailed(said('Changed.stages', { driver: run.operation.volume?.driver }))
  }
  const secrets = await readSecret(run, 'nodeStageSecretRef')
  await callNode(step, run, (node, ms) => node.nodeStageVolume(stageRequest(facts, secrets), ms))
  const keeps = 'it stays staged while a pod of this node wants it'
  takeOver(run, { what: `the volume staged at ${step.target}`, back: () => Promise.reject(new Error(keeps)) })
}

// Writes vol_data.json as the kubelet does, before the driver is called (C12-C15).

/** The file of a staged volume (C13); with the label only if that was passed with the mount flags. */
function stageState({ driver = '', handle = '' }: VolumeToMount, label: string): Readonly<Record<string, string>> {
  return { driverName: driver, volumeHandle: handle, ...(label === '' ? {} : { seLinuxMountContext: label }) }
}

/** The file of a published volume, or of a raw block volume (C13). */
export function publishState(volume: VolumeToMount, nodeName: string, label = ''): Readonly<Record<string, string>> {
  const { driver = '', handle = '', specName, mode } = volume
  const lifecycle = isEphemeral(volume) ? 'Ephemeral' : 'Persistent'
  return {
    ...stageState(volume, label),
    attachmentID: attachmentName(handle, driver, nodeName),
    nodeName,
    specVolID: specName,
    ...(mode === 'Block' ? {} : { volumeLifecycleMode: lifecycle }),
  }
}

/**
 * Writes the file for the call that follows. An existing file is kept if its content is the same, and replaced if it is
 * incomplete. If it names another volume, the step fails.
 */
export function writeVolumeData({ target, label = '' }: Step, run: StepContext): void {
  const { volume } = wantedCsi(run)
  const { target: publish, stagingPath: staging, stateFile } = csiPlaces(volume)
  const isPublish = target === `${run.plan.rootDir}/${stateFile}`
  const state = isPublish ? publishState(volume, run.plan.node, label) : stageState(volume, label)
  // A raw block volume has this file alone, for both calls (C13, C86).
  const targets = volume.mode === 'Block' ? [publish, staging] : [isPublish ? publish : staging]
  const paths = targets.map((path) => `${run.plan.rootDir}/${path}`)
  makeDirectory({ op: 'mkdir', target: posix.dirname(target) }, run)
  const text = `${goJson(state)}\n`
  const there = contentOf(target, run)
  if (there === text) return
  let isWhole = false
  // While it may be partly written, no driver was called with it.
  const back = (): void => (isWhole ? removeAgain(target, paths, run) : run.host.unlink(target))
  if (there === undefined) run.made.push({ what: target, back })
  else {
    requireSameVolume(target, there, state)
    // It is written to the journal first: it may be the only record of something (S14).
    run.journal.write({ type: 'stateFile', operation: run.operation.id, path: target, content: there })
  }
  orWriteFailed(target, 'written', () => run.host.writeStateFile(target, text))
  isWhole = true
}

/** A link or a directory in its place is not a state file. */
function contentOf(path: string, { host }: StepContext): string | undefined {
  const found = host.lstat(path)
  if (found === undefined) return undefined
  if (found.type === 'file') return host.readSmallFile(path) ?? ''
  throw new StepFailed(said('WriteFailed.type', { path, type: found.type }))
}

function requireSameVolume(path: string, content: string, state: Readonly<Record<string, string>>): void {
  const { data } = readStateFile({ path, type: 'file', content })
  if (data === undefined || (data.driver === state.driverName && data.handle === state.volumeHandle)) return
  throw new StepFailed(said('OtherVolume.file', { ...data, path }), {
    hint: 'The other volume may still be in use on this node: plan again, and unmount that volume first.',
  })
}

/**
 * C16: while something is mounted, everything is kept; otherwise the driver's directories are removed first, then the file.
 */
function removeAgain(file: string, paths: readonly string[], { host, around }: StepContext): void {
  around.changed()
  const mount = paths.flatMap((path) => around.table.at(path)).at(-1)
  if (mount !== undefined) throw new Error(`${describeMount(mount)} is there`)
  for (const path of paths) host.rmdir(path)
  host.unlink(file)
}
