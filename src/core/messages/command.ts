/**
 * Command lines that a person types (S37). Every one with a name in it is built here from its words: names come from the cluster and the
 * disk, and whatever is in one, to a shell it is one word. test/cli/commands.test.ts finds what is built otherwise.
 */
import { isTerminalSafe } from './terminal-safe.ts'

/** Between two commands: the second reads what the first prints. */
export const PIPE = Symbol('|')

export type Word = string | typeof PIPE

export function shellLine(argv: readonly Word[]): string {
  return argv.map((word) => (word === PIPE ? '|' : shellWord(word))).join(' ')
}

export interface Command {
  readonly argv: readonly Word[]
  /** It is typed on the node that the text names, where other flags are in force. */
  readonly elsewhere?: true
}

/** What a person does: prose, with commands in it by their words. A document has it as one text. */
export class Advice {
  readonly parts: readonly (string | Command)[]
  /** Such advice differs in its last command alone: of several the first one is shown. */
  readonly isAlike: boolean
  /** What a person does before that command, which is the next step then. */
  readonly first: string | undefined

  constructor(parts: Advice['parts'], isAlike = false, first?: string) {
    this.parts = parts.filter((part) => part !== '')
    this.isAlike = isAlike
    this.first = first
  }

  alike(first?: string): Advice {
    return new Advice(this.parts, true, first)
  }

  toString(): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : shellLine(part.argv))).join('')
  }

  toJSON(): string {
    return `${this}`
  }
}

/** A text has no command in it, or comes from a document. */
export type Hint = string | Advice

/** Of a template: what stands in it stays what it is. */
export function advice(texts: readonly string[], ...values: readonly (Hint | number)[]): Advice {
  return new Advice(texts.flatMap((text, index) => [text, ...partsOf(values[index] ?? '')]))
}

export function partsOf(hint: Hint | number): Advice['parts'] {
  return hint instanceof Advice ? hint.parts : [`${hint}`]
}

/** Of a text of the source, in which a command stands between two of these: ` @param fill slots of the text, and of a word */
export function marked(text: string, fill = (slots: string): string => slots): Hint {
  const parts = text
    .split('`')
    .map((part, index) =>
      index % 2 === 0 ? fill(part) : { argv: part.split(' ').map((word) => (word === '|' ? PIPE : fill(word))) },
    )
  return parts.length === 1 ? fill(text) : new Advice(parts)
}

export function commandLine(...argv: readonly Word[]): Advice {
  return new Advice([{ argv }])
}

export function volctl(...words: readonly string[]): Advice {
  return commandLine('volctl', ...words)
}

/** Typed on the node that the text names. */
export function volctlThere(...words: readonly string[]): Advice {
  return new Advice([{ argv: ['volctl', ...words], elsewhere: true }])
}

export function kubectl(...words: readonly string[]): Advice {
  return commandLine('kubectl', ...words)
}

/** @param more how they are shown */
export function podsOn(node: string, ...more: readonly string[]): Advice {
  return kubectl('get', 'pods', '-A', ...more, '--field-selector', `spec.nodeName=${node}`)
}

/** In quotes only where a shell needs them; what a terminal would not show as it is (terminal-safe.ts), by its bytes. */
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

export function describeAttachment(name: string): Advice {
  return kubectl('describe', 'volumeattachment', name)
}

/** By the managers of its fields. */
export function whoCreated(attachment: string): Advice {
  return kubectl('get', 'volumeattachment', attachment, '-o', 'yaml', '--show-managed-fields')
}

/** Where a driver does not attach or detach. */
export function lookAtAttacher(attachment: string, driver: string): Advice {
  return advice`Look at the log of the external attacher of driver ${driver}, and at the attachment: ${describeAttachment(attachment)}`
}

export function lookAtNode(node: string): Advice {
  return advice`Look at the node, and at its kubelet: ${kubectl('describe', 'node', node)}`
}

/** Where a driver is not registered. */
export function lookAtNodePod(node: string): Advice {
  return advice`See whether the driver's node pod runs there, as its DaemonSet says: ${podsOn(node, '-o', 'wide')}`
}

export function deletePod(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  ...more: readonly string[]
): Advice {
  return kubectl('delete', 'pod', '-n', namespace, name, ...more)
}

export function describePod({ namespace, name }: { readonly namespace: string; readonly name: string }): Advice {
  return kubectl('describe', 'pod', '-n', namespace, name)
}

/** The order by which Kubernetes itself is shown that a machine is off. */
export function taintOutOfService(node: string): Advice {
  return kubectl('taint', 'node', node, 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute')
}

export function untaintOutOfService(node: string): Advice {
  return kubectl('taint', 'node', node, 'node.kubernetes.io/out-of-service-')
}

/** Where nothing proves which volume it is (S17). */
export function giveHandle(volume: string, handle: string): Advice {
  return advice`Check the volume handle in the storage system; then: ${volctl('plan', '--handle', `${volume}=${handle}`)}`
}

/** Where a machine is shown to be off, or is gone for good. */
export function planNodeGone(node: string): Advice {
  return planCluster('--node-gone', node)
}

export function planCluster(...words: readonly string[]): Advice {
  return volctl('plan', '--cluster', ...words)
}
