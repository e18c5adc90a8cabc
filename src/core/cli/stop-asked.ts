/** What --stop-kubelet comes to on this node: a unit that is stopped for the apply, or the reason why none is (S35). */
import { SafetyRefusal } from '../errors/errors.ts'
import { apiPlace } from '../kubelet-stop/api-here.ts'
import { needStop, onceStopped } from '../kubelet-stop/once-stopped.ts'
import { requireStoppable } from '../kubelet-stop/require-stoppable.ts'
import { type UnitFacts, unitFacts } from '../kubelet-stop/unit-facts.ts'
import type { NodeState } from '../model/node-state.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import type { Plan } from '../plan/plan.ts'

export interface StopChoice {
  readonly settleMs: number
  /** --kubeconfig was given. */
  readonly ownKubeconfig: boolean
  /** What would be carried out on a node in this state. */
  planOf(state: NodeState): Promise<{ readonly fresh: Plan; readonly shown: Plan }>
}

/** The unit, and what would be done once it is stopped. */
export interface StopAsked {
  readonly facts: UnitFacts
  readonly fresh: Plan
  readonly shown: Plan
}

/**
 * @returns a sentence: nothing is stopped, and why
 * @throws SafetyRefusal: something needs it, and it may not be stopped
 */
export async function stopAsked(node: CollectedNode, choice: StopChoice): Promise<StopAsked | string> {
  const { kubelet, api } = node.snapshot
  if (kubelet?.running !== true) {
    if (kubelet?.mayReturn === true) throw mayReturn(kubelet.note)
    return 'The kubelet does not run: it is not stopped now, and not started at the end.'
  }
  const { port, here } = await apiPlace(node.client.server)
  // A test's node has no unit of this machine.
  const unit = node.node.places === undefined ? kubelet.unit : undefined
  const facts = unit === undefined ? undefined : await unitFacts(unit, here ? port : undefined)
  const now = await choice.planOf(node)
  const then = await choice.planOf(onceStopped(node, facts))
  const needed = needStop({
    stopped: then.shown,
    running: now.fresh,
    pods: api?.pods ?? [],
    settleMs: choice.settleMs,
  })
  if (needed.length === 0 && then.fresh.refused === undefined)
    return `Nothing here needs the kubelet to be stopped: ${unit ?? 'it'} keeps running.`
  return { facts: requireStoppable({ unit, facts, otherApi: choice.ownKubeconfig && !here }), ...then }
}

function mayReturn(note = 'the kubelet may start at any moment'): SafetyRefusal {
  return new SafetyRefusal('S35', 'KubeletNotStopped', note, {
    hint: 'volctl only stops a kubelet that runs, and that stays stopped: systemctl list-timers; systemctl status kubelet',
  })
}
