/**
 * Command lines that a person types (S37). Every one with a name in it is built here from its words: names come from the cluster and the
 * disk, and whatever is in one, to a shell it is one word. test/cli/commands.test.ts finds what is built otherwise.
 */
import { isTerminalSafe } from './terminal-safe.ts'

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
