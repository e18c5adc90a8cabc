/** How a plan names an attachment and its volume. */

import { defined } from '../../lang/defined.ts'
import { CSI_PLUGIN, parseCsiUniqueName } from '../../names/volume-names.ts'
import type { ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import type { ActualAttachments, Attached } from '../actual/actual-attachments.ts'
import { volumeRef } from '../model/known-volume.ts'

/** With where else it is attached, and whether its node reports it in use. */
export function attachedRef({ object, uniqueName, volume }: Attached, actual: ActualAttachments): ClusterVolumeRef {
  const csi = uniqueName === undefined ? undefined : parseCsiUniqueName(uniqueName)
  const unknown: ClusterVolumeRef = {
    name: object.persistentVolume ?? csi?.handle ?? object.name,
    plugin: CSI_PLUGIN,
    driver: csi?.driver ?? object.attacher,
    ...defined({ uniqueName, handle: csi?.handle, persistentVolume: object.persistentVolume }),
  }
  const ref = volume === undefined ? unknown : { ...volumeRef(volume), ...ofObject(object.persistentVolume) }
  const nodes = uniqueName === undefined ? [] : actual.nodesWith(uniqueName).slice(0, MOST_NODES + 1)
  const elsewhere = nodes.filter((node) => node !== object.node).slice(0, MOST_NODES)
  return {
    ...ref,
    ...(elsewhere.length > 0 && { attachedElsewhere: elsewhere }),
    attached: object.attached === true,
    inUse: uniqueName !== undefined && actual.isInUse(object.node, uniqueName),
  }
}

/** Of several PersistentVolumes behind one handle the one that the attachment names. */
function ofObject(persistentVolume: string | undefined): { name?: string; persistentVolume?: string } {
  return persistentVolume === undefined ? {} : { name: persistentVolume, persistentVolume }
}

/** A volume that many nodes may have is named with the first few. */
const MOST_NODES = 20
