/**
 * Does somebody else run the attach/detach controller? Decided before everything else, as S11 decides about a kubelet.
 *
 * Unknown counts as alive. The controller counts as dead only where all of this holds:
 * 1. the Lease kube-system/kube-controller-manager exists, with a time and a duration that make sense;
 * 2. it is stale: not renewed for the settle time, and for at least three times its own duration;
 * 3. it is unchanged when it is read again after everything else (a clock that is wrong makes a lease look stale);
 * 4. nothing that only a controller does has happened since: a Node whose Ready became Unknown; a VolumeAttachment that somebody
 *    other than volctl created; something that a controller manager wrote, by the managedFields of all that was read; another lease
 *    of a kube-controller-manager that was renewed; or a change of what only a controller writes, between two looks of one run;
 * 5. some kubelet has renewed its own lease lately, where those are readable: else it may be the clock, or an API server that
 *    has just come back and that nobody has reached yet.
 *
 * A cluster without that Lease has its controllers elsewhere (a managed control plane, another name, no leader election): it may live.
 *
 * What is no sign: VolumeAttachments that are being deleted or have gone, where the lease is stale, since people delete them by hand
 * then; Nodes that come and go, which is the work of kubelets and of a cloud's own controllers; and leases of other programs that are
 * called controllers and attach nothing.
 */

import { formatDuration } from '../../base/text.ts'
import type { ControllerState } from '../../plan/cluster-plan.ts'
import { type ClusterState, heardAt, kubeletHeardAt, serverTime, timeOf } from './cluster-state.ts'

/** What kube-controller-manager sets by default. */
const DEFAULT_DURATION_SECONDS = 15
/** Clocks that are right differ by less. */
const CLOCKS_MS = 10 * 60_000

/** @param isHeard whether some kubelet was heard lately (5.) */
export function controllerState(
  state: ClusterState,
  settleMs: number,
  isHeard = isKubeletHeard(state),
): ControllerState {
  const { lease, leaseProblem, leaseAtEnd } = state.controller
  const now = serverTime(state)
  const may = (note: string): ControllerState => ({ state: 'mayLive', note })
  if (lease === undefined) {
    const name = 'lease kube-system/kube-controller-manager'
    const why = leaseProblem === undefined ? `there is no ${name}` : `${name} could not be read: ${leaseProblem}`
    return may(`${why}, so that the controller may run elsewhere`)
  }
  const { durationSeconds = DEFAULT_DURATION_SECONDS } = lease
  const named = `lease ${lease.name}`
  const renewed = timeOf(lease.renewTime)
  const heard = heardAt(lease)
  const lives = (note: string): ControllerState => ({ state: 'lives', note })
  if (renewed === undefined) return may(`${named} does not say when it was renewed`)
  if (now === undefined) return may('the clock of the API server is not known')
  if (leaseAtEnd !== undefined && (heardAt(leaseAtEnd) !== heard || leaseAtEnd.holder !== lease.holder))
    return lives(`${named} was renewed while volctl read the cluster`)
  if (renewed > now + CLOCKS_MS) return may(`${named} was renewed in the future: a clock is wrong`)
  // The lease may be read a moment after the clock was.
  const last = timeOf(heard) ?? renewed
  const age = Math.max(0, now - last)
  const text = formatDuration(age)
  const durationMs = durationSeconds * 1000
  if (age <= durationMs) return lives(`${named} was renewed ${text} ago`)
  if (age <= Math.max(settleMs, 3 * durationMs))
    return may(`${named} was renewed ${text} ago, which is not long enough to be sure`)
  if (leaseAtEnd === undefined) return may(`${named} is stale, and could not be read a second time`)
  if (!isHeard) return may(`${named} is stale, but so are those of all kubelets`)
  const sign = signSince(state, last + durationMs)
  if (sign !== undefined) return lives(`${named} is stale, but a controller has acted since: ${sign}`)
  return { state: 'dead', note: `${named} was last renewed ${text} ago, and nothing acted since` }
}

/** A kubelet renews its lease every ten seconds. */
const HEARD_MS = 50_000

function isKubeletHeard(state: ClusterState): boolean {
  const now = serverTime(state) ?? 0
  const times = state.nodes.flatMap((each) => timeOf(kubeletHeardAt(each)) ?? [])
  return times.length === 0 || times.some((time) => now - time <= HEARD_MS)
}

/** What only a controller does, the first of it since a time; volctl and people with kubectl do none of it by the way. */
function signSince({ controller, nodes, attachments }: ClusterState, from: number): string | undefined {
  const { changes = [], otherLeases = [], writes = [] } = controller
  const late = (what: string, time: string | undefined): string | [] => ((timeOf(time) ?? from) > from ? what : [])
  const silent = nodes.filter(({ ready }) => ready === 'Unknown')
  const others = attachments.filter(({ byVolctl }) => byVolctl !== true)
  const [sign] = [
    ...changes,
    ...otherLeases.flatMap((lease) => {
      const by = lease.holder ? ` by ${lease.holder}` : ''
      return late(`lease ${lease.name} was renewed${by}`, heardAt(lease))
    }),
    ...writes.flatMap(({ manager, object, time }) => late(`${manager} wrote ${object}`, time)),
    ...silent.flatMap(({ name, readySince }) => late(`Ready of node ${name} became Unknown`, readySince)),
    ...others.flatMap(({ name, createdAt }) => late(`VolumeAttachment ${name} was created`, createdAt)),
  ]
  return sign
}

// What only a controller changes, seen by two looks of one run: whatever the clocks say. A VolumeAttachment that came, unless volctl made
// it; and volumesAttached of a Node, which volctl never writes. One that went shows nothing: the attacher takes it away.

/** What is kept of a look, to be compared with a later one. */
export type Looked = ReturnType<typeof lookedAt>

type Lists = Pick<ClusterState, 'nodes' | 'attachments'>

export function lookedAt({ nodes, attachments }: Lists) {
  const managed = nodes.filter((node) => node.managed)
  return {
    /** Of managed nodes, by UID: a kubelet that attaches volumes writes the list, too (R702). */
    volumesAttached: new Map(managed.map(({ uid, volumesAttached = [] }) => [uid, volumesAttached])),
    /** UIDs. */
    attachments: new Set(attachments.map(({ uid }) => uid)),
  }
}

const MOST_CHANGES = 3

/** The first few. */
export function changesBetween(before: Looked, { nodes, attachments }: Lists): readonly string[] {
  const reported = nodes.filter(({ uid, managed, volumesAttached }) => {
    const known = managed ? before.volumesAttached.get(uid) : undefined
    return known !== undefined && new Set(known).symmetricDifference(new Set(volumesAttached)).size > 0
  })
  const came = attachments.filter(({ uid, byVolctl }) => byVolctl !== true && !before.attachments.has(uid))
  return [
    ...reported.map(({ name }) => `volumesAttached of node ${name} changed while volctl ran`),
    ...came.map(({ name }) => `VolumeAttachment ${name} was created while volctl ran`),
  ].slice(0, MOST_CHANGES)
}
