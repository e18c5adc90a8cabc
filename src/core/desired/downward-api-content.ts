/** What a downward API item writes, as far as the API object alone can tell (P50). */
import type { DownwardApiItem, Pod } from '../model/objects.ts'
import { ownValue } from '../own-value.ts'
import type { ExpectedFile } from './atomic-content.ts'
import { onDiskUid, podNamespace } from './pods.ts'

const ANY: ExpectedFile = { any: true }

/** One byte a character, and nothing that Go's double quotes would escape. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** Set by the kubelet in memory, or left out of snapshots. */
const OUT_OF_SIGHT = /^(kubernetes\.io\/config\.|kubectl\.kubernetes\.io\/last-applied-configuration$)/

/**
 * A size, since a digest's key is thrown away. `any` where even that isn't known: resources (they depend on the node and
 * on resizes), and the whole map of annotations, to which the kubelet adds its own.
 */
export function downwardApiFile({ fieldRef }: DownwardApiItem, pod: Pod): ExpectedFile {
  const { name, labels = {}, annotations = {} } = pod.metadata
  const fieldPath = fieldRef?.fieldPath ?? ''
  if (fieldPath === 'metadata.name') return sizeOf(name)
  if (fieldPath === 'metadata.namespace') return sizeOf(podNamespace(pod))
  if (fieldPath === 'metadata.uid') return sizeOf(onDiskUid(pod))
  if (fieldPath === 'metadata.labels') return sizeOfMap(labels)
  const [, field, key = ''] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(fieldPath) ?? []
  if (field === 'labels') return sizeOf(ownValue(labels, key) ?? '')
  if (field === 'annotations' && !OUT_OF_SIGHT.test(key)) return sizeOf(ownValue(annotations, key) ?? '')
  return ANY
}

/** Lines of `key="value"`, without a newline at the end. */
function sizeOfMap(map: Readonly<Record<string, string>>): ExpectedFile {
  const lines = Object.entries(map).map(([key, value]) => `${key}="${value}"`)
  return Object.values(map).every((value) => PLAIN.test(value)) ? { size: lines.join('\n').length } : ANY
}

function sizeOf(text: string): ExpectedFile {
  return PLAIN.test(text) ? { size: text.length } : ANY
}
