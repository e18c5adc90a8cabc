import { createHmac, randomBytes } from 'node:crypto'
import { perRun } from './run.ts'

/** Made at the first use. Dies with the run: equal content is recognised within one snapshot, and nothing can be guessed from it. */
const key = perRun(() => randomBytes(32))

/** Digest of a config map's or secret's value, or of a file made from one (contract, "Snapshot"). */
export function digest(bytes: Uint8Array): string {
  return `hmac-sha256:${createHmac('sha256', key()).update(bytes).digest('hex')}`
}
