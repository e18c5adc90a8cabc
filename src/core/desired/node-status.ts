/** What a Node says of itself that decides about its volumes. */
import type { Node } from '../model/objects.ts'

/** Unique names in node.status, attached first, then in use: also of volumes whose pods are gone (N64). */
export function volumesInStatus(node: Node | null | undefined): readonly string[] {
  const { volumesAttached, volumesInUse } = node?.status ?? {}
  return [...(volumesAttached ?? []).map(({ name }) => name), ...(volumesInUse ?? [])]
}

/** Somebody has made sure that its machine is off: its volumes are detached whatever it reports (R725). */
export function isOutOfService(node: { readonly spec?: Node['spec'] | undefined } | null | undefined): boolean {
  return node?.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') ?? false
}
