/** Commands that a person types on a workstation; names that a shell would not take as they are stand as NAME. */
import { isPlainWord } from '../../lang/plain-word.ts'

export function kubectl(...words: readonly string[]): string {
  return `kubectl ${words.map((word) => (/^--?[A-Za-z-]+$/.test(word) ? word : orName(word))).join(' ')}`
}

export function orName(word: string): string {
  return isPlainWord(word) ? word : 'NAME'
}

export function describeAttachment(name: string): string {
  return kubectl('describe', 'volumeattachment', name)
}

export function deletePod(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  ...more: readonly string[]
): string {
  return kubectl('delete', 'pod', '-n', namespace, name, ...more)
}

export function describePod({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return kubectl('describe', 'pod', '-n', namespace, name)
}

/** The order by which Kubernetes itself is shown that a machine is off. */
export function taintOutOfService(node: string): string {
  return kubectl('taint', 'node', node, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')
}

export function untaintOutOfService(node: string): string {
  return kubectl('taint', 'node', node, 'node.kubernetes.io/out-of-service-')
}
