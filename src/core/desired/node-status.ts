/** The volumes in a Node's status. */
import type { Node } from '../model/objects.ts'

/** Unique names in node.status, attached first, then in use: also of volumes whose pods are gone (N64). */
export function volumesInStatus(node: Node | null | undefined): readonly string[] {
  const { volumesAttached, volumesInUse } = node?.status ?? {}
  return [...(volumesAttached ?? []).map(({ name }) => name), ...(volumesInUse ?? [])]
}
