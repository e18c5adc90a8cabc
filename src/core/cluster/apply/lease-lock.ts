/**
 * One apply of a cluster at a time, wherever it runs: volctl has its own Lease. There is no timer: the apply renews the lease
 * between its requests, so that one that hangs or was killed loses it. Times are in the server's clock; no workstation's matters.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { VolctlError } from '../../base/errors.ts'
import { OperationRefused } from '../../base/operation-error.ts'
import { rfc3339 } from '../../base/rfc3339.ts'
import type { Lease } from '../../kube/api/objects.ts'
import { LEASES } from '../../kube/api/resources.ts'
import { ApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/kube-client.ts'
import { findObject } from '../../kube/objects.ts'
import { writeLease } from '../../kube/writes.ts'
import { invoker } from '../../linux/invoker.ts'
import { timeOf } from '../model/cluster-state.ts'

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
  settings: { readonly durationSeconds?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<LeaseLock> {
  const { durationSeconds = DURATION_SECONDS, signal } = settings
  for (let tries = 1; ; tries++) {
    const found = await findObject(client, LEASES, LEASE, { signal })
    const now = serverNow(client)
    const until = found === undefined ? now : heldUntil(found, now)
    if (until > now) {
      const message = `another apply is at work on this cluster: ${nameOf(found) ?? 'nobody'} holds ${LEASE_NAME}`
      const hint = `Wait until that apply ends. If it has died, the lease is free at ${rfc3339(until)}.`
      throw new VolctlError('Locked', message, { hint })
    }
    const { user, pid } = invoker()
    const holder = `${user}@${hostname()} pid ${pid} ${randomUUID()}`
    const lock = new LeaseLock(client, { holder, durationSeconds }, nameOf(found))
    try {
      await lock.write(found?.metadata.resourceVersion)
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

interface Held {
  readonly holder: string
  readonly durationSeconds: number
}

export class LeaseLock {
  /** The dead apply whose lease was taken over. */
  readonly takenOverFrom: string | undefined
  readonly #client: KubeClient
  readonly #held: Held
  #version: string | undefined
  #acquiredAt: string | undefined
  /** In the server's clock, whose answers have whole seconds: each renewal has a time of its own, by which it is known again. */
  #renewedAt = 0
  /** By the monotonic clock. */
  #renewed = 0
  /** Several operations wait at once, and one of them renews the lease for all. */
  #keeping: Promise<void> | undefined

  constructor(client: KubeClient, held: Held, takenOverFrom: string | undefined) {
    this.#client = client
    this.#held = held
    this.takenOverFrom = takenOverFrom
  }

  /** @throws ApiError 409 if the lease is not of this version any more */
  async write(version: string | undefined, holder = this.#held.holder): Promise<void> {
    const { durationSeconds } = this.#held
    const began = performance.now()
    this.#renewedAt = Math.max(serverNow(this.#client), this.#renewedAt + 1)
    const renewedAt = new Date(this.#renewedAt).toISOString()
    this.#acquiredAt ??= renewedAt
    const term = { holder, durationSeconds, acquiredAt: this.#acquiredAt, renewedAt }
    try {
      this.#version = (await writeLease(this.#client, LEASE, term, version)).metadata.resourceVersion
    } catch (error) {
      this.#version = await this.#whatBecame(error, renewedAt)
    }
    this.#renewed = began
  }

  /** If the answer was lost, the lease itself shows whether it was written. Its holder alone does not: a renewal keeps the holder. */
  async #whatBecame(error: unknown, renewedAt: string): Promise<string | undefined> {
    if (!(error instanceof ApiError) || error.status !== 0) throw error
    const lease = await findObject(this.#client, LEASES, LEASE)
    const { holderIdentity, renewTime } = lease?.spec ?? {}
    if (holderIdentity !== this.#held.holder || timeOf(renewTime ?? undefined) !== timeOf(renewedAt)) throw error
    return lease?.metadata.resourceVersion
  }

  /**
   * Renews the lease when it is time; called before each change, and while something is waited for.
   *
   * @throws OperationRefused Locked if somebody else has it, or it could have expired
   */
  keep(): Promise<void> {
    this.#keeping ??= this.#keep().finally(() => {
      this.#keeping = undefined
    })
    return this.#keeping
  }

  async #keep(): Promise<void> {
    const durationMs = this.#held.durationSeconds * 1000
    if (performance.now() - this.#renewed < durationMs * RENEW_AFTER) return
    try {
      await this.write(this.#version)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // The server may be back in time.
      const age = performance.now() - this.#renewed
      if (error.status === 0 && age < durationMs / 2) return
      throw lost(error)
    }
  }

  /** Lets the next apply begin at once. If that fails, it waits until the lease expires. */
  async release(): Promise<void> {
    try {
      await this.write(this.#version, '')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }
}

function lost(cause: ApiError): OperationRefused {
  const message = `${LEASE_NAME} could not be renewed, so that another apply may begin: ${cause.message}`
  return new OperationRefused('Locked', message, {
    cause,
    hint: 'Run volctl plan --cluster to see what is left to do.',
  })
}
