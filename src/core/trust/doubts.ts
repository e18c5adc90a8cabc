/**
 * Things that were found and are ignored, to be reported once: a process called kubelet that is not root's, a file that
 * somebody else could have written. An ignored thing alone proves nothing, changes nothing and refuses nothing (S32,
 * S33).
 */
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
