/** Attachments of other nodes by volume, for the thousands of them that a cluster has (S30). */
import { append } from '../lang/append.ts'
import type { CsiPersistentVolumeSource, VolumeAttachment } from '../model/objects.ts'
import { attachmentName, csiUniqueName } from '../names/volume-names.ts'

/**
 * Only the hash in its name says which volume an attachment is of (R007). Nearly always its PersistentVolume gives the
 * handle to check that with, once for each. What remains is asked for every volume: the PersistentVolume is gone, was
 * made anew, or never was, as for inline volumes.
 */
export class AttachedElsewhere {
  readonly #told = new Map<string, Set<string>>()
  readonly #untold = new Map<string, VolumeAttachment[]>()
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
        this.#told.set(name, (this.#told.get(name) ?? new Set()).add(nodeName))
      } else append(this.#untold, attacher, attachment)
    }
  }

  /** Sorted; asked several times for each volume. */
  nodesOf({ driver, handle }: Handle): readonly string[] {
    const name = csiUniqueName(driver, handle)
    const known = this.#answers.get(name)
    if (known !== undefined) return known
    const untold = (this.#untold.get(driver) ?? []).filter((attachment) => isOf(attachment, handle))
    const nodes = new Set([...(this.#told.get(name) ?? []), ...untold.map(({ spec }) => spec.nodeName)])
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
