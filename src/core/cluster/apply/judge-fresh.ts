/**
 * Is an operation still the same, by a fresh look at what it rests on? The pass over that part says the same of it as the pass over the
 * whole cluster (test/cluster/apply/part-of-cluster.test.ts).
 *
 * The outage guard (S29) is not asked again. It counts a whole cluster, and so it was asked at the whole look with which the apply
 * began: no operation is carried out that was not planned there, while the API had its pods. What is read after that can only take
 * operations away, whatever the API loses meanwhile; and an API that went back to a backup has another lease of the controller than
 * before, which counts as a controller that is back.
 */

import type { ClusterOperation, ClusterOptions } from '../../plan/cluster-plan.ts'
import { planPart } from '../pass/plan-cluster.ts'
import { type Judged, judgeAgain } from './judge-again.ts'
import type { KnownCluster } from './known-cluster.ts'
import { partOf } from './part-of-cluster.ts'

export function judgeFresh(cluster: KnownCluster, planned: ClusterOperation, options: ClusterOptions): Judged {
  const part = partOf(cluster, planned, options)
  return judgeAgain(planned, planPart(part, withoutMax(options), cluster.facts(options.settleMs)), part)
}

/** --max has chosen the operations already. */
export function withoutMax({ max: _, ...rest }: ClusterOptions): ClusterOptions {
  return rest
}
