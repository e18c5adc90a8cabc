/** One step of an operation that brings a volume up. */
import { posix } from 'node:path'
import type { Undo } from '../errors/undo.ts'
import type { Step } from '../plan/plan.ts'
import { writeContent } from './content/write-content.ts'
import { writeMarker } from './content/write-marker.ts'
import { nodePublishVolume } from './csi/csi-publish.ts'
import { nodeStageVolume } from './csi/csi-stage.ts'
import { writeVolumeData } from './csi/csi-state-file.ts'
import { holdOpen } from './disks/hold-open.ts'
import { linkDevice } from './disks/link-device.ts'
import { mapDevice } from './disks/map-device.ts'
import { mountDevice } from './disks/mount-device.ts'
import { findFcDisk } from './fc/fc-find.ts'
import { mountFlexDevice } from './flex/flex-device.ts'
import { mountFlexVolume } from './flex/flex-mount.ts'
import { logInToIscsi } from './iscsi/iscsi-login.ts'
import { writeIscsiRecord } from './iscsi/iscsi-record.ts'
import { checkPath } from './mounts/check-path.ts'
import { mountStep } from './mounts/mount-step.ts'
import { setOwnership } from './mounts/set-ownership.ts'
import { makeDirectory } from './operation/make-directory.ts'
import type { StepContext } from './operation/step-context.ts'

type BringUpStep = (step: Step, run: StepContext) => Promise<readonly Undo[]> | readonly Undo[]

const STEPS = {
  mkdir: makeDirectory,
  iscsiLogin: logInToIscsi,
  fcFind: findFcDisk,
  mountDevice,
  flexMountDevice: mountFlexDevice,
  flexMount: mountFlexVolume,
  setOwnership: (step, run) => (driverSeesToGroup(run) ? [] : setOwnership(step, run)),
  mount: (step, run) => (run.operation.kind === 'MapVolume' ? mapDevice(step, run) : mountStep(step, run)),
  checkPath,
  symlink: linkDevice,
  'losetup -f': holdOpen,
  NodeStageVolume: nodeStageVolume,
  NodePublishVolume: nodePublishVolume,
  write: (step, run) => writerOf(step)(step, run),
} satisfies Partial<Record<Step['op'], BringUpStep>>

/** Does the driver itself apply fsGroup; then the kubelet does not (C62, P88). */
function driverSeesToGroup({ bringUp: { csi, flex } }: StepContext): boolean {
  return flex?.fsGroup === false || csi?.capabilities.includes('VOLUME_MOUNT_GROUP') === true
}

/** By the name of what is written. */
const WRITERS: Readonly<Record<string, BringUpStep>> = {
  '..data': writeContent,
  ready: writeMarker,
  'iscsi.json': writeIscsiRecord,
  'vol_data.json': writeVolumeData,
}

function writerOf({ target }: Step): BringUpStep {
  const writer = WRITERS[posix.basename(target)]
  if (writer === undefined) throw new Error(`nothing writes ${target}`)
  return writer
}

/**
 * @param op the step's
 * @returns how to undo the step, oldest part first
 */
export async function bringUpStep(op: keyof typeof STEPS, step: Step, run: StepContext): Promise<readonly Undo[]> {
  const carryOut: BringUpStep = STEPS[op]
  return carryOut(step, run)
}
