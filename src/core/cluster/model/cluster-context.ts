/** What every part of the pass reads and asks, which nothing changes; and what the pass finds. */

import { type Advice, advice, describeAttachment, lookAtAttacher } from '../../messages/command.ts'
import type { ClusterOptions, ControllerState } from '../../plan/cluster-plan.ts'
import { foundOf } from '../../volumes/api-lookup.ts'
import { attachabilityOf } from '../../volumes/csi.ts'
import {
  type ClusterNode,
  type ClusterObjects,
  type ClusterState,
  clusterObjects,
  heardAt,
  kubeletHeardAt,
  type LeaseEvidence,
  newestOf,
  serverTime,
  timeOf,
} from './cluster-state.ts'
import { controllerState } from './controller-state.ts'
import { ClusterFindings } from './findings.ts'
import { Rows } from './rows.ts'

/** What only a look at all Nodes and VolumeAttachments shows; everything else that is said of a volume follows from what is around it. */
export type ClusterFacts = ReturnType<typeof clusterFacts>

export function clusterFacts(state: ClusterState, settleMs: number) {
  return { controller: controllerState(state, settleMs), driversOnNodes: driversOn(state.nodes) }
}

/** Drivers that some CSINode lists. Undefined: those of some node are not known (S3). */
export function driversOn(nodes: readonly Pick<ClusterNode, 'csi'>[]): ReadonlySet<string> | undefined {
  const drivers = new Set<string>()
  for (const { csi } of nodes) {
    if (csi.state === 'unknown') return undefined
    for (const { name } of csi.drivers ?? []) drivers.add(name)
  }
  return drivers
}

/** A kubelet renews its lease every ten seconds; after 50 the controller takes it for silent. */
const GRACE_MS = 50_000
/** A kubelet writes its status at least every five minutes. */
const STATUS_MS = 6 * 60_000
const MARGIN_MS = 60_000
/** A lease that is not renewed for this long is nobody's. */
const STALE_MS = 120_000

/** Of a Node that was deleted only the lease of its kubelet is left. */
type Signs = Pick<ClusterNode, 'name' | 'ready' | 'leaseRenewTime' | 'leaseWrittenAt' | 'heartbeat'>

export class ClusterContext {
  readonly state: ClusterState
  readonly options: ClusterOptions
  readonly objects: ClusterObjects
  readonly rows: Rows
  /** What the pass has found until now. */
  readonly findings = new ClusterFindings()
  readonly controller: ControllerState
  /** `mayLive` counts as alive. */
  readonly isControllerAlive: boolean
  /** Milliseconds: the server's clock when the reading began; 0, so that everything counts as just now, where it is not known. */
  readonly now: number
  readonly #driversOnNodes: ClusterFacts['driversOnNodes']

  /** @param facts of the whole cluster, where the state is a part of one */
  constructor(
    state: ClusterState,
    options: ClusterOptions,
    { controller, driversOnNodes }: ClusterFacts = clusterFacts(state, options.settleMs),
  ) {
    this.state = state
    this.options = options
    this.objects = clusterObjects(state)
    this.rows = new Rows(state, this.objects)
    this.controller = controller
    this.isControllerAlive = controller.state !== 'dead'
    this.now = serverTime(state) ?? 0
    this.#driversOnNodes = driversOnNodes
  }

  /** Where only the controller can do it: what to do about it. */
  get lookAtController(): string {
    return this.isControllerAlive
      ? 'look at the log of kube-controller-manager'
      : 'let kube-controller-manager run again'
  }

  /** A Node that is known; undefined: it does not exist, or nobody knows. */
  node(name: string): ClusterNode | undefined {
    return foundOf(this.objects.node(name))
  }

  /** Has something been as it is for the settle time? A time that is not known was just now (S28). */
  isSettled(since: string | undefined): boolean {
    const time = timeOf(since)
    return time !== undefined && this.now - time >= this.options.settleMs
  }

  /** A person says that its machine does not run (--node-gone). */
  isGivenAsGone(node: string): boolean {
    return this.options.nodeGone?.includes(node) ?? false
  }

