/** Whose a finding of a cluster's plan is, by what it names: there are flat records here, and no rows. */
import type { ClusterOperation, ClusterPlan, ClusterProblem, ClusterWaiting } from '../../plan/cluster-plan.ts'

/** @param attachment of the VolumeAttachment that is created or deleted */
export function plannedFor({ operations }: ClusterPlan, attachment: string): ClusterOperation | undefined {
  return operations.find((each) => each.attachment.name === attachment)
}

export function waitFor({ waiting }: ClusterPlan, attachment: string): ClusterWaiting | undefined {
  return waiting.find((each) => each.attachment === attachment)
}

/** Not one that the volume has on other nodes. */
export function problemOn({ problems }: ClusterPlan, node: string, uniqueName: string): ClusterProblem | undefined {
  return problems.find(({ about: { volume, nodes = [] } }) => volume?.uniqueName === uniqueName && nodes.includes(node))
}
