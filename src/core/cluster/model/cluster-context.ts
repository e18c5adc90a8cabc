/** What every part of the pass reads. Nothing changes it. */

import { describeAttachment, lookAtAttacher } from '../../base/command.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import type { ClusterOptions, ControllerState } from '../../plan/cluster-plan.ts'
import { ClusterObjects } from './cluster-objects.ts'
import {
  type ClusterNode,
  type ClusterState,
  heardAt,
  kubeletHeardAt,
  type LeaseEvidence,
  newestOf,
  serverTime,
  timeOf,
} from './cluster-state.ts'
import { controllerState } from './controller-state.ts'
import { Rows } from './rows.ts'
import { type KnownVolume, knownVolumes } from './volumes.ts'

export interface ClusterContext extends ClusterFacts {
  readonly state: ClusterState
  readonly options: ClusterOptions
  readonly objects: ClusterObjects
  /** Volumes of PersistentVolumes, by unique name. */
  readonly known: ReadonlyMap<string, KnownVolume>
  readonly rows: Rows
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
  const rows = new Rows(state, objects, known)
  return { state, objects, known, rows, options, ...facts, now: serverTime(state) ?? 0 }
}

/** `mayLive` counts as alive. */
export function isControllerAlive({ controller }: ClusterContext): boolean {
  return controller.state !== 'dead'
}

/** Where only the controller can do it: what to do about it. */
export function lookAtController(context: ClusterContext): string {
  return isControllerAlive(context)
    ? 'look at the log of kube-controller-manager'
    : 'let kube-controller-manager run again'
}

/** A Node that is known; undefined: it does not exist, or nobody knows. */
export function nodeOf({ objects }: ClusterContext, name: string): ClusterNode | undefined {
  const found = objects.node(name)
  return found.state === 'Found' ? found.object : undefined
}

/** Has something been as it is for the settle time? A time that is not known was just now (S28). */
export function isSettled({ now, options }: ClusterContext, since: string | undefined): boolean {
  const time = timeOf(since)
  return time !== undefined && now - time >= options.settleMs
}

/** What only a look at all Nodes and VolumeAttachments shows; everything else that is said of a volume follows from what is around it. */
export interface ClusterFacts {
  readonly controller: ControllerState
  /** Drivers that some CSINode lists. Undefined: those of some node are not known (S3). */
  readonly driversOnNodes: ReadonlySet<string> | undefined
}

export function clusterFacts(state: ClusterState, settleMs: number): ClusterFacts {
  return { controller: controllerState(state, settleMs), driversOnNodes: driversOn(state) }
}

function driversOn({ nodes }: ClusterState): ReadonlySet<string> | undefined {
  const drivers = new Set<string>()
  for (const { csi } of nodes) {
    if (csi.state === 'unknown') return undefined
    for (const { name } of csi.drivers ?? []) drivers.add(name)
  }
  return drivers
}

// Is a node ready? Its Node says so, and kube-controller-manager corrects the word where the kubelet falls silent. Where that
// controller is dead nobody does: a Node that was ready stays ready for ever, whatever becomes of its machine.

export interface Readiness {
  /** Status of the condition Ready, or Unknown in its place. */
  readonly ready: string | undefined
  readonly since?: string
  /** Ready says True, and the kubelet has been silent since then. */
  readonly isStale?: true
}

/** A kubelet renews its lease every ten seconds; after 50 the controller takes it for silent. */
const GRACE_MS = 50_000
/** A kubelet writes its status at least every five minutes. */
const STATUS_MS = 6 * 60_000

export function readinessOf(context: ClusterContext, node: ClusterNode): Readiness {
  const { ready, readySince, leaseRenewTime, leaseWrittenAt, heartbeat } = node
  const stated = { ready, ...omitUndefined({ since: readySince }) }
  // Without the lease a heartbeat alone shows little: the status of a healthy node may be minutes old.
  if (ready !== 'True' || isControllerAlive(context) || leaseRenewTime === undefined) return stated
  const times = [leaseRenewTime, leaseWrittenAt, heartbeat].filter((time) => time !== undefined)
  const heard = newestOf(isGivenAsGone(context, node.name) ? times.filter((time) => isPast(context, time)) : times)
  const time = timeOf(heard)
  const isSilent = time !== undefined && context.now - time > GRACE_MS && isSettled(context, heard)
  return isSilent ? { ready: 'Unknown', ...omitUndefined({ since: heard }), isStale: true } : stated
}

