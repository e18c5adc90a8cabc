/**
 * From a step to the function that carries it out: one function for each op, and an op without one does not compile.
 * `volumes/steps.ts` says what each op means.
 */

import { StepFailed, said } from '../messages/findings.ts'
import { judgeHostPath } from '../volumes/host-path.ts'
import type { Step, StepOf, StepOp } from '../volumes/steps.ts'
import { deleteContentStep, writeContent, writeMarker } from './content/write-content.ts'
import { nodePublishVolume, nodeStageVolume, writeVolumeData } from './csi/csi-publish.ts'
import { detachVolume } from './disks/detach.ts'
import { holdOpen, linkDevice, mapDevice, releaseLoop } from './disks/map-device.ts'
import { mountDevice } from './disks/mount-device.ts'
import { removeFcDisks } from './disks/remove-disks.ts'
import { expandCsiVolume, growFileSystem } from './expand/expand-volume.ts'
import { mountStep, setOwnership } from './mounts/mount-step.ts'
import { removeStep, umountLayer } from './mounts/umount-step.ts'
import { makeDirectory } from './operation/make-directory.ts'
import { command, firstLineOf, lookAtPath, type StepContext } from './operation/step.ts'
import { callDriver, callFlexDriver } from './release/driver-steps.ts'
import { logOutOfIscsi, removeIscsiDisks } from './release/iscsi-step.ts'

/** What is left as it is: on purpose, or for somebody else to do. */
// biome-ignore lint/suspicious/noConfusingVoidType: what leaves nothing is a function without a result.
type Left = string | undefined | void

const STEPS: { readonly [Op in StepOp]: (step: StepOf<Op>, run: StepContext) => Left | Promise<Left> } = {
  umount: umountLayer,
  rmdir: removeStep,
  unlink: removeStep,
  deleteContent: deleteContentStep,
  NodeUnpublishVolume: callDriver,
  NodeUnstageVolume: callDriver,
  'losetup -d': releaseLoop,
  flexUnmount: callFlexDriver,
  flexUnmountDevice: callFlexDriver,
  removeFcDisks,
  removeIscsiDisks,
  iscsiLogout: logOutOfIscsi,
  deleteVolumeAttachment: (_, run) => detachVolume(run, run.context.detachWaitMs ?? 30_000),
  mkdir: makeDirectory,
  mount: mountStep,
  mountDevice,
  mapDevice,
  symlink: linkDevice,
  'losetup -f': holdOpen,
  writeContent,
  writeMarker,
  writeVolumeData,
  // A driver that itself applies fsGroup leaves the kubelet nothing to do (C62).
  setOwnership: (step, run) =>
    run.bringUp.csi?.capabilities.includes('VOLUME_MOUNT_GROUP') ? undefined : setOwnership(step, run),
  checkPath,
  NodeStageVolume: nodeStageVolume,
  NodePublishVolume: nodePublishVolume,
  NodeExpandVolume: expandCsiVolume,
  growFileSystem,
}

export async function carryOut(step: Step, run: StepContext): Promise<Left> {
  // The table gives each op the function of just its steps; TypeScript cannot follow that through a union.
  const work = STEPS[step.op] as (step: Step, run: StepContext) => Left | Promise<Left>
  return await work(step, run)
}

// Checks the type of a hostPath, and makes the directory or file that the type asks for (P58).

/**
 * Looks again, and makes what is missing. The path is the host's own, and its file system may hang, so child processes do
 * both. Links on the way are followed, as the kubelet does (/var/run is one).
 */
async function checkPath({ target, detail = '' }: Step, run: StepContext): Promise<void> {
  const found = await lookAtPath(target, run)
  const fault = judgeHostPath(target, detail, { path: target, type: found?.type ?? 'absent' })
  if (fault === undefined) return
  if (fault.makes === undefined) throw new StepFailed(said('HostPathType', { target, why: fault.why }))
  // No chmod afterwards: a container that has the directory may have put a link in its place.
  const [program, ...args] = fault.makes === 'dir' ? ['mkdir', '-p', '-m', '0755'] : ['touch']
  const result = await command(run, program, [...args, '--', target])
  if (result.status !== 0) throw new StepFailed(said('WriteFailed.hostPath', { target, output: firstLineOf(result) }))
}
