/** The texts that are not the beginning of another one. */
export function dropBeginnings(texts: readonly string[]): string[] {
  return texts.filter((text) => !texts.some((other) => other !== text && other.startsWith(text)))
}
