/** What a command in a Pod reads on its standard input, as arguments of the Pod: a reviewed plan. No other object is made for it. */
import { gzipSync } from 'node:zlib'
import { VolctlError } from '../errors/errors.ts'
import { PLAN_FILE_LIMITS } from '../plan-file/plan-file-limits.ts'

/** Unpacked. */
export const MAX_INPUT = PLAN_FILE_LIMITS.maxBytes
/** Linux takes 128 KiB in one argument. */
const PIECE = 96 * 1024
/** An API server stores objects of 1.5 MiB. */
const MAX_PACKED = 900 * 1024

/** @throws VolctlError PodNotStarted for a plan that does not fit */
export function inputWords(text: string): readonly string[] {
  const packed = gzipSync(text, { level: 9 }).toString('base64')
  if (packed.length > MAX_PACKED) {
    throw new VolctlError('PodNotStarted', 'the plan is too large to be handed to a Pod', {
      hint: 'Plan a part with --max, --only, --pod or --volume, or log in to the node.',
    })
  }
  const pieces = Math.ceil(packed.length / PIECE)
  return Array.from({ length: pieces }, (_, index) => `--input=${packed.slice(index * PIECE, (index + 1) * PIECE)}`)
}
