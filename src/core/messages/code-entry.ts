/** What is known of one code. */

/** Where a code may appear, with what it says there. A code that stands in several places means the same in each. */
export const PLACES = {
  reason: 'an operation is planned for it',
  blocked: 'an operation is blocked by it, in a plan or when an apply looks again',
  waiting: 'someone else has to act first',
  problem: 'a plan reports it',
  outcome: 'an operation or an apply ends with it',
  refusal: 'a safety rule refuses a plan or an apply as a whole',
  error: 'a command fails with it',
} as const

export type Place = keyof typeof PLACES

interface Entry {
  /** In one plain sentence. */
  readonly means: string
  /** What an operator does next; absent: the remedy. */
  readonly next?: string
  /** Said with each finding and each error of it that has no hint of its own. */
  readonly remedy?: string
  /** Rules that the code comes from, the most important one first; absent: none is known. */
  readonly rules?: readonly string[]
  /** It blocks only because a flag was not given: the person did not ask for the operation. */
  readonly onRequest?: true
  /** Several causes of it in one sentence; '': it cannot be said of them together. @param users whom they have in common */
  readonly many?: (n: number, users: string) => string
  /** A wait for a kubelet that runs: it does this itself. */
  readonly byKubelet?: true
  /** Said of an operation although it waits: always, of a set-up, never; else where its kind of cause is one that no kubelet mends. */
  readonly lasts?: 'always' | 'in-set-up' | 'never'
  /** In a cluster it is a fact about the node, and not about one volume there. */
  readonly ofNode?: true
}

/** A code that a finding of a plan or an end of an operation can have says what kind of cause it is. */
export type CodeEntry = Entry &
  ({ readonly next: string } | { readonly remedy: string }) &
  (
    | { readonly in: readonly ('reason' | 'error')[]; readonly cause?: never }
    | { readonly in: readonly Place[]; readonly cause: CauseKind }
  )

/**
 * A code that others gave: an errno of the kernel, a code of Node.js or gRPC. All of those are in capitals, and none of the
 * catalogue is.
 */
export type OutsideCode = Uppercase<string>

export function isOutsideCode(code: string): code is OutsideCode {
  return /^[A-Z][A-Z\d_]*$/.test(code)
}

/**
 * The closed set of causes: what keeps volumes of a node from being as they should be. Each code that a finding can have is of
 * one kind, so that screens show causes, and codes stay for scripts.
 */
export const CAUSE_KINDS = {
  machine: 'this is not shown to be the right machine or cluster',
  unread: 'something could not be read, and counts as in use',
  alive: 'a pod still runs, or may',
  kubelet: 'the kubelet runs, stopped a moment ago, or does it itself',
  controller: 'the attach/detach controller or an attacher acts next',
  driver: 'a driver is not there, does not answer, or failed',
  'dead-mount': 'the server or daemon behind a mount is gone',
  'in-use': 'something uses the mount, the device or the data',
  identity: 'nothing proves which volume this is',
  elsewhere: 'another node or pod has the volume, or may write to it',
  foreign: 'something that the kubelet did not make is in the way',
  data: 'data or directories of a deleted pod',
  missing: 'an object that is needed does not exist, or is going away',
  device: 'a device is missing, unknown or damaged',
  volume: 'the volume asks for something that is not possible',
  asked: 'done only where a flag asks for it, or a flag that changes nothing',
  follows: 'it comes after something that did not happen',
  failed: 'a step failed, or was not waited for',
} as const

export type CauseKind = keyof typeof CAUSE_KINDS
