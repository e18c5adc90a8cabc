/** Texts by which equal content is recognised. */

import { createHmac, randomBytes } from 'node:crypto'
import { compareText } from '../base/text.ts'
import { perRun } from './run.ts'

/** Made at the first use. Dies with the run: equal content is recognised within one snapshot, and nothing can be guessed from it. */
const key = perRun(() => randomBytes(32))

/** Digest of a config map's or secret's value, or of a file made from one (contract, "Snapshot"). */
export function digest(bytes: Uint8Array): string {
  return `hmac-sha256:${createHmac('sha256', key()).update(bytes).digest('hex')}`
}

/** JSON with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => compareText(a, b)))
      : inner,
  )
}

// JSON of a map of texts as Go's encoder writes it: keys in order, HTML's characters escaped (C12, C60).

const ESCAPED = /[<>&\u2028\u2029]/g

/** Without the newline at the end. */
export function goJson(value: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(value)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, each]) => `${JSON.stringify(key)}:${JSON.stringify(each)}`)
  return `{${members.join(',')}}`.replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
