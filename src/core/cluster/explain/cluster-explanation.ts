/**
 * All that is known about one object of a cluster: the cluster's plan narrowed to it, and the chains of its volumes. What only a node
 * shows (mounts, directories, who holds them) is left out. Fields are stable once released; new ones may come.
 */

import { EXPLAINED, linkState, OBJECT_KINDS, verdict } from '../../explain/explanation.ts'
import { about, named } from '../../json/json-schema.ts'
import { list, type ObjectOf, object, oneOf, optional, type ShapeOf, text } from '../../json/shape.ts'
import { clusterVolume, WHOLE_CLUSTER_PLAN } from '../../plan/cluster-plan.ts'

const clusterLink = object({
  kind: oneOf('Pod', 'PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment', 'Node', 'Driver'),
  name: about('Empty: there is no such object.', text),
  state: linkState,
  says: about('Why.', text),
})

/** One link of the chain from a pod to who attaches its volume. */
export interface ClusterLink extends ShapeOf<typeof clusterLink> {}

const decision = object({ why: text, rule: text })

/** What the attach/detach controller's pass makes of a volume on a node. */
export interface ClusterDecision extends ShapeOf<typeof decision> {}

const chain = object({
  node: optional(about('Absent: of pods without a node, or attached nowhere.', text)),
  volume: optional(about('Absent: it is not known which volume it is.', clusterVolume)),
  links: list<ClusterLink>(named('link', clusterLink)),
  decision,
  verdict,
})

/** A volume on a node: who wants it there, and what stands between. */
export interface ClusterChain extends ShapeOf<typeof chain> {}

const { digest: _digest, ...PLAN } = WHOLE_CLUSTER_PLAN

const CLUSTER_EXPLANATION = {
  ...PLAN,
  ...EXPLAINED,
  subject: object({ kind: oneOf(...OBJECT_KINDS), name: text }),
  chains: about('Of each volume on each node that the question is about, the worst first.', list<ClusterChain>(chain)),
  apply: optional(about('The command that does what is ready.', text)),
}

export interface ClusterExplanation extends ObjectOf<typeof CLUSTER_EXPLANATION> {}

export const clusterExplanationShape = object(CLUSTER_EXPLANATION)
