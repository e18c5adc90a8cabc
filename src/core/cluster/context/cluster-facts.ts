/** What only a look at all Nodes and VolumeAttachments shows; everything else that is said of a volume follows from what is around it. */

import type { ControllerState } from '../../plan/cluster-plan.ts'
import { type ControllerSources, controllerState } from '../controller/controller-state.ts'

export interface ClusterFacts {
  readonly controller: ControllerState
  /** Drivers that some CSINode lists. Undefined: those of some node are not known (S3). */
  readonly driversOnNodes: ReadonlySet<string> | undefined
}

export function clusterFacts(sources: ControllerSources, settleMs: number): ClusterFacts {
  return { controller: controllerState(sources, settleMs), driversOnNodes: driversOn(sources) }
}

function driversOn({ nodes }: ControllerSources): ReadonlySet<string> | undefined {
  const drivers = new Set<string>()
  for (const { csi } of nodes) {
    if (csi.state === 'unknown') return undefined
    if (csi.state === 'known') for (const { name } of csi.drivers) drivers.add(name)
  }
  return drivers
}
