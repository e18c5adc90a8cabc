/** The text that a downward API item writes (P50). */

import { ownValue } from '../base/collections.ts'
import { compareText } from '../base/text.ts'
import type { DownwardApiItem, Node, Pod } from '../kube/api/objects.ts'
import { hex } from '../messages/terminal-safe.ts'
import { noContent } from './payload-entries.ts'
import { onDiskUid, podNamespace } from './pods.ts'
import { divideUp, parseMilliQuantity, parseQuantity } from './quantity.ts'

/** Where it is none it calls `noContent`. @param node undefined: limits that default to the node's resources are not known */
export function downwardApiText(item: DownwardApiItem, pod: Pod, node: Node | undefined): string {
  const { fieldRef, resourceFieldRef } = item
  if (fieldRef != null) return fieldText(fieldRef.fieldPath, pod)
  return resourceFieldRef == null ? '' : resourceFieldText(resourceFieldRef, pod, node)
}

function fieldText(fieldPath: string, pod: Pod): string {
  const { name, labels = {}, annotations = {} } = pod.metadata
  const [, field = '', key] = /^metadata\.(labels|annotations)(?:\['(.+)'\])?$/.exec(fieldPath) ?? []
  const map = ownValue<Readonly<Record<string, string>>>({ labels, annotations }, field)
  if (map !== undefined) return key === undefined ? mapText(map) : (ownValue(map, key) ?? '')
  const texts = { 'metadata.name': name, 'metadata.namespace': podNamespace(pod), 'metadata.uid': onDiskUid(pod) }
  return (
    ownValue<string>(texts, fieldPath) ??
    noContent('invalid', `${JSON.stringify(fieldPath)} is not a field of the downward API`)
  )
}

/** Lines of `key="value"`, sorted, without a newline at the end. */
function mapText(map: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(map).sort(([a], [b]) => compareText(a, b))
  return sorted.map(([key, value]) => `${key}=${goQuote(value)}`).join('\n')
}

/** Escapes of Go that JSON does not have; it has the others: \\n, \\" … */
const NAMED: Readonly<Record<string, string>> = { '\u0007': '\\a', '\v': '\\v' }

/** Characters that Go prints as they are: letters, marks, numbers, punctuation, symbols, and the plain space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** Go's strconv.Quote, as the downward API writes the values of a map (P50). */
export function goQuote(text: string): string {
  return `"${[...text].map(quoteCharacter).join('')}"`
}

function quoteCharacter(character: string): string {
  const json = JSON.stringify(character).slice(1, -1)
  const named = NAMED[character] ?? (/^\\.$/.test(json) ? json : undefined)
  if (named !== undefined) return named
  if (PRINTABLE.test(character)) return character
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

// A container's requests and limits as the downward API writes them (P50).

type ResourceField = NonNullable<DownwardApiItem['resourceFieldRef']>

/** Limits that default to the node's resources; huge pages are never overcommitted and have no such default. */
const FROM_NODE: ReadonlySet<string> = new Set(['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'])
const FIELD = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/

/** Does the field need the Node? Its allocatable resources are the default of limits that are not set. */
export function needsNode({ resource }: ResourceField): boolean {
  return FROM_NODE.has(resource)
}

/** A whole number of divisors, rounded up; 0 for a resource that is not set and has no default from the node. */
function resourceFieldText(field: ResourceField, pod: Pod, node: Node | undefined): string {
  const { resource, containerName = '', divisor = '' } = field
  const [, list, name = ''] = FIELD.exec(resource) ?? []
  if (list === undefined) return noContent('invalid', `${resource} is not a resource of the downward API`)
  const { containers, initContainers } = pod.spec
  const container = [...(containers ?? []), ...(initContainers ?? [])].find((each) => each.name === containerName)
  if (container === undefined) return noContent('invalid', `the pod has no container ${JSON.stringify(containerName)}`)
  const parse = name === 'cpu' ? parseMilliQuantity : parseQuantity
  const unit = nonZero(parse(divisor || '1')) ?? parse('1') ?? 1n
  const set = ownValue(container.resources?.[list === 'limits' ? 'limits' : 'requests'] ?? {}, name)
  const value = nonZero(parse(set))
  if (value !== undefined) return String(divideUp(value, unit))
  if (!needsNode(field)) return '0'
  if (node === undefined)
    return noContent('unknown', `the Node was not read, whose allocatable ${name} is the default of ${resource}`)
  return String(divideUp(parse(ownValue(node.status?.allocatable ?? {}, name)) ?? 0n, unit))
}

function nonZero(value: bigint | undefined): bigint | undefined {
  return value === 0n ? undefined : value
}
