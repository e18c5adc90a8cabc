/**
 * kube-controller-manager's lease, by the rules of client-go's leader election: created or taken over where nobody renewed it for its
 * duration, and renewed by whoever holds it. A candidate of client-go waits by its own clock from the last change that it saw; this
 * one by the times in the lease, so that a test can let time pass.
 */
import { ApiError } from '../../../src/core/api/api-error.ts'
import type { KubeClient } from '../../../src/core/api/kube-client.ts'
import { LEASES, objectPath } from '../../../src/core/model/resources.ts'

const KEY = { namespace: 'kube-system', name: 'kube-controller-manager' }
const DURATION_SECONDS = 15

interface LeaseObject {
  readonly metadata: { readonly resourceVersion?: string }
  readonly spec: {
    readonly holderIdentity: string
    readonly leaseDurationSeconds: number
    readonly acquireTime?: string
    readonly renewTime: string
    readonly leaseTransitions?: number
  }
}

/** One attempt. @returns whether this one leads now */
export async function acquireOrRenew(client: KubeClient, identity: string): Promise<boolean> {
  try {
    const lease = await client.get<LeaseObject>(objectPath(LEASES, KEY)).catch(unlessAbsent)
    const now = microTime()
    if (lease === undefined) {
      await client.create(`${LEASES.root}/namespaces/${KEY.namespace}/${LEASES.plural}`, {
        ...body(undefined),
        spec: term(identity, { acquireTime: now, leaseTransitions: 0 }),
      })
      return true
    }
    const { holderIdentity, renewTime, leaseDurationSeconds, acquireTime = now, leaseTransitions = 0 } = lease.spec
    const isMine = holderIdentity === identity
    const isHeld = holderIdentity !== '' && Date.parse(renewTime) + leaseDurationSeconds * 1000 > Date.now()
    if (!isMine && isHeld) return false
    const kept = isMine
      ? { acquireTime, leaseTransitions }
      : { acquireTime: now, leaseTransitions: leaseTransitions + 1 }
    await client.replace(objectPath(LEASES, KEY), { ...body(lease), spec: term(identity, kept) })
    return true
  } catch (error) {
    // Somebody else was first.
    if (error instanceof ApiError && error.status === 409) return false
    throw error
  }
}

/** Lets the next one begin at once, as a controller that is stopped does. */
export async function release(client: KubeClient): Promise<void> {
  const lease = await client.get<LeaseObject>(objectPath(LEASES, KEY))
  const now = microTime()
  const { leaseTransitions = 0 } = lease.spec
  const spec = { ...term('', { acquireTime: now, leaseTransitions }), leaseDurationSeconds: 1 }
  await client.replace(objectPath(LEASES, KEY), { ...body(lease), spec })
}

function body(lease: LeaseObject | undefined): object {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...lease?.metadata, ...KEY } }
}

function term(holderIdentity: string, kept: { acquireTime: string; leaseTransitions: number }): LeaseObject['spec'] {
  return { holderIdentity, leaseDurationSeconds: DURATION_SECONDS, renewTime: microTime(), ...kept }
}

function microTime(): string {
  return new Date().toISOString().replace('Z', '000Z')
}

function unlessAbsent(error: unknown): undefined {
  if (!(error instanceof ApiError) || !error.isAbsent) throw error
  return undefined
}
