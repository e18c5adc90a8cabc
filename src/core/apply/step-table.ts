/**
 * From a step to the function that carries it out: one function for each op, and an op without one does not compile.
 * `plan/plan.ts` says what each op means.
 */

import { StepFailed } from '../base/operation-error.ts'
import type { Undo } from '../base/undo.ts'
import type { Deleted } from '../linux/delete-content.ts'
import type { Step, StepOf, StepOp } from '../plan/plan.ts'
import { judgeHostPath } from '../volumes/host-path.ts'
import { deleteContentStep, writeContent, writeMarker } from './content/write-content.ts'
import { nodePublishVolume, nodeStageVolume } from './csi/csi-publish.ts'
import { writeVolumeData } from './csi/csi-state-file.ts'
import { detachVolume } from './disks/detach.ts'
import { holdOpen, linkDevice, mapDevice, releaseLoop } from './disks/map-device.ts'
import { mountDevice } from './disks/mount-device.ts'
import { expandCsiVolume, growFileSystem } from './expand/expand-volume.ts'
import { mountStep } from './mounts/mount-step.ts'
import { removeStep } from './mounts/remove.ts'
import { setOwnership } from './mounts/set-ownership.ts'
import { umountLayer } from './mounts/umount-step.ts'
import { makeDirectory } from './operation/make-directory.ts'
import type { StepContext } from './operation/ports.ts'
import { command, firstLineOf, lookAtPath } from './operation/step-command.ts'
import { callDriver, callFlexDriver } from './release/driver-steps.ts'
import { removeFcDisks } from './release/fc-step.ts'
import { logOutOfIscsi, removeIscsiDisks } from './release/iscsi-step.ts'

/** The result of a step that was carried out. */
interface StepResult {
  /** How to undo the step, oldest first. */
  readonly undos?: readonly Undo[]
  /** What earlier steps made belongs to this step now, and is undone only with it. */
  readonly takesOver?: true
  readonly deleted?: Deleted
  /** What somebody else still has to do. */
  readonly waiting?: string | undefined
  /** What was left unchanged on purpose, and why. */
  readonly stays?: string | undefined
}

type CarryOut<Op extends StepOp> = (step: StepOf<Op>, run: StepContext) => Promise<StepResult>

const STEPS: { readonly [Op in StepOp]: CarryOut<Op> } = {
  umount: takesDown(umountLayer),
  rmdir: takesDown(removeStep),
  unlink: takesDown(removeStep),
  deleteContent: async (step, run) => ({ deleted: await deleteContentStep(step, run) }),
  NodeUnpublishVolume: takesDown(callDriver),
  NodeUnstageVolume: takesDown(async (step, run) => {
    await callDriver(step, run)
    run.record.unstaged = true
  }),
  'losetup -d': takesDown(releaseLoop),
  flexUnmount: takesDown(callFlexDriver),
  flexUnmountDevice: takesDown(callFlexDriver),
  removeFcDisks: takesDown(removeFcDisks),
  removeIscsiDisks: maySpare(removeIscsiDisks),
  iscsiLogout: maySpare(logOutOfIscsi),
  deleteVolumeAttachment: async (_, run) => ({ waiting: await detachVolume(run, run.context.detachWaitMs ?? 30_000) }),
  mkdir: makes(makeDirectory),
  mount: makes(mountStep),
  mountDevice: makes(mountDevice),
  mapDevice: makes(mapDevice),
  symlink: makes(linkDevice),
  'losetup -f': makes(holdOpen),
  writeContent: makes(writeContent),
  writeMarker: makes(writeMarker),
  writeVolumeData: makes(writeVolumeData),
  setOwnership: makes((step, run) => (driverSeesToGroup(run) ? [] : setOwnership(step, run))),
  checkPath: makes(checkPath),
  NodeStageVolume: takesOver(nodeStageVolume),
  NodePublishVolume: takesOver(nodePublishVolume),
  NodeExpandVolume: maySpare(expandCsiVolume),
  growFileSystem: maySpare(growFileSystem),
}

export function carryOut(step: Step, run: StepContext): Promise<StepResult> {
  // The table gives each op the function of just its steps; TypeScript cannot follow that through a union.
  const work = STEPS[step.op] as (step: Step, run: StepContext) => Promise<StepResult>
  return work(step, run)
}

type Work<Of extends Step, Result> = (step: Of, run: StepContext) => Result | Promise<Result>

/** Nothing is undone: a removal cannot be undone. */
function takesDown<Of extends Step>(work: Work<Of, void>): (step: Of, run: StepContext) => Promise<StepResult> {
  return async (step, run) => {
    await work(step, run)
    return {}
  }
}

/** @param work returns what was left unchanged on purpose, and why */
function maySpare<Of extends Step>(
  work: Work<Of, string | undefined>,
): (step: Of, run: StepContext) => Promise<StepResult> {
  return async (step, run) => ({ stays: await work(step, run) })
}

/** @param work returns how to undo it, oldest first */
function makes<Of extends Step>(work: Work<Of, readonly Undo[]>): (step: Of, run: StepContext) => Promise<StepResult> {
  return async (step, run) => ({ undos: await work(step, run) })
}

/** The driver has the volume now: what earlier steps made belongs to it, and is undone only with it (C54, C66). */
function takesOver<Of extends Step>(
  work: Work<Of, readonly Undo[]>,
): (step: Of, run: StepContext) => Promise<StepResult> {
  return async (step, run) => ({ undos: await work(step, run), takesOver: true })
}

/** True if the driver itself applies fsGroup; then the kubelet does not (C62). */
function driverSeesToGroup({ bringUp: { csi } }: StepContext): boolean {
  return csi?.capabilities.includes('VOLUME_MOUNT_GROUP') === true
}

// Checks the type of a hostPath, and makes the directory or file that the type asks for (P58).

/**
 * Looks again, and makes what is missing. The path is the host's own, and its file system may hang, so child processes do
 * both. Links on the way are followed, as the kubelet does (/var/run is one).
 */
async function checkPath({ target, detail = '' }: Step, run: StepContext): Promise<readonly Undo[]> {
  const found = await lookAtPath(target, run)
  const verdict = judgeHostPath(target, detail, { path: target, type: found?.type ?? 'absent' })
  if (verdict.state === 'bad') {
    throw new StepFailed('HostPathType', `hostPath ${target}: ${verdict.why}`, { hint: verdict.hint })
  }
  if (verdict.state === 'good') return []
  if (verdict.what === 'dir') await make(run, 'mkdir', ['-p', '-m', '0755', '--', target], target)
  // No chmod afterwards: a container that has the directory may have put a link in its place.
  else await make(run, 'touch', ['--', target], target)
  return []
}

async function make(run: StepContext, program: string, args: readonly string[], target: string): Promise<void> {
  const result = await command(run, program, args)
  if (result.status === 0) return
  throw new StepFailed('WriteFailed', `hostPath ${target} could not be created: ${firstLineOf(result)}`)
}
