/** The API's storage objects, by name, and by driver and handle. Indexed at the first look-up. */

import { lazy, once } from '../base/collections.ts'
import { firstCharacters } from '../base/text.ts'
import type { PersistentVolume, VolumeAttachment } from '../kube/api/objects.ts'
import { apiLookup, foundOf } from './api-lookup.ts'
import { csiSourceOf } from './in-tree-volumes.ts'
import type { NodeSnapshot } from './snapshot.ts'
import { attachmentName, csiUniqueName } from './volume-names.ts'

export type ApiObjects = ReturnType<typeof apiObjects>

export function apiObjects({ api, nodeName }: Pick<NodeSnapshot, 'api' | 'nodeName'>) {
  const volumes = api?.persistentVolumes ?? []
  const attachments = api?.volumeAttachments ?? []
  const attached = new Set(api?.node?.status?.volumesAttached?.map(({ name }) => name))
  const inUse = new Set(api?.node?.status?.volumesInUse)
  const lookup = api && apiLookup(api)
  const volumesByHandle = lazy(() =>
    Map.groupBy(volumes, (volume) => {
      const csi = csiSourceOf(volume)
      return csi && csiUniqueName(csi.driver, csi.volumeHandle)
    }),
  )
  /**
   * VolumeAttachments of other nodes by volume: a cluster has thousands. Nearly always the PersistentVolume gives the handle that proves the
   * hash in the name. The others are compared with every volume that is asked for: their PersistentVolume was deleted, or deleted and
   * created again, or never existed, as for inline volumes.
   */
  const elsewhere = lazy(() =>
    Map.groupBy(
      attachments.filter(({ spec, status }) => spec.nodeName !== nodeName && status?.attached === true),
      (attachment) => {
        const { attacher: driver, source } = attachment.spec
        const volume = foundOf(lookup?.persistentVolume(source.persistentVolumeName ?? ''))
        const handle = volume && csiSourceOf(volume)?.volumeHandle
        return handle !== undefined && isOf(attachment, { driver, handle }) ? csiUniqueName(driver, handle) : undefined
      },
    ),
  )
  const lookUpAttachment = ({ driver, handle }: MaybeHandle = {}, node = nodeName) =>
    driver === undefined || handle === undefined
      ? undefined
      : lookup?.volumeAttachment(attachmentName(handle, driver, node))
  /** Each volume is asked for several times. */
  const nodesOf = new Map<string, readonly string[]>()
  return {
    persistentVolume: (name = ''): PersistentVolume | undefined => foundOf(lookup?.persistentVolume(name)),
    /** Every PersistentVolume with this driver and handle: all of them are one volume (R818). */
    persistentVolumesOf: ({ driver, handle }: MaybeHandle = {}): readonly PersistentVolume[] =>
      (driver && handle && volumesByHandle().get(csiUniqueName(driver, handle))) || [],
    /** A node's VolumeAttachment of a volume, by default this node's (R007). */
    attachmentOf: (volume: MaybeHandle = {}, node = nodeName): VolumeAttachment | undefined =>
      foundOf(lookUpAttachment(volume, node)),
    /** The same, and whether it is shown not to exist; undefined: without an API, or for what is no CSI volume. */
    lookUpAttachment,
    /** Other nodes that have the volume attached (S30), sorted; empty if none is known. */
    attachedElsewhere: (volume: Handle): readonly string[] => {
      const name = csiUniqueName(volume.driver, volume.handle)
      return once(nodesOf, name, () =>
        nodesWith([...(elsewhere().get(name) ?? []), ...(elsewhere().get(undefined) ?? [])], volume),
      )
    },
    /** Does node.status.volumesAttached list the volume? */
    isAttached: (uniqueName: string): boolean => attached.has(uniqueName),
    /** Does node.status.volumesInUse list the volume? */
    isInUse: (uniqueName: string): boolean => inUse.has(uniqueName),
  }
}

/** The nodes of those attachments that are of this volume, sorted. */
export function nodesWith(attachments: readonly VolumeAttachment[], volume: Handle): readonly string[] {
  const nodes = attachments.filter((each) => isOf(each, volume)).map(({ spec }) => spec.nodeName)
  return [...new Set(nodes)].toSorted()
}

/** Only the hash in its name identifies the volume of an attachment (R007). */
function isOf({ metadata, spec }: VolumeAttachment, { driver, handle }: Handle): boolean {
  return metadata.name === attachmentName(handle, driver, spec.nodeName)
}

export interface Handle {
  readonly driver: string
  readonly handle: string
}

/** Of a volume that may be no CSI volume: nothing is found then. */
type MaybeHandle = Partial<Handle>

export function isSameVolume(a: Handle, b: MaybeHandle): boolean {
  return a.driver === b.driver && a.handle === b.handle
}

/** Undefined: it is no CSI volume. */
export function handleOf({ driver, handle }: MaybeHandle): Handle | undefined {
  return driver === undefined || handle === undefined ? undefined : { driver, handle }
}

/** What a deleted attachment waits for: its external attacher takes the finalizers off once the volume is detached (N59). */
export function waitsToDetach({ status, metadata: { finalizers = [] } }: VolumeAttachment): string {
  const held = finalizers.length > 0 ? ` (${finalizers.join(', ')})` : ''
  const error = firstCharacters(status?.detachError?.message ?? '')
  return `deleted; waiting for the external attacher${held}${error === '' ? '' : `; the last attempt to detach failed: ${error}`}`
}
