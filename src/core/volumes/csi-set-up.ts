/** How a CSI volume is set up: staged, published, mapped (C49, C53, C71-C74, C133, C134). */

import { ownValue } from '../base/collections.ts'
import type { CsiDriver } from '../kube/api/objects.ts'
import { giveHandle } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import { csiDriverIn, foundOf } from './api-lookup.ts'
import { allowsLifecycle, isEphemeral, kubeletSetsGroup } from './csi-volume.ts'
import { csiPlaces, VOLUME_DATA, type VolumeToMount } from './desired-state.ts'
import type { Obstacle } from './finding.ts'
import { mapSteps } from './map-steps.ts'
import { ownershipOf } from './mount-options.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import { stagedShownBy, stagedVolumes } from './on-disk/staged-volumes.ts'
import { baseName, parentOf } from './on-disk/tree.ts'
import type { SetUp, SetUpContext } from './plugin.ts'
import { otherOnRecord } from './same-volume.ts'
import type { Step } from './steps.ts'
import { csiGlobalDir } from './volume-names.ts'

export function csiSetUp(context: SetUpContext, volume: VolumeToMount, first: boolean): SetUp {
  const found = csiDriverIn(context.inputs.snapshot.api, volume.driver)
  const blocked =
    found.state === 'Unknown'
      ? said('CsiDriverUnknown.why', { driver: volume.driver, reason: found.reason })
      : (lifecycleObstacle(volume, foundOf(found)) ??
        otherVolumeObstacle(context, volume) ??
        unconfirmedMount(context, volume) ??
        stagingObstacle(context, volume, first))
  const steps =
    volume.mode === 'Block'
      ? blockSteps(context, volume, first)
      : [...stageSteps(context, volume, first), ...publishSteps(context, volume)]
  return { steps, blocked }
}

/** Does the driver mount with an SELinux label (C68)? Undefined: that is not known. */
export function takesLabel(inputs: ActualInputs, volume: VolumeToMount): boolean | undefined {
  const found = csiDriverIn(inputs.snapshot.api, volume.driver)
  if (found.state === 'Unknown') return undefined
  return found.state === 'Found' && found.object.spec.seLinuxMount === true
}

/** C106; the kubelet stages such a volume before it refuses it. */
function lifecycleObstacle(volume: VolumeToMount, driver: CsiDriver | undefined): Obstacle | undefined {
  const kind = isEphemeral(volume) ? 'Ephemeral' : 'Persistent'
  if (volume.mode === 'Block' || allowsLifecycle(driver, kind)) return undefined
  return said(driver === undefined ? 'InvalidVolume.noDriver' : 'InvalidVolume.lifecycle', {
    driver: volume.driver,
    kind,
  })
}

/**
 * S17: a mounted target without its state file gets a new one only if its device is proved to be the volume's, by the hash in
 * the name of the directory where it is staged. An inline volume's handle is derived from the target's own path.
 */
function unconfirmedMount({ inputs, options }: SetUpContext, volume: VolumeToMount): Obstacle | undefined {
  const { mode, driver, handle, specName } = volume
  const { target, stateFile } = csiPlaces(volume)
  const shown = isEphemeral(volume) ? undefined : inputs.top(target)
  if (shown === undefined || driver === undefined || handle === undefined) return undefined
  if (inputs.tree.stateFile(stateFile)?.data !== undefined) return undefined
  // The staging path of a raw block volume does not contain the handle's hash (O22).
  const directories = mode === 'Block' ? [] : stagedShownBy(stagedVolumes(inputs), shown).map(({ dir }) => dir)
  if (directories.includes(csiGlobalDir(driver, handle))) return undefined
  if (directories.length === 0 && ownValue(options.handles, specName) === handle) return undefined
  return {
    ...said('IdentityUnconfirmed.noStateFile', { mountPoint: shown.mountPoint, dev: shown.dev, handle }),
    hint: giveHandle(specName, handle),
  }
}

