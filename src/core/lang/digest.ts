import { createHmac, randomBytes } from 'node:crypto'

/** Made at the first use. Dies with the process: equal content is recognised within one snapshot, and nothing can be guessed from it. */
let key: Buffer | undefined

/** Digest of a config map's or secret's value, or of a file made from one (contract, "Snapshot"). */
export function digest(bytes: Uint8Array): string {
  key ??= randomBytes(32)
  return `hmac-sha256:${createHmac('sha256', key).update(bytes).digest('hex')}`
}
