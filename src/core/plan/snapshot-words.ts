import { isPlainWord } from '../lang/plain-word.ts'

/** What a command needs to read the same snapshot, after a blank; nothing where the node itself was read. */
export function snapshotWords(file: string | undefined): string {
  if (file === undefined) return ''
  return ` --snapshot ${isPlainWord(file) ? file : 'FILE'}`
}