/** S14: a state file of another volume under this name is not overwritten. */
function otherVolumeObstacle({ inputs }: SetUpContext, volume: VolumeToMount): Obstacle | undefined {
  const other = otherOnRecord(inputs, volume)
  return (
    other && {
      ...said('OtherVolume.wanted', {
        path: inputs.absolute(other.path),
        name: other.name,
        driver: volume.driver,
        handle: volume.handle,
      }),
      hint: 'The volume that the file names has to be unmounted first: delete the pods that want the other one, then plan again.',
    }
  )
}

/** Files that drivers keep below the staging path: ceph-csi this one, with what it needs to unmap an RBD image (C20). */
export const NOTES = new Set(['image-meta.json'])

/** S22: a mount on the staging path would hide files that are there. */
function stagingObstacle({ inputs }: SetUpContext, volume: VolumeToMount, first: boolean): Obstacle | undefined {
  const path = csiPlaces(volume).stagingPath
  if (!first || path === undefined || inputs.mountsWithin(path).length > 0) return undefined
  const data = inputs.tree
    .descendants(path)
    .find((entry) => entry.type !== 'dir' && entry.size !== 0 && !NOTES.has(baseName(entry.path)))
  if (data === undefined) return undefined
  return said('DataUnderMountPoint.underStaged', { path: inputs.absolute(data.path) })
}

/** Even a driver without staging gets the empty directory (C50). */
function stageSteps(context: SetUpContext, volume: VolumeToMount, first: boolean): Step[] {
  const { inputs, label } = context
  const directory = csiPlaces(volume).stagingDir
  if (!first || directory === undefined) return []
  const dir = inputs.absolute(directory)
  const target = `${dir}/globalmount`
  const staging: Step[] = [
    { op: 'writeVolumeData', target: `${dir}/${VOLUME_DATA}`, label },
    { op: 'NodeStageVolume', target, label },
  ]
  return [{ op: 'mkdir', target }, ...(inputs.stages(volume.driver) ? staging : [])]
}

/**
 * Like the kubelet, makes the directory but not the target: the driver makes the target itself (C53), and gives the volume to the pod's
 * group if it can (C62).
 */
function publishSteps({ inputs, label }: SetUpContext, volume: VolumeToMount): Step[] {
  const places = csiPlaces(volume)
  const stateFile = inputs.absolute(places.stateFile)
  const target = inputs.absolute(places.target)
  const { capabilities } = inputs.driver(volume.driver) ?? {}
  const isKubelets =
    !capabilities?.includes('VOLUME_MOUNT_GROUP') &&
    kubeletSetsGroup(volume, foundOf(csiDriverIn(inputs.snapshot.api, volume.driver)))
  return [
    { op: 'mkdir', target: parentOf(stateFile) },
    { op: 'writeVolumeData', target: stateFile, label },
    { op: 'NodePublishVolume', target, label },
    ...(isKubelets ? ownershipOf(volume, target) : []),
  ]
}

/** C134. The driver publishes a device; the kubelet then maps the device like one of any other plugin (C74). */
function blockSteps(context: SetUpContext, volume: VolumeToMount, first: boolean): Step[] {
  const { inputs } = context
  const places = csiPlaces(volume)
  const staging = inputs.absolute(places.stagingPath ?? '')
  const target = inputs.absolute(places.target)
  const stage: Step[] =
    first && inputs.stages(volume.driver)
      ? [
          { op: 'mkdir', target: staging },
          { op: 'NodeStageVolume', target: staging },
        ]
      : []
  return [
    { op: 'writeVolumeData', target: inputs.absolute(places.stateFile) },
    ...stage,
    { op: 'mkdir', target: parentOf(target) },
    { op: 'NodePublishVolume', target },
    ...mapSteps(inputs, volume, parentOf(places.mapFile), target),
  ]
}
