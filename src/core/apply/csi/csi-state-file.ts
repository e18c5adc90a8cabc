/** Writes vol_data.json as the kubelet does, before the driver is called (C12-C15). */

import { posix } from 'node:path'
import { StepFailed } from '../../base/operation-error.ts'
import { readStateFile } from '../../facts/actual/state-file.ts'
import { attachmentName } from '../../facts/actual/volume-names.ts'
import type { Step } from '../../plan/plan.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import { goJson } from '../../trust/digest.ts'
import { isEphemeral } from '../../volumes/csi-volume.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { csiPublishStateFile, csiStagingPath, csiTarget } from '../../volumes/paths.ts'
import { makeDirectory, orWriteFailed } from '../operation/make-directory.ts'
import type { StepContext } from '../operation/ports.ts'
import { wantedCsi } from './csi-call.ts'

/** The file of a published volume, or of a raw block volume (C13). */
export function publishState(volume: VolumeToMount, nodeName: string, label = ''): Readonly<Record<string, string>> {
  const { driver = '', handle = '', specName, mode } = volume
  const lifecycle = isEphemeral(volume) ? 'Ephemeral' : 'Persistent'
  return {
    attachmentID: attachmentName(handle, driver, nodeName),
    driverName: driver,
    nodeName,
    ...labelKey(label),
    specVolID: specName,
    volumeHandle: handle,
    ...(mode === 'Block' ? {} : { volumeLifecycleMode: lifecycle }),
  }
}

/** The file of a staged volume (C13). */
function stageState({ driver = '', handle = '' }: VolumeToMount, label = ''): Readonly<Record<string, string>> {
  return { driverName: driver, ...labelKey(label), volumeHandle: handle }
}

/** Only if the label was passed with the mount flags. */
function labelKey(label: string): Readonly<Record<string, string>> {
  return label === '' ? {} : { seLinuxMountContext: label }
}

/**
 * Writes the file for the call that follows. An existing file is kept if its content is the same, and replaced if it is
 * incomplete. If it names another volume, the step fails.
 */
export function writeVolumeData({ target, label }: Step, run: StepContext): void {
  const { volume } = wantedCsi(run)
  const isPublish = target === `${run.plan.rootDir}/${csiPublishStateFile(volume)}`
  const state = isPublish ? publishState(volume, run.plan.node, label) : stageState(volume, label)
  const [publish, staging] = [csiTarget(volume), csiStagingPath(volume)]
  // A raw block volume has this file alone, for both calls (C13, C86).
  const targets = volume.mode === 'Block' ? [publish, staging] : [isPublish ? publish : staging]
  const paths = targets.map((path) => `${run.plan.rootDir}/${path}`)
  makeDirectory({ op: 'mkdir', target: posix.dirname(target) }, run)
  const there = contentOf(target, run)
  let isWhole = false
  // While it may be partly written, no driver was called with it.
  const back = (): void => (isWhole ? removeAgain(target, paths, run) : run.host.unlink(target))
  if (there === undefined) run.made.push({ what: target, back })
  write(target, there, state, run)
  isWhole = true
}

function write(
  target: string,
  there: string | undefined,
  state: Readonly<Record<string, string>>,
  run: StepContext,
): void {
  const text = `${goJson(state)}\n`
  if (there === text) return
  if (there !== undefined) requireSameVolume(target, there, state)
  // It is written to the journal first: it may be the only record of something (S14).
  if (there !== undefined)
    run.journal.write({ type: 'stateFile', operation: run.operation.id, path: target, content: there })
  orWriteFailed(`${target} could not be written`, () => run.host.writeStateFile(target, text))
}

/** A link or a directory in its place is not a state file. */
function contentOf(path: string, { host }: StepContext): string | undefined {
  const found = host.lstat(path)
  if (found === undefined) return undefined
  if (found.type === 'file') return host.readSmallFile(path) ?? ''
  throw new StepFailed('WriteFailed', `${path} is a ${found.type}, not a file`)
}

function requireSameVolume(path: string, content: string, state: Readonly<Record<string, string>>): void {
  const { data } = readStateFile({ path, type: 'file', content })
  if (data === undefined || (data.driver === state.driverName && data.handle === state.volumeHandle)) return
  throw new StepFailed('OtherVolume', `${path} names another volume, ${data.driver}^${data.handle}`, {
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
