/** What --stop-kubelet comes to on this node: a unit that is stopped for the apply, or the reason why none is (S35). */

import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import type { NodeState } from '../facts/actual/snapshot.ts'
import { inTime } from '../linux/deadline.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import { needStop, onceStopped } from '../node/kubelet-stop/plan-stop.ts'
import { requireStoppable, type UnitFacts, unitFacts } from '../node/kubelet-stop/stoppable.ts'
import type { Plan } from '../plan/plan.ts'

export interface StopChoice {
  readonly settleMs: number
  /** --kubeconfig was given. */
  readonly ownKubeconfig: boolean
  /** What would be carried out on a node in this state. */
  planOf(state: NodeState): Promise<Planned>
}

interface Planned {
  readonly plan: Plan
  /** What of it would be carried out. */
  readonly shown: Plan
}

/** The unit, and what would be done once it is stopped. */
export interface StopAsked extends Planned {
  readonly facts: UnitFacts
}

/**
 * @returns a sentence: nothing is stopped, and why
 * @throws SafetyRefusal: something needs it, and it may not be stopped
 */
export async function stopAsked(node: CollectedNode, choice: StopChoice): Promise<StopAsked | string> {
  const { kubelet, api } = node.snapshot
  if (kubelet?.running !== true) {
    const why = kubelet?.mayReturn === true && kubelet.note !== undefined ? ` (${kubelet.note})` : ''
    return `The kubelet does not run${why}: it is not stopped now, and not started at the end.`
  }
  const { port, here } = await apiPlace(node.client.server)
  // A test's node has no unit of this machine.
  const unit = node.node.places === undefined ? kubelet.unit : undefined
  const facts = unit === undefined ? undefined : await unitFacts(unit, here ? port : undefined)
  const now = await choice.planOf(node)
  const then = await choice.planOf(onceStopped(node, facts))
  const needed = needStop({
    stopped: then.shown,
    running: now.plan,
    pods: api?.pods ?? [],
    settleMs: choice.settleMs,
  })
  if (needed.length === 0 && then.plan.refused === undefined)
    return `Nothing here needs the kubelet to be stopped: ${unit ?? 'it'} keeps running.`
  return { facts: requireStoppable({ unit, facts, otherApi: choice.ownKubeconfig && !here }), ...then }
}

const DEADLINE_MS = 2000

interface ApiPlace {
  readonly port: number
  /** By an address of this machine; or its name leads nowhere, and so it may be. */
  readonly here: boolean
}

/** Whether an API server is on this machine: then it may end with the unit that is stopped. @param server its URL */
async function apiPlace(server: string): Promise<ApiPlace> {
  const { hostname, port, protocol } = new URL(server)
  return {
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    here: (await addressesOf(hostname.replace(/^\[|\]$/g, ''))).some(isOwn),
  }
}

/** A name that leads nowhere counts as this machine's. */
async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    const found = await inTime(lookup(host, { all: true }), DEADLINE_MS, () => new Error('no answer'))
    return found.map(({ address }) => address)
  } catch {
    return ['127.0.0.1']
  }
}

function isOwn(address: string): boolean {
  if (/^(127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$)/.test(address)) return true
  return Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === address))
}
