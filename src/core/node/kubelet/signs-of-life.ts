/**
 * When a kubelet of this node's name last reported to the API: by its lease, which it renews every few seconds, and by the
 * heartbeat of its Ready condition (S11). Both times are by the clock of the machine that wrote them.
 */

import type { Lease } from '../../kube/api/objects.ts'
import type { ApiSnapshot, KubeletSnapshot, StopShownBy } from '../../volumes/snapshot.ts'

/** The kubelet's state as this host alone shows it. */
export interface LocalKubelet extends KubeletSnapshot {
  /** No process runs, and nothing on this host shows since when. */
  readonly stopUnknown?: true
}

/** Default, for a lease without a duration. */
const LEASE_DURATION_MS = 40_000
/** A kubelet renews its lease four times in its duration: it may have run that much longer. */
const RENEWALS = 4
/** A kubelet reports an unchanged status only this often (nodeStatusReportFrequency). */
const STATUS_INTERVAL_MS = 300_000
/** Clocks are compared by a header in whole seconds, and reading takes time. */
const AHEAD_MS = 60_000
/** systemd's time and the lease's are by the same clock; this allows for rounding. */
const ROUNDING_MS = 2000

/**
 * The kubelet's state by all evidence; the latest counts. If nothing on this host says since when it is stopped, the API
 * decides; if the API does not say, either, it counts as just stopped. A lease younger than its duration that no known stop
 * explains shows that a kubelet of this name ran a moment ago, here or on another machine, and may still.
 *
 * @param api undefined if it was not read
 * @param now milliseconds since the epoch, by this host's clock
 */
export function withSignsOfLife(local: LocalKubelet, api: ApiSnapshot | undefined, now: number): KubeletSnapshot {
  const { stopUnknown = false, ...kubelet } = local
  if (kubelet.running) return kubelet
  const lease = leaseRenewed(api, now)
  const unit = kubelet.stoppedAt === undefined ? undefined : momentOf(kubelet.stoppedAt, now)
  const heartbeat = api?.node?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime
  // If the unit shows a stop after the renewal, no later renewal can have been missed.
  const unexplained = lease !== undefined && (unit === undefined || lease.at > unit + ROUNDING_MS)
  const lives = unexplained && now - lease.at < lease.durationMs
  const renewed = lives && [
    kubelet.note,
    `the node's lease was renewed ${Math.round((now - lease.at) / 1000)} s ago: a kubelet of this name ran then, and may still run`,
  ]
  const moments: [StopShownBy, number][] = []
  if (unit !== undefined) moments.push(['unit', unit])
  if (lease !== undefined) moments.push(['lease', unexplained ? lease.at + lease.durationMs / RENEWALS : lease.at])
  if (heartbeat) {
    const intervalMs = moments.length === 0 ? STATUS_INTERVAL_MS : 0
    moments.push(['heartbeat', momentOf(heartbeat, now, api?.clockSkewMs) + intervalMs])
  }
  const [[stopShownBy, at] = ['nothing', now] as const] = moments.toSorted((a, b) => b[1] - a[1])
  // Never started here, and nothing uncertain: stopped long enough ago.
  const isKnown = unit !== undefined || stopUnknown
  return {
    ...kubelet,
    ...(isKnown && { stoppedAt: new Date(Math.min(now, at)).toISOString().replace('.000Z', 'Z'), stopShownBy }),
    ...(renewed && { mayReturn: true, note: renewed.filter(Boolean).join('; ') }),
  }
}

/** True if the lease is younger than its duration, and was renewed since a moment. Both in milliseconds since the epoch. */
export function leaseIsAlive(
  api: ApiSnapshot | undefined,
  { now, since }: { readonly now: number; readonly since: number },
): boolean {
  const lease = leaseRenewed(api, now)
  return lease !== undefined && now - lease.at < lease.durationMs && lease.at > since
}

/**
 * Whether a kubelet of this name has run since the look, whatever its clock shows: then its lease has been renewed.
 *
 * @param before the lease of that look; undefined: there was none, or it was not readable
 * @param now undefined: it can no longer be read, which proves nothing
 * @returns why the kubelet must have run, in words
 */
export function renewedSince(before: Lease | undefined, now: Lease | undefined): string | undefined {
  const renewTime = now?.spec?.renewTime
  if (!renewTime || renewTime === before?.spec?.renewTime) return undefined
  const holder = now?.spec?.holderIdentity
  return `the node's lease was renewed at ${renewTime}${holder ? ` by ${holder}` : ''}, after volctl read the lease: a kubelet of this name has run since`
}

function leaseRenewed(api: ApiSnapshot | undefined, now: number) {
  const { renewTime, leaseDurationSeconds } = { ...api?.lease?.spec }
  if (!renewTime) return undefined
  const seconds = leaseDurationSeconds ?? 0
  return {
    at: momentOf(renewTime, now, api?.clockSkewMs),
    durationMs: seconds > 0 ? seconds * 1000 : LEASE_DURATION_MS,
  }
}

/**
 * A time that another machine may have written, by this host's clock. It is unknown whether this host's clock or the server's
 * was used: the later reading counts, unless it is in the future. A time that is in the future by both, zero, or no time at
 * all counts as just now (S28).
 *
 * @param skewMs how far the API server's clock is ahead of this host's
 */
function momentOf(time: string, now: number, skewMs = 0): number {
  const at = Date.parse(time)
  if (!(at > 0)) return now
  const possible = [at, at - skewMs].filter((each) => each <= now + AHEAD_MS)
  return possible.length === 0 ? now : Math.min(now, Math.max(...possible))
}
