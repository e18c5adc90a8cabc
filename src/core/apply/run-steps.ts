/** The steps of one operation, in their order. */

import type { Undo } from '../errors/undo.ts'
import type { Deleted } from '../files/delete-content.ts'
import { FC_PLUGIN } from '../names/fc-disk.ts'
import type { Step } from '../plan/plan.ts'
import { bringUpStep } from './bring-up-step.ts'
import { deleteContentStep } from './content/content-step.ts'
import { callDriver } from './csi/csi-step.ts'
import { detachVolume } from './detach/detach.ts'
import { releaseLoop } from './disks/loop-step.ts'
import { expandVolume } from './expand/expand-volume.ts'
import { deleteFcDevices } from './fc/fc-step.ts'
import { callFlexDriver } from './flex/flex-step.ts'
import { deleteIscsiDevices, logOutOfIscsi } from './iscsi/iscsi-step.ts'
import { removeStep } from './mounts/remove.ts'
import { umountLayer } from './mounts/umount-step.ts'
import type { StepContext } from './operation/step-context.ts'
import { takeBack } from './operation/take-back.ts'

export interface StepsDone {
  readonly deleted: Deleted
  /** What another component (the controller, the attacher) still has to do. */
  readonly waiting: string | undefined
  /** What was deliberately left as it is, and why. */
  readonly stays: readonly string[]
}

/** If a step that brings a volume up fails, what the steps before it made is taken back. */
export async function runSteps(
  steps: readonly Step[],
  run: StepContext,
  onStep: (step: Step) => void = () => {},
): Promise<StepsDone> {
  const done: Progress = { deleted: { files: 0, bytes: 0 }, waiting: undefined, stays: new Set(), undos: [] }
  try {
    for (const step of steps) {
      onStep(step)
      await runStep(step, run, done)
    }
  } catch (error) {
    throw await takeBack(done.undos, error, run)
  }
  return { deleted: done.deleted, waiting: done.waiting, stays: [...done.stays] }
}

interface Progress {
  deleted: Deleted
  waiting: string | undefined
  readonly stays: Set<string>
  readonly undos: Undo[]
}

async function runStep(step: Step, run: StepContext, done: Progress): Promise<void> {
  const leave = (what: string | undefined): void => void (what !== undefined && done.stays.add(what))
  switch (step.op) {
    case 'umount':
      await umountLayer(step, run)
      break
    case 'rmdir':
    case 'unlink':
      removeStep(step, run)
      break
    case 'deleteContent': {
      const { files, bytes } = await deleteContentStep(step, run)
      done.deleted = { files: done.deleted.files + files, bytes: done.deleted.bytes + bytes }
      break
    }
    case 'NodeUnpublishVolume':
    case 'NodeUnstageVolume':
      await callDriver(step, run)
      if (step.op === 'NodeUnstageVolume') run.record.unstaged = true
      break
    case 'losetup -d':
      await releaseLoop(step, run)
      break
    case 'flexUnmount':
    case 'flexUnmountDevice':
      await callFlexDriver(step, run)
      break
    case 'deleteScsiDevices':
      if (run.operation.volume?.plugin === FC_PLUGIN) await deleteFcDevices(step, run)
      else leave(await deleteIscsiDevices(step, run))
      break
    case 'iscsiLogout':
      leave(await logOutOfIscsi(step, run))
      break
    case 'deleteVolumeAttachment':
      done.waiting = await detachVolume(run, run.context.detachWaitMs ?? 30_000)
      break
    case 'NodeExpandVolume':
      leave(await expandVolume(step, run))
      break
    case 'NodeStageVolume':
    case 'NodePublishVolume': {
      const undos = await bringUpStep(step.op, step, run)
      // The driver has the volume now and needs what the steps before made: only its own undo removes that (C54, C66).
      done.undos.length = 0
      done.undos.push(...undos)
      break
    }
    default:
      done.undos.push(...(await bringUpStep(step.op, step, run)))
  }
}
