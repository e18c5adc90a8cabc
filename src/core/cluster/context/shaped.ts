/** A sentence and its shape: the same words without the names, so that a view can fold sentences that differ only in those. */

export interface Shaped {
  readonly message: string
  readonly shape: string
}

/** `` shaped`node ${name} is gone` ``; a name that is itself a sentence with a shape may be given as one. */
export function shaped(words: TemplateStringsArray, ...names: readonly (string | number | Shaped)[]): Shaped {
  let [message, shape] = [words[0] ?? '', words[0] ?? '']
  for (const [index, name] of names.entries()) {
    const after = words[index + 1] ?? ''
    const isSentence = typeof name === 'object'
    message += `${isSentence ? name.message : name}${after}`
    shape += `${isSentence ? name.shape : '…'}${after}`
  }
  return { message, shape }
}

/** A sentence without names. */
export function plain(text: string): Shaped {
  return { message: text, shape: text }
}
