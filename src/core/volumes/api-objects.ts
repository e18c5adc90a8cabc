/** The API's storage objects, by name, and by driver and handle. Indexed at the first look-up. */

import { append } from '../base/append.ts'
import { firstCharacters } from '../base/first-characters.ts'
import { lazy, once } from '../base/memoize.ts'
import type { NodeSnapshot } from '../facts/actual/snapshot.ts'
import { attachmentName, csiUniqueName } from '../facts/actual/volume-names.ts'
import type { CsiPersistentVolumeSource, PersistentVolume, VolumeAttachment } from '../kube/api/objects.ts'
import { csiSourceOf } from './in-tree-volumes.ts'

export class ApiObjects {
  readonly #volumes: readonly PersistentVolume[]
  readonly #attachments: readonly VolumeAttachment[]
  readonly #nodeName: string
  readonly #attached: ReadonlySet<string>
  readonly #inUse: ReadonlySet<string>
  readonly #volumesByName = lazy(() => byFirstName(this.#volumes))
  readonly #volumesByHandle = lazy(() =>
    Map.groupBy(this.#volumes, (volume) => {
      const csi = csiSourceOf(volume)
      return csi === undefined ? '' : csiUniqueName(csi.driver, csi.volumeHandle)
    }),
  )
  readonly #attachmentsByName = lazy(() => byFirstName(this.#attachments))
  readonly #elsewhere = lazy(
    () =>
      new AttachedElsewhere(
        this.#attachments.filter(({ spec, status }) => spec.nodeName !== this.#nodeName && status?.attached === true),
        (name) => this.csiSourceOf(name),
      ),
  )

  constructor({ api, nodeName }: Pick<NodeSnapshot, 'api' | 'nodeName'>) {
    this.#volumes = api?.persistentVolumes ?? []
    this.#attachments = api?.volumeAttachments ?? []
    this.#nodeName = nodeName
    this.#attached = new Set((api?.node?.status?.volumesAttached ?? []).map((volume) => volume.name))
    this.#inUse = new Set(api?.node?.status?.volumesInUse ?? [])
  }

  persistentVolume(name: string): PersistentVolume | undefined {
    return this.#volumesByName().get(name)
  }

  /** The CSI source of a PersistentVolume, translated if the source is in-tree. */
  csiSourceOf(persistentVolume: string): CsiPersistentVolumeSource | undefined {
    const volume = this.persistentVolume(persistentVolume)
    return volume === undefined ? undefined : csiSourceOf(volume)
  }

  /** Every PersistentVolume with this driver and handle: all of them are one volume (R818). */
  persistentVolumesOf({ driver, handle }: Handle): readonly PersistentVolume[] {
    return this.#volumesByHandle().get(csiUniqueName(driver, handle)) ?? []
  }

  /** A node's VolumeAttachment of a volume, by default this node's (R007). */
  attachmentOf({ driver, handle }: Handle, nodeName = this.#nodeName): VolumeAttachment | undefined {
    return this.#attachmentsByName().get(attachmentName(handle, driver, nodeName))
  }

  /** Other nodes that have the volume attached (S30), sorted; empty if none is known. */
  attachedElsewhere(volume: Handle): readonly string[] {
    return this.#elsewhere().nodesOf(volume)
  }

  /** Does node.status.volumesAttached list the volume? */
  isAttached(uniqueName: string): boolean {
    return this.#attached.has(uniqueName)
  }

  /** Does node.status.volumesInUse list the volume? */
  isInUse(uniqueName: string): boolean {
    return this.#inUse.has(uniqueName)
  }
}

function byFirstName<T extends { readonly metadata: { readonly name: string } }>(
  objects: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(objects.toReversed().map((object) => [object.metadata.name, object]))
}

// VolumeAttachments of other nodes by volume, indexed since a cluster has thousands (S30).

/**
 * Only the hash in its name identifies the volume of an attachment (R007). Nearly always the PersistentVolume gives the handle
 * that proves the hash, once for each. The other attachments are compared with every volume asked for: their PersistentVolume was
 * deleted, or deleted and created again, or never existed, as for inline volumes.
 */
export class AttachedElsewhere {
  readonly #identified = new Map<string, Set<string>>()
  readonly #unidentified = new Map<string, VolumeAttachment[]>()
  readonly #answers = new Map<string, readonly string[]>()

  constructor(
    attachments: readonly VolumeAttachment[],
    csiSourceOf: (persistentVolume: string) => CsiPersistentVolumeSource | undefined,
  ) {
    for (const attachment of attachments) {
      const { attacher, nodeName, source } = attachment.spec
      const handle = csiSourceOf(source.persistentVolumeName ?? '')?.volumeHandle
      if (handle !== undefined && isOf(attachment, handle)) {
        const name = csiUniqueName(attacher, handle)
        this.#identified.set(name, (this.#identified.get(name) ?? new Set()).add(nodeName))
      } else append(this.#unidentified, attacher, attachment)
    }
  }

  /** Sorted. Cached, since each volume is looked up several times. */
  nodesOf({ driver, handle }: Handle): readonly string[] {
    const name = csiUniqueName(driver, handle)
    return once(this.#answers, name, () => {
      const others = (this.#unidentified.get(driver) ?? []).filter((attachment) => isOf(attachment, handle))
      const nodes = new Set([...(this.#identified.get(name) ?? []), ...others.map(({ spec }) => spec.nodeName)])
      return [...nodes].toSorted()
    })
  }
}

function isOf({ metadata, spec }: VolumeAttachment, handle: string): boolean {
  return metadata.name === attachmentName(handle, spec.attacher, spec.nodeName)
}

export interface Handle {
  readonly driver: string
  readonly handle: string
}

/** What a deleted attachment waits for: its external attacher takes the finalizers off once the volume is detached (N59). */
export function waitsToDetach({ status, metadata: { finalizers = [] } }: VolumeAttachment): string {
  const held = finalizers.length > 0 ? ` (${finalizers.join(', ')})` : ''
  const error = firstCharacters(status?.detachError?.message ?? '')
  return `deleted; waiting for the external attacher${held}${error === '' ? '' : `; the last attempt to detach failed: ${error}`}`
}
