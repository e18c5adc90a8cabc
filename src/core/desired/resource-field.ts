/** A container's requests and limits as the downward API writes them (P50). */

import { ownValue } from '../lang/own-value.ts'
import type { DownwardApiItem, Node, Pod } from '../model/objects.ts'
import type { NoContent } from './payload-entries.ts'
import { divideUp, parseMilliQuantity, parseQuantity } from './quantity.ts'

type ResourceField = NonNullable<DownwardApiItem['resourceFieldRef']>

/** Limits that default to the node's resources; huge pages are never overcommitted and have no such default. */
const FROM_NODE = new Set(['cpu', 'memory', 'ephemeral-storage'])
const FIELD = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/

/** Does the field need the Node? Its allocatable resources are the default of limits that are not set. */
export function needsNode({ resource }: ResourceField): boolean {
  const [, list, name = ''] = FIELD.exec(resource) ?? []
  return list === 'limits' && FROM_NODE.has(name)
}

/** A whole number of divisors, rounded up; 0 for a resource that is not set and has no default from the node. */
export function resourceFieldText(field: ResourceField, pod: Pod, node: Node | undefined): string | NoContent {
  const { resource, containerName = '', divisor = '' } = field
  const [, list, name = ''] = FIELD.exec(resource) ?? []
  if (list === undefined) return invalid(`${resource} is not a resource of the downward API`)
  const { containers, initContainers } = pod.spec
  const container = [...(containers ?? []), ...(initContainers ?? [])].find((each) => each.name === containerName)
  if (container === undefined) return invalid(`the pod has no container ${JSON.stringify(containerName)}`)
  const parse = name === 'cpu' ? parseMilliQuantity : parseQuantity
  const unit = nonZero(parse(divisor || '1')) ?? parse('1') ?? 1n
  const set = ownValue(container.resources?.[list === 'limits' ? 'limits' : 'requests'] ?? {}, name)
  const value = nonZero(parse(set))
  if (value !== undefined) return String(divideUp(value, unit))
  if (!needsNode(field)) return '0'
  if (node === undefined)
    return { kind: 'unknown', reason: `the Node was not read, whose allocatable ${name} is the default of ${resource}` }
  return String(divideUp(parse(ownValue(node.status?.allocatable ?? {}, name)) ?? 0n, unit))
}

function nonZero(value: bigint | undefined): bigint | undefined {
  return value === 0n ? undefined : value
}

function invalid(reason: string): NoContent {
  return { kind: 'invalid', reason }
}
