/** The answer to a log: its distinct troubles, what goes on before what is over, the most frequent first. Data, drawn by a view. */
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { LineAnswer, LineView } from './line-explanation.ts'
import type { SentenceName } from './sentences/sentences.ts'

/** One trouble of a log: the same sentence about the same thing. */
export interface LogTrouble extends LineAnswer {
  readonly count: number
  /** A later line says that the volume was set up or taken down after all. */
  readonly over?: true
  /** As the lines have it. */
  readonly firstTime?: string
  readonly lastTime?: string
  /** The last of its lines. */
  readonly line: LineView
  /** What to type to know more. */
  readonly command?: string
}

export interface LogExplanation {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'LogExplanation'
  /** Absent: of a node. */
  readonly scope?: 'cluster'
  /** Absent: the node could not be looked at. */
  readonly node?: string
  /** Absent: the cluster could not be read. */
  readonly cluster?: ClusterPlan['cluster']
  /** RFC 3339: when the node was looked at, or the reading of the cluster began. */
  readonly createdAt?: string
  readonly lines: {
    /** In the log. */
    readonly total: number
    /** The last ones, which were read. */
    readonly read: number
    /** Of these, lines that say a known trouble, or name a volume and are no plain news. */
    readonly explained: number
  }
  /** The log did not end in time. */
  readonly unfinished: boolean
  readonly troubles: readonly LogTrouble[]
  /** Sentences in which nothing is wrong, the most frequent first. */
  readonly harmless: readonly { readonly name: SentenceName; readonly count: number; readonly means: string }[]
  /** Lines of further troubles, beyond the number that is explained. */
  readonly more: number
}
