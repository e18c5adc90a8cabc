/**
 * One apply of a cluster at a time, wherever it runs: volctl has its own Lease. There is no timer: the apply renews the lease
 * between its requests, so that one that hangs or was killed loses it. Times are in the server's clock; no workstation's matters.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { rfc3339 } from '../../base/text.ts'
import { timeOf } from '../../cluster/model/cluster-state.ts'
import { LEASES, type Lease } from '../../kube/api/objects.ts'
import { ApiError, orInstead, unlessRefused } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/kube-client.ts'
import { microTime, writeLease } from '../../kube/writes.ts'
import { marked, OperationRefused, said, VolctlError } from '../../messages/findings.ts'
import { invoker } from '../../trust/invoker.ts'

const LEASE = { namespace: 'kube-system', name: 'volctl-cluster-apply' }
/** In messages. */
const LEASE_NAME = `lease ${LEASE.namespace}/${LEASE.name}`

/** Longer than a request and its retries may take. */
const DURATION_SECONDS = 60
/** Renewed when this part of its duration has passed. */
const RENEW_AFTER = 1 / 4
/** How often somebody else may be first before volctl gives up. */
const TRIES = 3

/** @throws VolctlError Locked, naming the holder; ApiError if the lease cannot be read or written */
export async function takeLeaseLock(
  client: KubeClient,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<LeaseLock> {
  for (let tries = 1; ; tries++) {
    const found = await client.find(LEASES, LEASE, { signal })
    const now = serverNow(client)
    const until = found === undefined ? now : heldUntil(found, now)
    if (until > now) {
      const hint = `Wait until that apply ends. If it has died, the lease is free at ${rfc3339(until)}.`
      throw new VolctlError(said('Locked.cluster', { holder: nameOf(found) ?? 'nobody', lease: LEASE_NAME }), { hint })
    }
    const { user, pid } = invoker()
    const holder = `${user}@${hostname()} pid ${pid} ${randomUUID()}`
    const { lock, write } = leaseLock(client, holder, nameOf(found))
    try {
      await write(holder, found?.metadata.resourceVersion)
      return lock
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || tries === TRIES) throw error
    }
  }
}

function serverNow({ clockSkewMs = 0 }: KubeClient): number {
  return Date.now() + clockSkewMs
}

/** Milliseconds; 0: nobody holds it. A lease whose times make no sense was renewed just now (S28). */
function heldUntil({ spec }: Lease, now: number): number {
  if (!spec?.holderIdentity) return 0
  const duration = (spec.leaseDurationSeconds ?? DURATION_SECONDS) * 1000
  const renewed = timeOf(spec.renewTime ?? undefined) ?? now
  return Math.min(renewed, now) + duration
}

/** The holder as a person knows it: without the random part. */
function nameOf(lease: Lease | undefined): string | undefined {
  return lease?.spec?.holderIdentity?.replace(/ [0-9a-f-]{36}$/, '') || undefined
}

export type LeaseLock = ReturnType<typeof leaseLock>['lock']

function leaseLock(client: KubeClient, own: string, takenOverFrom: string | undefined) {
  let version: string | undefined
  let acquireTime: string | undefined
  // In the server's clock, whose answers have whole seconds: each renewal has a time of its own, by which it is known again.
  let renewalMs = 0
  // By the monotonic clock.
  let renewed = 0
  // Several operations wait at once, and one of them renews the lease for all.
  let keeping: Promise<void> | undefined

  /** @throws ApiError 409 if the lease is not of this version any more */
  const write = async (holder: string, of = version): Promise<void> => {
    const began = performance.now()
    renewalMs = Math.max(serverNow(client), renewalMs + 1)
    const now = microTime(renewalMs)
    acquireTime ??= now
    const term = { holderIdentity: holder, leaseDurationSeconds: DURATION_SECONDS, acquireTime, renewTime: now }
    const lease = await orInstead(writeLease(client, LEASE, term, of), async (error) => {
      // If the answer was lost, the lease itself shows whether it was written. Its holder alone does not: a renewal keeps the holder.
      const found = error.status === 0 ? await client.find(LEASES, LEASE) : undefined
      const { holderIdentity, renewTime } = found?.spec ?? {}
      if (holderIdentity !== own || timeOf(renewTime ?? undefined) !== renewalMs) throw error
      return found
    })
    version = lease?.metadata.resourceVersion
    renewed = began
  }

  const renew = async (): Promise<void> => {
    const durationMs = DURATION_SECONDS * 1000
    if (performance.now() - renewed < durationMs * RENEW_AFTER) return
    await orInstead(write(own), (error) => {
      // The server may be back in time.
      if (error.status === 0 && performance.now() - renewed < durationMs / 2) return
      const hint = marked('Run `volctl plan --cluster` to see what is left to do.')
      throw new OperationRefused(said('Locked.notRenewed', { lease: LEASE_NAME, message: error.message }), {
        cause: error,
        hint,
      })
    })
  }

  const lock = {
    /** The dead apply whose lease was taken over. */
    takenOverFrom,
    /**
     * Renews the lease when it is time; called before each change, and while something is waited for.
     *
     * @throws OperationRefused Locked if somebody else has it, or it could have expired
     */
    keep: (): Promise<void> => {
      keeping ??= renew().finally(() => {
        keeping = undefined
      })
      return keeping
    },
    /** Lets the next apply begin at once. If that fails, it waits until the lease expires. */
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await unlessRefused(write(''))
    },
  }
  return { lock, write }
}
