/** Causes: why something on a node is not as it should be, once for all that hangs on it (`summary.causes`). */
import type { CauseKind } from '../codes/cause-kinds.ts'
import type { Code } from '../codes/codes.ts'
import type { PodRef, Severity } from './pod-ref.ts'
import type { Subject } from './subject.ts'

/** The one thing that a cause is a fact about: one of these, a volume maybe of a pod; nothing: the node or cluster as a whole. */
export interface CauseSubject {
  readonly driver?: string
  readonly pod?: PodRef
  /** By the name that screens use. */
  readonly volume?: string
  /** An object of the API: "PersistentVolumeClaim shop/data". */
  readonly object?: string
  readonly path?: string
}

/** Given where a finding is made, if its cause is not what its own code and subject say. */
export interface CauseOf {
  /** Absent: the finding's own. */
  readonly code?: Code
  /** Absent: what the finding is about. */
  readonly subject?: CauseSubject
  /** Of a volume as subject: whose it is. */
  readonly whose?: Subject | undefined
  /** It only follows: another finding has the words. */
  readonly follows?: true
}

export interface Cause {
  /** Stable for the same state; findings name it in `cause`. */
  readonly key: string
  readonly kind: CauseKind
  readonly subject: CauseSubject
  /** By what it stops: `error` needs a person before something can be done, `warning` stops nothing, `info` passes by itself or is asked for by a flag. */
  readonly severity: Severity
  /** Of the finding that says most. */
  readonly code: Code
  readonly message: string
  /** What lifts it, as a person reads it. */
  readonly remedy: readonly string[]
  /** What hangs on it, consequences included. */
  readonly affects: CauseAffects
  /** RFC 3339: when it ends at the latest, if known. */
  readonly until?: string
}

/** What hangs on a cause. */
export interface CauseAffects {
  /** Ids of operations. */
  readonly operations: readonly string[]
  readonly waiting: number
  readonly pods: readonly PodRef[]
  /** Volumes of no pod that is named. */
  readonly volumes: readonly string[]
}
