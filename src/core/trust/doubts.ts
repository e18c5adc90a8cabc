/**
 * What was found and is not believed, to be said once: a process that is called kubelet and is not root's, a file that
 * somebody else could have written. It proves nothing, changes nothing and refuses nothing by itself (S32, S33).
 */

export interface Doubt {
  /** What it would have been: `process 812 (kubelet)`, `/root/.kube/config`. */
  readonly what: string
  readonly why: string
  /** How root names by a flag what is right. */
  readonly hint: string
  /** The kubelet would obey it: what it says, and protects, is unknown, and nothing may be changed (S8, S10). */
  readonly unknown?: true
}

const doubts = new Map<string, Doubt>()

/** The same thing, met again, is one doubt. */
export function addDoubt(doubt: Doubt): void {
  doubts.set(doubt.what, doubt)
}

/** All of this run so far, in the order in which they were met. */
export function allDoubts(): readonly Doubt[] {
  return [...doubts.values()]
}
