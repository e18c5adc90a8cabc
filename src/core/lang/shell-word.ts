/** Words for a shell's command line; names come from the cluster and the disk. */

/** A word that a shell takes literally, in quotes only where it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./^-]+$/.test(word) ? word : inQuotes(word)
}

/** In single quotes: a shell takes all within literally. */
export function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
