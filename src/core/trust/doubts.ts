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
