/** What a downward API item writes, as far as the API object alone shows it (P50). */
import type { DownwardApiItem, Pod } from '../model/objects.ts'
import { downwardApiText } from './downward-api-value.ts'
import type { ExpectedFile, NoContent } from './payload-entries.ts'

const ANY: ExpectedFile = { any: true }

/** Which characters Go escapes depends on its Unicode version, except for these. */
const ASCII = /^\p{ASCII}*$/u

/** Set by the kubelet in memory, or left out of snapshots. */
const OUT_OF_SIGHT =
  /^metadata\.annotations($|\['(kubernetes\.io\/config\.|kubectl\.kubernetes\.io\/last-applied-configuration'))/

/**
 * A size, since the key of a snapshot's digests is thrown away. `any` if not even the size is known: resources (they depend on the
 * node and on resizes), and the whole map of annotations, to which the kubelet adds its own.
 */
export function downwardApiFile(item: DownwardApiItem, pod: Pod): ExpectedFile | NoContent {
  const text = downwardApiText(item, pod, NO_NODE)
  if (typeof text !== 'string') return text
  const isKnown =
    item.resourceFieldRef == null && !OUT_OF_SIGHT.test(item.fieldRef?.fieldPath ?? '') && ASCII.test(text)
  return isKnown ? { size: text.length } : ANY
}

const NO_NODE = { metadata: { name: '', uid: '' } }
