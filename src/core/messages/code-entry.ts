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
  /** What is said of one; {names} stand for what the finding is about. Several sentences have names of their own. */
  readonly says?: string | Readonly<Record<string, string>>
  /** In one plain sentence. */
  readonly means: string
  /** What an operator does next, a command between two `; absent: the remedy, and of a reason on a node an apply. */
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
  /** Said of an operation although it waits: always, of such an operation alone, never; else where its kind of cause is one that no kubelet mends. */
  readonly lasts?: 'always' | 'in-set-up' | 'in-tear-down' | 'never'
  /** In a cluster it is a fact about the node, and not about one volume there. */
  readonly ofNode?: true
}

/** A code that a finding of a plan or an end of an operation can have says what kind of cause it is. */
export type CodeEntry = Entry &
  (
    | { readonly in: readonly ['reason']; readonly cause?: never }
    | (({ readonly next: string } | { readonly remedy: string }) &
        (
          | { readonly in: readonly ('reason' | 'error')[]; readonly cause?: never }
          | { readonly in: readonly Place[]; readonly cause: CauseKind }
        ))
  )

interface Fields extends Entry {
  readonly in?: readonly Place[]
  readonly cause?: CauseKind
}

/** A field that no entry has. */
type Unknown<Of> = { readonly [Each in Exclude<keyof Of, keyof Fields>]: never }

/** Codes that have the same place or kind of cause, which stands here once. */
export function codes<const Same extends Pick<Fields, 'in' | 'cause'>>(same: Same) {
  return <const Own extends Readonly<Record<string, Fields>>>(
    own: Own & { readonly [Each in keyof Own]: Unknown<Own[Each]> },
  ) => {
    const entries = Object.entries(own).map(([code, entry]) => [code, { ...same, ...entry }])
    return Object.fromEntries(entries) as { readonly [Each in keyof Own]: Same & Own[Each] }
  }
}

/**
 * A code that others gave: an errno of the kernel, a code of Node.js or gRPC. All of those are in capitals, and none of the
 * catalogue is.
 */
export type OutsideCode = Uppercase<string>

export function isOutsideCode(code: string): code is OutsideCode {
  return /^[A-Z][A-Z\d_]*$/.test(code)
}

interface Kind {
  /** Of a volume that has such a cause, in a few words. */
  readonly says: string
  /** A fact about a pod; about the node as a whole, unless a problem names a part of it. Absent: about what the finding is about. */
  readonly of?: 'pod' | 'node'
  /** Each subject has one such cause, whatever the code. */
  readonly oneEach?: true
  /** Nobody is needed: a component acts, or a flag asks for it. */
  readonly passes?: true
  /** No kubelet mends it: what is mounted, which volume it is, what a pod asks for. */
  readonly lasts?: true
}

/**
 * The closed set of causes: what keeps volumes of a node from being as they should be. Each code that a finding can have is of
 * one kind, so that screens show causes, and codes stay for scripts.
 */
const KINDS = {
  machine: { says: 'not shown to be the right machine', of: 'node' },
  unread: { says: 'could not be read', of: 'node' },
  alive: { says: 'its pod may still run', of: 'pod', oneEach: true },
  kubelet: { says: 'the kubelet is next', of: 'node', passes: true },
  controller: { says: 'the controller is next', passes: true },
  driver: { says: 'waits for its driver', oneEach: true },
  'dead-mount': { says: 'does not answer' },
  'in-use': { says: 'in use' },
  identity: { says: 'not proven which volume it is', lasts: true },
  elsewhere: { says: 'another node may have it' },
  foreign: { says: 'not made by the kubelet', lasts: true },
  data: { says: 'data that stays', of: 'pod', passes: true },
  missing: { says: 'needs what does not exist', oneEach: true, lasts: true },
  device: { says: 'its device is in doubt', lasts: true },
  volume: { says: 'asks for what is not possible', lasts: true },
  asked: { says: 'needs a flag', of: 'node', passes: true },
  follows: { says: 'comes after another', passes: true },
  failed: { says: 'failed' },
} as const satisfies Readonly<Record<string, Kind>>

export type CauseKind = keyof typeof KINDS

export const CAUSE_KINDS: Readonly<Record<CauseKind, Kind>> = KINDS
