/** What a person is shown about a CSI volume before confirming (S31), and what else the API knows about the volume. */

import { ownValue } from '../../base/collections.ts'
import { type CsiIdentity, uniqueNameOf } from '../../facts/row.ts'
import { namespacedName } from '../../kube/api/names.ts'
import type { PersistentVolume } from '../../kube/api/objects.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import { type PlanContext, podRefOf } from '../../rules/context.ts'
import { isListedWhole } from '../../volumes/api-lookup.ts'
import { handleOf } from '../../volumes/api-objects.ts'
import { podPathOf, type VolumeToMount } from '../../volumes/desired-state.ts'
import { CSI_PLUGIN } from '../../volumes/volume-names.ts'

export function describeCsiVolume(
  context: PlanContext,
  about: Pick<VolumeRef, 'name' | 'mode' | 'uniqueName' | 'podVolumeName'> & {
    readonly identity: CsiIdentity | undefined
    readonly device?: MountInfo
  },
): VolumeRef {
  const { name, mode, identity, device, podVolumeName } = about
  const { uniqueName = identity && uniqueNameOf(identity) } = about
  const { inputs, objects } = context
  const isReported = uniqueName !== undefined && inputs.snapshot.api?.node?.status !== undefined
  const [volume] = objects.persistentVolumesOf(identity)
  const elsewhere = identity === undefined ? [] : objects.attachedElsewhere(identity)
  return {
    name,
    podVolumeName,
    uniqueName,
    plugin: CSI_PLUGIN,
    driver: identity?.driver,
    handle: identity?.handle,
    mode,
    handleFrom: identity?.from,
    ...describePersistentVolume(volume),
    attachedElsewhere: elsewhere.length === 0 ? undefined : elsewhere,
    ...(isReported && { attached: objects.isAttached(uniqueName), inUse: objects.isInUse(uniqueName) }),
    ...describeDevice(device),
  }
}

/** @param mount a mount of the volume, which shows its device; undefined: the volume is not mounted */
export function describeDevice(mount: MountInfo | undefined) {
  return mount === undefined ? {} : { device: `${mount.dev} ${mount.source}` }
}

/**
 * S21: what --device says of a volume whose driver unstages it, or that is detached.
 *
 * @param others names that the volume has besides
 */
export function withGivenDevice(
  { options: { devices = {} } }: PlanContext,
  volume: VolumeRef,
  ...others: readonly (string | undefined)[]
): VolumeRef {
  const names = [volume.name, volume.persistentVolume, ...others]
  const given = names.map((name) => (name === undefined ? undefined : ownValue(devices, name)))
  return { ...volume, givenDevice: given.find((device) => device !== undefined) }
}

/** S31: claim, name and access modes; empty for an inline volume. */
export function describePersistentVolume(volume: PersistentVolume | undefined) {
  if (volume === undefined) return {}
  const { claimRef: claim, accessModes } = volume.spec
  return {
    claim: claim?.name === undefined ? undefined : namespacedName(claim),
    persistentVolume: volume.metadata.name,
    accessModes,
  }
}

/** True if the attachments of other nodes are known, because the whole list was read and not single objects (S30). */
export function knowsOtherNodes({ inputs }: PlanContext): boolean {
  return isListedWhole(inputs.snapshot.api, 'volumeattachments')
}

// A volume that a pod of this node wants: its names, and why it is left unchanged.

/** A volume that a pod wants and that needs no operation. @param satisfied follows "the volume is wanted, and" */
export function leaveWanted(
  { inputs, ledger, findings }: PlanContext,
  volume: VolumeToMount,
  satisfied: string | undefined,
  why = `the volume is wanted, and ${satisfied}`,
): void {
  const path = inputs.absolute(podPathOf(volume))
  findings.unchanged.push({ path, rule: 'R805', subject: ledger.wanted(volume), why, satisfied })
}

/** What an operation that sets a wanted volume up, or changes it, is about. */
export function operationOn(context: PlanContext, volume: VolumeToMount) {
  return {
    pod: podRefOf(context, volume.podUid),
    volume: describeWanted(context, volume),
    subject: context.ledger.wanted(volume),
  }
}

/** A volume of a pod's spec. */
export function describeWanted(context: PlanContext, volume: VolumeToMount): VolumeRef {
  const { podVolumeNames, specName: name, uniqueName, plugin, mode, persistentVolume } = volume
  const [podVolumeName] = podVolumeNames
  const handle = handleOf(volume)
  if (handle === undefined)
    return { name, podVolumeName, uniqueName, plugin, mode, ...describePersistentVolume(persistentVolume) }
  const from = persistentVolume === undefined ? 'the pod' : `PersistentVolume ${persistentVolume.metadata.name}`
  return describeCsiVolume(context, { name, mode, identity: { ...handle, from }, uniqueName, podVolumeName })
}
