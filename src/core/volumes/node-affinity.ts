/** What a Node and a PersistentVolume say of each other: required node affinity (R430), volumes in the Node's status, access modes. */
import { ownValue } from '../base/collections.ts'
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, PersistentVolume } from '../kube/api/objects.ts'

/** Without a required affinity every node fits; otherwise one term must match, all of it. */
export function matchesNode(pv: PersistentVolume, node: Node): boolean {
  const required = pv.spec.nodeAffinity?.required
  if (required == null) return true
  return (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, node))
}

/** A term without any requirement matches nothing. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const { name, labels = {} } = node.metadata
  return (
    matchExpressions.every((requirement) => matchesLabel(requirement, ownValue(labels, requirement.key))) &&
    // metadata.name is the only field, with exactly one value.
    matchFields.every(
      (requirement) =>
        requirement.key === 'metadata.name' &&
        requirement.values?.length === 1 &&
        ['In', 'NotIn'].includes(requirement.operator) &&
        matchesLabel(requirement, name),
    )
  )
}

/** One requirement on a label; undefined: the label is not there. */
export function matchesLabel({ operator, values = [] }: NodeSelectorRequirement, label: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return label !== undefined && values.includes(label)
    case 'NotIn':
      return label === undefined || !values.includes(label)
    case 'Exists':
      return label !== undefined
    case 'DoesNotExist':
      return label === undefined
    case 'Gt':
    case 'Lt': {
      const [left, right] = [label, values.length === 1 ? values[0] : undefined].map(integer)
      if (left === undefined || right === undefined) return false
      return operator === 'Gt' ? left > right : left < right
    }
    default:
      return false
  }
}

/** Of 64 bits; any other text is none. */
function integer(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined
}

// What a Node says of itself that decides about its volumes.

/** Unique names in node.status, attached first, then in use: also of volumes whose pods are gone (N64). */
export function volumesInStatus(node: Node | null | undefined): readonly string[] {
  const { volumesAttached, volumesInUse } = node?.status ?? {}
  return [...(volumesAttached ?? []).map(({ name }) => name), ...(volumesInUse ?? [])]
}

/** Somebody has made sure that its machine is off: its volumes are detached whatever it reports (R725). */
export function isOutOfService(node: Pick<Node, 'spec'> | null | undefined): boolean {
  return node?.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') ?? false
}

// How many nodes and pods may use a volume at once, by its access modes.

/** May several nodes write or read the volume at once (R740); unknown modes: no. */
export function allowsSeveralNodes(volume: PersistentVolume | undefined): boolean {
  return volume?.spec.accessModes?.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany') ?? false
}

/** The access modes, for messages. */
export function accessModesText(volume: PersistentVolume | undefined): string {
  return volume?.spec.accessModes?.join(', ') || 'not known'
}

/** May only one pod use the volume? Beside another access mode the kubelet ignores ReadWriteOncePod (R430). */
export function isForOnePod(volume: PersistentVolume | undefined): boolean {
  const modes = volume?.spec.accessModes ?? []
  return modes.length === 1 && modes[0] === 'ReadWriteOncePod'
}
