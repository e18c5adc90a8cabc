/** The host is another node than the one that was asked for (S1). */
import type { Refusal } from '../plan/plan.ts'

/** @param own what the kubelet of this host calls itself */
export function otherName(nodeName: string, own: string): Refusal & { readonly hint: string } {
  return {
    rule: 'S1',
    code: 'OtherNode',
    message: `the kubelet of this host is node ${own}, not ${nodeName}`,
    hint: `Omit --node, or give --node ${own}.`,
  }
}
