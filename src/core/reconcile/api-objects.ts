/** The API's storage objects as a pass asks for them: by name, by driver and handle. Indexed when first asked for. */
import { csiSourceOf } from '../desired/csi-translation/csi-source.ts'
import type { PersistentVolume, VolumeAttachment } from '../model/objects.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import { attachmentName, csiUniqueName } from '../names.ts'

interface Handle {
  readonly driver: string
  readonly handle: string
}

export class ApiObjects {
  readonly #volumes: readonly PersistentVolume[]
  readonly #attachments: readonly VolumeAttachment[]
  readonly #nodeName: string
  readonly #attached: ReadonlySet<string>
  readonly #inUse: ReadonlySet<string>
  #volumesByName: ReadonlyMap<string, PersistentVolume> | undefined
  #volumesByHandle: ReadonlyMap<string, PersistentVolume[]> | undefined
  #attachmentsByName: ReadonlyMap<string, VolumeAttachment> | undefined
  #otherNodes: ReadonlyMap<string, ReadonlySet<string>> | undefined

  constructor({ api, nodeName }: NodeSnapshot) {
    this.#volumes = api?.persistentVolumes ?? []
    this.#attachments = api?.volumeAttachments ?? []
    this.#nodeName = nodeName
    this.#attached = new Set((api?.node?.status?.volumesAttached ?? []).map((volume) => volume.name))
    this.#inUse = new Set(api?.node?.status?.volumesInUse ?? [])
  }

  persistentVolume(name: string): PersistentVolume | undefined {
    this.#volumesByName ??= byFirstName(this.#volumes)
    return this.#volumesByName.get(name)
  }

  /** Every PersistentVolume with this driver and handle: two of them are one volume (R818). */
  persistentVolumesOf({ driver, handle }: Handle): readonly PersistentVolume[] {
    this.#volumesByHandle ??= Map.groupBy(this.#volumes, (volume) => {
      const csi = csiSourceOf(volume)
      return csi === undefined ? '' : csiUniqueName(csi.driver, csi.volumeHandle)
    })
    return this.#volumesByHandle.get(csiUniqueName(driver, handle)) ?? []
  }

  /** A node's attachment of a volume (R007), by default this node's. */
  attachmentOf({ driver, handle }: Handle, nodeName = this.#nodeName): VolumeAttachment | undefined {
    this.#attachmentsByName ??= byFirstName(this.#attachments)
    return this.#attachmentsByName.get(attachmentName(handle, driver, nodeName))
  }

  /** Nodes other than this one that have the volume attached (S30), sorted; empty where nothing is known. */
  attachedElsewhere(volume: Handle): string[] {
    this.#otherNodes ??= this.#nodesByAttacher()
    return [...(this.#otherNodes.get(volume.driver) ?? [])]
      .filter((nodeName) => {
        const attachment = this.attachmentOf(volume, nodeName)
        return attachment?.spec.nodeName === nodeName && attachment.status?.attached === true
      })
      .toSorted()
  }

  /** Is it in node.status.volumesAttached? */
  isAttached(uniqueName: string): boolean {
    return this.#attached.has(uniqueName)
  }

  /** Is it in node.status.volumesInUse? */
  isInUse(uniqueName: string): boolean {
    return this.#inUse.has(uniqueName)
  }

  #nodesByAttacher(): ReadonlyMap<string, ReadonlySet<string>> {
    const nodes = new Map<string, Set<string>>()
    for (const { spec } of this.#attachments) {
      if (spec.nodeName === this.#nodeName) continue
      const known = nodes.get(spec.attacher)
      if (known === undefined) nodes.set(spec.attacher, new Set([spec.nodeName]))
      else known.add(spec.nodeName)
    }
    return nodes
  }
}

function byFirstName<T extends { readonly metadata: { readonly name: string } }>(
  objects: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(objects.toReversed().map((object) => [object.metadata.name, object]))
}