/** What is said of a node that does not count as ready. */
export function notReadyText({ isStale }: Readiness): string {
  return isStale ? 'has a silent kubelet' : 'is not ready'
}

/** A person says that its machine does not run (--node-gone). */
export function isGivenAsGone({ options }: ClusterContext, node: string): boolean {
  return options.nodeGone?.includes(node) ?? false
}

/** Of a Node that was deleted only the lease of its kubelet is left. */
type Signs = Pick<ClusterNode, 'name' | 'ready' | 'leaseRenewTime' | 'leaseWrittenAt' | 'heartbeat'>

/**
 * Ready may be False while the kubelet, and with it the machine, runs: its lease shows that. Without a lease that could be read
 * only the status does (S3), unless somebody has judged since that the kubelet is silent. Against a person's word counts only what
 * was heard just now: a time to come is that of a kubelet whose clock was ahead.
 */
export function isHeard(context: ClusterContext, node: Signs): boolean {
  const { leaseRenewTime, leaseWrittenAt, heartbeat } = node
  const isGiven = isGivenAsGone(context, node.name)
  const isWithoutLease = kubeletHeardAt(node) === undefined && node.ready !== 'Unknown'
  const grace = isWithoutLease && !isGiven ? STATUS_MS : GRACE_MS
  return [leaseRenewTime, leaseWrittenAt, heartbeat].some((text) => {
    const time = timeOf(text)
    return time !== undefined && context.now - time <= grace && (!isGiven || isPast(context, text))
  })
}

/** What a kubelet wrote while the cluster was read is no time to come, nor is what the seconds of a Date leave out. */
const MARGIN_MS = 60_000

function isPast({ now }: ClusterContext, text: string | undefined): boolean {
  const time = timeOf(text)
  return time === undefined || time <= now + MARGIN_MS
}

// Is a CSI driver shown to be gone, and does its external attacher live?

/** A lease that is not renewed for this long is nobody's. */
const STALE_MS = 120_000

/**
 * No CSIDriver has its name, no CSINode lists it, and no attacher of its name renews a lease; all of that read as a whole (S3).
 * A driver may work without a CSIDriver object (C35), but not without a node that has it or an attacher.
 */
export function isDriverGone(context: ClusterContext, driver: string): boolean {
  const { objects, state, driversOnNodes } = context
  if (driver === '' || !objects.isWhole('csidrivers') || !objects.isWhole('csinodes')) return false
  if (objects.driver(driver).state !== 'Absent' || driversOnNodes?.has(driver) !== false) return false
  const lease = attacherLease(context, driver)
  // Without the list of leases an attacher may live (S3).
  if (lease === undefined) return state.lostNodes !== undefined
  return isStale(context, lease)
}

/** A driver that needs no attachment has no external attacher as a rule. */
export function lookAtWhoDetaches({ objects }: ClusterContext, attachment: string, driver: string): string {
  const found = objects.driver(driver)
  return found.state === 'Found' && found.object.attachRequired === false
    ? `Driver ${driver} needs no attachment. Look at the attachment: ${describeAttachment(attachment)}`
    : lookAtAttacher(attachment, driver)
}

/**
 * The lease of the driver's external attacher, if it elects a leader and was readable. A driver that moved to another namespace leaves its
 * old lease behind: of several the one that was heard last counts, and a time that is not known was just now (S28).
 */
export function attacherLease({ state }: ClusterContext, driver: string): LeaseEvidence | undefined {
  const heard = (lease: LeaseEvidence): number => timeOf(heardAt(lease)) ?? Number.MAX_SAFE_INTEGER
  const own = state.attachers.filter(({ name }) => lastPart(name) === leaseName(driver))
  return own.toSorted((a, b) => heard(b) - heard(a))[0]
}

/** Of namespace/name the name. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

/** As external-attacher names it: every other character than a letter or a digit becomes a dash. */
export function leaseName(driver: string): string {
  return `external-attacher-leader-${driver.replace(/[^a-zA-Z0-9-]/g, '-')}`
}

/** A lease that does not say when it was renewed is not known to be stale. */
export function isStale({ now }: ClusterContext, lease: LeaseEvidence): boolean {
  const { durationSeconds = 15 } = lease
  const renewed = timeOf(heardAt(lease))
  return renewed !== undefined && now - renewed > Math.max(STALE_MS, 3 * durationSeconds * 1000)
}