  /**
   * Is a node ready? Its Node says so, and kube-controller-manager corrects the word where the kubelet falls silent. Where that
   * controller is dead nobody does: a Node that was ready stays ready for ever, whatever becomes of its machine.
   */
  readinessOf(node: ClusterNode) {
    const { ready, readySince, leaseRenewTime } = node
    const heard = newestOf(this.#signsOf(node))
    const time = timeOf(heard)
    const isSilent = time !== undefined && this.now - time > GRACE_MS && this.isSettled(heard)
    // Without the lease a heartbeat alone shows little: the status of a healthy node may be minutes old.
    const isStale = ready === 'True' && !this.isControllerAlive && leaseRenewTime !== undefined && isSilent
    return {
      /** Status of the condition Ready, or Unknown in its place. */
      ready: isStale ? 'Unknown' : ready,
      since: isStale ? heard : readySince,
      /** Ready says True, and the kubelet has been silent since then. */
      isStale,
    }
  }

  isReady(node: ClusterNode | undefined): boolean {
    return node !== undefined && this.readinessOf(node).ready === 'True'
  }

  /**
   * Ready may be False while the kubelet, and with it the machine, runs: its lease shows that. Without a lease that could be read
   * only the status does (S3), unless somebody has judged since that the kubelet is silent.
   */
  isHeard(node: Signs): boolean {
    const isWithoutLease = kubeletHeardAt(node) === undefined && node.ready !== 'Unknown'
    const grace = isWithoutLease && !this.isGivenAsGone(node.name) ? STATUS_MS : GRACE_MS
    return this.#signsOf(node).some((text) => this.now - (timeOf(text) ?? Number.NEGATIVE_INFINITY) <= grace)
  }

  /**
   * When a kubelet was heard. Against a person's word counts only what was heard just now: a time to come is that of a kubelet whose
   * clock was ahead. What was written while the cluster was read is no time to come, nor is what the seconds of a Date leave out.
   */
  #signsOf({ name, leaseRenewTime, leaseWrittenAt, heartbeat }: Signs): readonly string[] {
    const signs = [leaseRenewTime, leaseWrittenAt, heartbeat].filter((sign) => sign !== undefined)
    return this.isGivenAsGone(name) ? signs.filter((sign) => (timeOf(sign) ?? 0) <= this.now + MARGIN_MS) : signs
  }

  /**
   * No CSIDriver has its name, no CSINode lists it, and no attacher of its name renews a lease; all of that read as a whole (S3).
   * A driver may work without a CSIDriver object (C35), but not without a node that has it or an attacher.
   */
  isDriverGone(driver: string): boolean {
    const { objects, state } = this
    if (driver === '' || !objects.isWhole('csidrivers') || !objects.isWhole('csinodes')) return false
    if (objects.csiDriver(driver).state !== 'Absent' || this.#driversOnNodes?.has(driver) !== false) return false
    // Without the list of leases an attacher may live (S3).
    return this.#attacherLease(driver) === undefined
      ? state.lostNodes !== undefined
      : this.silentAttacher(driver) !== undefined
  }

  /** A driver that needs no attachment has no external attacher as a rule. */
  lookAtWhoDetaches(attachment: string, driver: string): Advice {
    return attachabilityOf(driver, this.objects) === 'notAttachable'
      ? advice`Driver ${driver} needs no attachment. Look at the attachment: ${describeAttachment(attachment)}`
      : lookAtAttacher(attachment, driver)
  }

  /**
   * The lease of the driver's external attacher, if it elects a leader and was readable. A driver that moved to another namespace
   * leaves its old lease behind: of several the one that was heard last counts, and a time that is not known was just now (S28).
   */
  #attacherLease(driver: string): LeaseEvidence | undefined {
    const heard = (lease: LeaseEvidence): number => timeOf(heardAt(lease)) ?? Number.MAX_SAFE_INTEGER
    const own = this.state.attachers.filter(({ name }) => lastPart(name) === leaseName(driver))
    return own.toSorted((a, b) => heard(b) - heard(a))[0]
  }

  /** The lease of the driver's external attacher, if it is stale: not where it does not say when it was renewed. */
  silentAttacher(driver: string): LeaseEvidence | undefined {
    const lease = this.#attacherLease(driver)
    const { durationSeconds = 15 } = lease ?? {}
    const renewed = timeOf(lease && heardAt(lease))
    const isStale = renewed !== undefined && this.now - renewed > Math.max(STALE_MS, 3 * durationSeconds * 1000)
    return isStale ? lease : undefined
  }
}

/** What is said of a node that does not count as ready. */
export function notReadyText({ isStale }: { readonly isStale: boolean }): string {
  return isStale ? 'has a silent kubelet' : 'is not ready'
}

/** Of namespace/name the name. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

/** As external-attacher names it: every other character than a letter or a digit becomes a dash. */
export function leaseName(driver: string): string {
  return `external-attacher-leader-${driver.replace(/[^a-zA-Z0-9-]/g, '-')}`
}
