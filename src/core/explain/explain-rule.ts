/** One rule by its number. */
import { parseRules, type Rule } from './rule-book.ts'

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
