/**
 * Texts that several objects of a cluster have in common, each kept once: a PersistentVolume is named by its claim and by its
 * attachment, a volume by its Node twice, and a driver by everything. JSON.parse makes each of them again, and of 5,000 nodes
 * they are a third of all that is kept.
 */
export class SharedTexts {
  readonly #texts = new Map<string, string>()
  readonly #lists = new Map<string, readonly string[]>()

  /** The same text, as it was first seen. Only for what other objects name too: each is remembered until the end of the reading. */
  one<T extends string | undefined>(text: T): T {
    if (text === undefined) return text
    const known = this.#texts.get(text)
    if (known !== undefined) return known as T
    this.#texts.set(text, text)
    return text
  }

  /** The same list. Only for lists with few different values: access modes, finalizers. */
  list<T extends readonly string[] | undefined>(list: T): T {
    if (list === undefined) return list
    const key = JSON.stringify(list)
    const known = this.#lists.get(key)
    if (known !== undefined) return known as T
    this.#lists.set(key, list)
    return list
  }
}
