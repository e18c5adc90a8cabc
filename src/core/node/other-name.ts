/** The refusal if --node names another node than this host (S1). */
import type { Refusal } from '../plan/plan.ts'

/** @param own the node name that this host's kubelet uses */
export function otherName(nodeName: string, own: string): Refusal & { readonly hint: string } {
  return {
    rule: 'S1',
    code: 'OtherNode',
    message: `the kubelet of this host is node ${own}, not ${nodeName}`,
    hint: `Omit --node, or give --node ${own}.`,
  }
}
