/** Lists up to here are compared one by one, which is quicker than a set. */
const SHORT = 8

/** Each text once, in the order in which they come. For lists of which there are thousands, and which are nearly all short. */
export function distinct(texts: readonly string[]): string[] {
  if (texts.length > SHORT) return [...new Set(texts)]
  const found: string[] = []
  for (const text of texts) if (!found.includes(text)) found.push(text)
  return found
}
