/**
 * Things that were found and are ignored, to be reported once: a process called kubelet that is not root's, a file that
 * somebody else could have written. An ignored thing alone proves nothing, changes nothing and refuses nothing (S32,
 * S33).
 */

import { TRUST_HINT, trustedTextIfAny } from './files.ts'
import { perRun } from './run.ts'

export interface Doubt {
  /** The ignored thing: `process 812 (kubelet)`, `/root/.kube/config`. */
  readonly what: string
  readonly why: string
  /** What to do: usually the flag by which root gives the right value. */
  readonly hint: string
  /** The kubelet would use this file, so the kubelet's configuration is unknown, and nothing may be changed (S8, S10). */
  readonly unknown?: true
}

const doubts = perRun(() => new Map<string, Doubt>())

/** The same thing, found again, is one doubt. */
export function addDoubt(doubt: Doubt): void {
  doubts().set(doubt.what, doubt)
}

/** All doubts of this run so far, in order. */
export function allDoubts(): readonly Doubt[] {
  return [...doubts().values()]
}

/**
 * The text of a file with the kubelet's configuration, if it exists. A file that others than root could have written is
 * ignored and reported (S33). The kubelet itself would use it, so apply changes nothing until the file is corrected.
 */
export function obeyedTextIfAny(path: string): string | undefined {
  const found = trustedTextIfAny(path)
  if (found.state === 'unusable')
    addDoubt({ what: path, why: `ignored: ${found.why}`, hint: TRUST_HINT, unknown: true })
  return found.state === 'read' ? found.text : undefined
}
