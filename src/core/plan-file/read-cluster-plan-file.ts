/** Reads a cluster's saved plan, with the same suspicion as a node's. */

import { type SavedClusterPlan, savedClusterPlan } from '../plan/cluster-plan.ts'
import { type PlanFormat, parsePlanFileOf, readPlanFileOf, readPlanInputOf } from './read-plan-file.ts'

const CLUSTER_PLAN: PlanFormat<SavedClusterPlan> = { scope: 'cluster', shape: savedClusterPlan }

/** @param name what messages call the file @throws VolctlError one clear line on what is wrong with the file */
export function readClusterPlanFile(path: string, volctlVersion: string, name = path): SavedClusterPlan {
  return readPlanFileOf(CLUSTER_PLAN, path, volctlVersion, name)
}

/** From standard input. @throws VolctlError as readClusterPlanFile */
export async function readClusterPlanInput(volctlVersion: string): Promise<SavedClusterPlan> {
  return await readPlanInputOf(CLUSTER_PLAN, volctlVersion)
}

export function parseClusterPlanFile(bytes: Buffer, volctlVersion: string, name: string): SavedClusterPlan {
  return parsePlanFileOf(CLUSTER_PLAN, bytes, volctlVersion, name)
}
