/**
 * Every sentence that volctl knows, by name. The order counts: a line is known by the first one that it says, so that causes stand
 * before the lines that only wrap them.
 */

import { ATTACHING } from './attaching.ts'
import { CAUSES } from './causes.ts'
import { CONTENT } from './content.ts'
import { ORPHANS } from './orphans.ts'
import { PODS } from './pods.ts'
import type { Sentence } from './sentence.ts'
import { WRAPPERS } from './wrappers.ts'

export const SENTENCES = { ...ORPHANS, ...CONTENT, ...CAUSES, ...ATTACHING, ...PODS, ...WRAPPERS } as const

export type SentenceName = keyof typeof SENTENCES

const ALL: readonly (readonly [SentenceName, Sentence])[] = Object.entries(SENTENCES) as [SentenceName, Sentence][]

/** What a line says, without its header; of an event also its reason. */
export interface Spoken {
  readonly said: string
  readonly reason?: string
}

/** Those that a line says, the most telling first; empty: nobody knows it. */
export function sentencesIn({ said, reason = '' }: Spoken): SentenceName[] {
  const text = `${reason.toLowerCase()} ${said.toLowerCase()}`
  return ALL.filter(([, { says }]) => says.some((parts) => standsIn(text, parts))).map(([name]) => name)
}

/** All parts, each after the one before. */
function standsIn(text: string, parts: readonly string[]): boolean {
  let at = 0
  return parts.every((part) => {
    const found = text.indexOf(part, at)
    at = found + part.length
    return found !== -1
  })
}
