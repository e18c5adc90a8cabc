/** The rule books of docs/rules, read: `- **S11** text. (upstream: file, function)`, lines that go on indented. */
import { join } from 'node:path'
import { type CodeEntry, PLACES, type Place } from '../messages/code-entry.ts'
import { CODES, type Code, nextOf } from '../messages/codes.ts'
import { embeddedText } from '../trust/own-program.ts'
import { readPlain } from '../trust/plain-files.ts'

/** What the build puts beside the bundle, or into the executable. */
const SHIPPED = 'rules.md'
const MOST_OF_RULES = 1 << 20

interface Rule {
  /** As `S11`. */
  readonly id: string
  /** What the rule says, in Markdown. */
  readonly text: string
  /** The file and function of Kubernetes that the rule was read from. */
  readonly upstream?: string
}

/** Whether it is written like the number of a rule; there need not be one. */
export function looksLikeRule(text: string): boolean {
  return /^[CNOPRS]\d{1,3}$/i.test(text)
}

/** The text of all books, as it came with this volctl. @param root where volctl is installed */
export function shippedRules(root: string): string {
  return embeddedText(SHIPPED) ?? readPlain(join(root, 'dist', SHIPPED), MOST_OF_RULES).toString('utf8')
}

/** @param books one book or several, as they are written; what is no entry is passed over */
export function parseRules(books: string): Rule[] {
  return [...books.matchAll(/^- \*\*([CNOPRS]\d{1,3})\*\* (.+(?:\n {2}.+)*)/gm)].map(([, id = '', lines = '']) => {
    const [, text = '', upstream] = /^(.+?)(?: \(upstream: (.+)\))?$/.exec(lines.replaceAll(/\n */g, ' ')) ?? []
    return { id, text, upstream }
  })
}

/** What `volctl explain S11 -o json` prints. */
export interface RuleExplanation extends Rule {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Rule'
  /** What the letter of the rule stands for. */
  readonly about: string
}

const ABOUT: Readonly<Record<string, string>> = {
  S: 'what is safe',
  R: 'what the kubelet and the attach/detach controller do',
  C: 'CSI on the node',
  P: "the kubelet's own volume plugins",
  N: 'the node, and the API server',
  O: 'seen on real nodes',
}

/**
 * @param id in upper or lower case
 * @param books the text of docs/rules, which the build puts beside the program
 * @returns undefined where there is no such rule
 */
export function explainRule(id: string, books: string): RuleExplanation | undefined {
  const wanted = id.toUpperCase()
  const rule = parseRules(books).find((each) => each.id === wanted)
  return rule && { apiVersion: 'volctl.io/v1', kind: 'Rule', ...rule, about: ABOUT[wanted.charAt(0)] ?? '' }
}

/** What `volctl explain CODE -o json` prints. */
export interface CodeExplanation {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Code'
  readonly code: Code
  readonly meaning: string
  /** Where it may appear. */
  readonly appears: readonly { readonly in: Place; readonly says: string }[]
  /** What to do. */
  readonly next: string
  /** Rules that it comes from, the most important one first; empty: none is known. */
  readonly rules: readonly string[]
}

/**
 * @param word as it was typed. Codes are CamelCase, and names in Kubernetes are in lower case: one cannot be taken for the other.
 * @returns undefined where the catalogue has no such code; case counts
 */
export function explainCode(word: string): CodeExplanation | undefined {
  if (!isCode(word)) return undefined
  const { in: places, means: meaning, rules = [] }: CodeEntry = CODES[word]
  const appears = places.map((place) => ({ in: place, says: PLACES[place] }))
  return { apiVersion: 'volctl.io/v1', kind: 'Code', code: word, meaning, appears, next: nextOf(word), rules }
}

function isCode(word: string): word is Code {
  return Object.hasOwn(CODES, word)
}
