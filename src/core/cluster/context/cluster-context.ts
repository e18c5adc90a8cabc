/** What every part of the pass reads. Nothing changes it. */

import type { ClusterOptions, ControllerState } from '../../plan/cluster-plan.ts'
import { type ActualAttachments, actualAttachments } from '../actual/actual-attachments.ts'
import { type ControllerSources, controllerState } from '../controller/controller-state.ts'
import { type DesiredAttachments, desiredAttachments } from '../desired/desired-attachments.ts'
import { ClusterObjects } from '../model/cluster-objects.ts'
import type { ClusterNode, ClusterState } from '../model/cluster-state.ts'
import { type KnownVolume, knownVolumes } from '../model/known-volume.ts'
import { serverTime, timeOf } from '../model/times.ts'

export interface ClusterContext {
  readonly state: ClusterState
  readonly options: ClusterOptions
  readonly objects: ClusterObjects
  /** Volumes of PersistentVolumes, by unique name. */
  readonly known: ReadonlyMap<string, KnownVolume>
  readonly desired: DesiredAttachments
  readonly actual: ActualAttachments
  readonly controller: ControllerState
  /** See ClusterFacts. */
  readonly driversOnNodes: ClusterFacts['driversOnNodes']
  /** Milliseconds: the server's clock when the reading began; 0, so that everything counts as just now, where it is not known. */
  readonly now: number
}

/** @param facts of the whole cluster, where the state is a part of one */
export function clusterContext(
  state: ClusterState,
  options: ClusterOptions,
  facts: ClusterFacts = clusterFacts(state, options.settleMs),
): ClusterContext {
  const objects = new ClusterObjects(state)
  const known = knownVolumes(state)
  const desired = desiredAttachments(state, objects, known)
  const actual = actualAttachments(state, objects, known, desired)
  return { state, objects, known, desired, actual, options, ...facts, now: serverTime(state) ?? 0 }
}

/** `mayLive` counts as alive. */
export function isControllerAlive({ controller }: Pick<ClusterContext, 'controller'>): boolean {
  return controller.state !== 'dead'
}

/** Where only the controller can do it: what to do about it. */
export function lookAtController(context: Pick<ClusterContext, 'controller'>): string {
  return isControllerAlive(context)
    ? 'look at the log of kube-controller-manager'
    : 'let kube-controller-manager run again'
}

/** A Node that is known; undefined: it does not exist, or nobody knows. */
export function nodeOf({ objects }: Pick<ClusterContext, 'objects'>, name: string): ClusterNode | undefined {
  const found = objects.node(name)
  return found.state === 'Found' ? found.object : undefined
}

/** Has something been as it is for the settle time? A time that is not known was just now (S28). */
export function isSettled(
  { now, options }: Pick<ClusterContext, 'now' | 'options'>,
  since: string | undefined,
): boolean {
  const time = timeOf(since)
  return time !== undefined && now - time >= options.settleMs
}

/** What only a look at all Nodes and VolumeAttachments shows; everything else that is said of a volume follows from what is around it. */
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
