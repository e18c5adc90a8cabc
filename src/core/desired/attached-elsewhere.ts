/** VolumeAttachments of other nodes by volume, indexed since a cluster has thousands (S30). */
import { append } from '../lang/append.ts'
import type { CsiPersistentVolumeSource, VolumeAttachment } from '../model/objects.ts'
import { attachmentName, csiUniqueName } from '../names/volume-names.ts'

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
    const known = this.#answers.get(name)
    if (known !== undefined) return known
    const others = (this.#unidentified.get(driver) ?? []).filter((attachment) => isOf(attachment, handle))
    const nodes = new Set([...(this.#identified.get(name) ?? []), ...others.map(({ spec }) => spec.nodeName)])
    const answer = [...nodes].toSorted()
    this.#answers.set(name, answer)
    return answer
  }
}

function isOf({ metadata, spec }: VolumeAttachment, handle: string): boolean {
  return metadata.name === attachmentName(handle, spec.attacher, spec.nodeName)
}

export interface Handle {
  readonly driver: string
  readonly handle: string
}
