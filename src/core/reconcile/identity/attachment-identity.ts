/**
 * Driver and handle of a VolumeAttachment: its name is a hash of driver, handle and node, and so confirms other sources
 * (R007).
 */

import { attachmentName, csiUniqueName } from '../../facts/actual/volume-names.ts'
import type { CsiIdentity } from '../../facts/sources.ts'
import type { VolumeAttachment } from '../../kube/api/objects.ts'
import { csiSourceOf } from '../../volumes/in-tree-volumes.ts'
import { volumesInStatus } from '../../volumes/node-affinity.ts'
import type { PlanContext } from '../context/context.ts'

/** From the PersistentVolume, an inline spec, a vol_data.json, or a name in the node's status, each only if the hash agrees. */
export function identifyAttachment(context: PlanContext, attachment: VolumeAttachment): CsiIdentity | undefined {
  const { api, nodeName } = context.inputs.snapshot
  const { attacher: driver, source } = attachment.spec
  const fits = (handle: string): boolean => attachmentName(handle, driver, nodeName) === attachment.metadata.name
  const volume = context.objects.persistentVolume(source.persistentVolumeName ?? '')
  const handle = volume === undefined ? source.inlineVolumeSpec?.csi?.volumeHandle : csiSourceOf(volume)?.volumeHandle
  if (handle !== undefined && fits(handle)) {
    return { driver, handle, from: `PersistentVolume ${source.persistentVolumeName ?? '(inline)'}` }
  }
  for (const { volume: known } of context.onDisk.all) {
    if (known.driver === driver && fits(known.handle)) return { driver, handle: known.handle, from: known.from }
  }
  const prefix = csiUniqueName(driver, '')
  const name = volumesInStatus(api?.node).find((each) => each.startsWith(prefix) && fits(each.slice(prefix.length)))
  return name === undefined ? undefined : { driver, handle: name.slice(prefix.length), from: "the node's status" }
}
