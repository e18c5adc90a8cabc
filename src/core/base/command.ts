/**
 * Command lines that a person types (S37). Every one with a name in it is built here from its words: names come from the cluster and the
 * disk, and whatever is in one, to a shell it is one word. test/cli/commands.test.ts finds what is built otherwise.
 */
import { isTerminalSafe } from './text.ts'

/** Between two commands: the second reads what the first prints. */
export const PIPE = Symbol('|')

export type Word = string | typeof PIPE

export function commandLine(...words: readonly Word[]): string {
  return words.map((word) => (word === PIPE ? '|' : shellWord(word))).join(' ')
}

export function volctl(...words: readonly string[]): string {
  return commandLine('volctl', ...words)
}

export function kubectl(...words: readonly string[]): string {
  return commandLine('kubectl', ...words)
}

/** @param more how they are shown */
export function podsOn(node: string, ...more: readonly string[]): string {
  return kubectl('get', 'pods', '-A', ...more, '--field-selector', `spec.nodeName=${node}`)
}

/** In quotes only where a shell needs them; what a terminal would not show as it is (base/text.ts), by its bytes. */
export function shellWord(word: string): string {
  if (/^(?!~)(?:(?![=:]~)[\w@%+=:,./^~-])+$/.test(word)) return word
  if (!word.includes('\n') && isTerminalSafe(word)) return `'${word.replaceAll("'", "'\\''")}'`
  const bytes = [...Buffer.from(word)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x27 || byte === 0x5c
      ? `\\x${byte.toString(16).padStart(2, '0')}`
      : String.fromCharCode(byte),
  )
  return `$'${bytes.join('')}'`
}

// Commands that a person types on a workstation.

export function describeAttachment(name: string): string {
  return kubectl('describe', 'volumeattachment', name)
}

/** By the managers of its fields. */
export function whoCreated(attachment: string): string {
  return kubectl('get', 'volumeattachment', attachment, '-o', 'yaml', '--show-managed-fields')
}

/** Where a driver does not attach or detach. */
export function lookAtAttacher(attachment: string, driver: string): string {
  return `Look at the log of the external attacher of driver ${driver}, and at the attachment: ${describeAttachment(attachment)}`
}

export function lookAtNode(node: string): string {
  return `Look at the node, and at its kubelet: ${kubectl('describe', 'node', node)}`
}

/** Where a driver is not registered. */
export function lookAtNodePod(node: string): string {
  return `See whether the driver's node pod runs there, as its DaemonSet says: ${podsOn(node, '-o', 'wide')}`
}

export function credentialFor(verb: string): string {
  return `Use a credential that may ${verb} volumeattachments (--kubeconfig, --context).`
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

/** Where nothing proves which volume it is (S17). */
export function giveHandle(volume: string, handle: string): string {
  return `Check the volume handle in the storage system; then: ${volctl('plan', '--handle', `${volume}=${handle}`)}`
}

/** Where a machine is shown to be off, or is gone for good. */
export function planNodeGone(node: string): readonly string[] {
  return planCluster('--node-gone', node)
}

export function planCluster(...words: readonly string[]): readonly string[] {
  return ['volctl', 'plan', '--cluster', ...words]
}
