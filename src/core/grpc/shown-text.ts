import { firstCharacters } from '../lang/first-characters.ts'

/** Masking shorter values ("ro", "yes") would make messages unreadable, and hide nothing. */
const SHORTEST_SECRET = 4

/** What a server says of a failure, fit for a message: the secrets of the request are masked (C118), and it has an end. */
export function shownText(text: string, secrets: readonly string[]): string {
  // Not the other way round: the beginning of a secret would no longer be recognised.
  return firstCharacters(mask(text, secrets))
}

function mask(text: string, secrets: readonly string[]): string {
  let masked = text
  // The longest first: one secret may be part of another.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    if (secret.length >= SHORTEST_SECRET) masked = masked.replaceAll(secret, '***')
  }
  return masked
}
