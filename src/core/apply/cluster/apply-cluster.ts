/**
 * Carries out a plan of a cluster: creates and deletes VolumeAttachments, one after the other, and nothing else.
 *
 * The cluster is read again first, and each operation that no longer matches is refused (S26). Right before each one, what it rests
 * on is read once more. While the external attacher does its part of some, the next are begun. A failure skips only the operations
 * that come after it. At the end the cluster is read again, to report what is left to do.
 */

import type { ClusterState } from '../../cluster/model/cluster-state.ts'
import { type Looked as Before, changesBetween } from '../../cluster/model/controller-state.ts'
import { planCluster } from '../../cluster/pass/plan-cluster.ts'
import { readCluster } from '../../cluster/read/read-cluster.ts'
import type { KubeClient } from '../../kube/kube-client.ts'
import { marked, SafetyRefusal, said, VolctlError } from '../../messages/findings.ts'
import type { ClusterOperation, ClusterPlan } from '../../plan/cluster-plan.ts'
import { type ApplyEvent, type ClusterApplyResult, isFulfilled, note } from '../../plan/events.ts'
import { refuseInsecureApi } from '../../plan/insecure-api.ts'
import type { Refusal } from '../../plan/plan.ts'
import { planId } from '../../plan/plan-id.ts'
import { type Begun, execute, firstEntry, journalFor, refuseAll } from '../execute.ts'
import type { Journal } from '../journal/write-journal.ts'
import { ClusterRun, type ClusterRunOptions } from './cluster-run.ts'
import { type LeaseLock, takeLeaseLock } from './lease-lock.ts'
import { findAgain } from './recheck.ts'

/** A plan of a cluster: made just now, or read from a file. */
type ReviewedClusterPlan = Pick<ClusterPlan, 'cluster' | 'createdAt' | 'volctlVersion' | 'operations' | 'refused'>

export interface ClusterApplyOptions extends ClusterRunOptions {
  /** The look at this cluster that the plan was made or checked by. */
  readonly looked?: Before
  /** Opened before the first change. */
  openJournal(): Journal
  /** Where the plan was read from. */
  readonly planFile?: string
}

/**
 * @throws VolctlError Locked, OtherCluster, JournalFailed, SafetyRefusal, or a failed look; then nothing was changed
 */
export async function applyCluster(
  client: KubeClient,
  plan: ReviewedClusterPlan,
  settings: ClusterApplyOptions,
  onEvent: (event: ApplyEvent) => void,
): Promise<ClusterApplyResult> {
  const id = planId(plan)
  if (plan.refused !== undefined) return refuseAll(id, plan, plan.refused, onEvent)
  const insecure = refuseInsecureApi(client, settings.options)
  if (insecure !== undefined) throw new SafetyRefusal('S34', insecure)
  await using lock = await takeLeaseLock(client, settings)
  if (lock.takenOverFrom !== undefined)
    onEvent(
      note(`took over the lease of an apply that died: ${lock.takenOverFrom}`, {
        code: 'Locked',
        hint: marked('`volctl journal` on that machine lists the operations that it began and did not finish.'),
      }),
    )
  const begun = await begin(id, client, plan, settings, lock, onEvent)
  if ('code' in begun) return refuseAll(id, plan, begun, onEvent)
  return await execute(id, begun, onEvent)
}

/** A separate function: memory then keeps of the look only what the run keeps. That of a large cluster takes most of it. */
async function begin(
  id: string,
  client: KubeClient,
  plan: ReviewedClusterPlan,
  settings: ClusterApplyOptions,
  lock: LeaseLock,
  emit: (event: ApplyEvent) => void,
): Promise<Begun<ClusterOperation, ClusterPlan> | Refusal> {
  const { options, looked, signal, planFile } = settings
  const { nodeGone, acceptOutage, acceptInsecureApi } = options
  const { cluster, operations } = plan
  const read = await readCluster({ client, signal })
  const changes = looked && changesBetween(looked, read)
  const state: ClusterState = { ...read, controller: { ...read.controller, changes } }
  requireSameCluster(plan, state)
  const fresh = planCluster(state, options)
  if (fresh.refused !== undefined) return fresh.refused
  const found = operations.map(findAgain(fresh, state))
  const first = firstEntry(id, plan, {
    // A journal of a node names the node here.
    node: cluster.server,
    rootDir: '',
    cluster,
    guards: { nodeGone, acceptOutage, acceptInsecureApi },
    planFile,
    leaseTakenOverFrom: lock.takenOverFrom,
  })
  const journal = journalFor(found, settings.openJournal, first)
  const run = new ClusterRun({ ...settings, client, lock, journal, emit }, state)
  return {
    ...{ what: 'cluster', fresh, found, run },
    // No function here names the look, which it would keep.
    runAll: () => runAll(operations, run),
    lookAfter: async () => {
      run.forget()
      return planCluster(await readCluster({ client }), options)
    },
  }
}

/** By the UID of kube-system; by the address where one of both does not have it. */
function requireSameCluster({ cluster }: ReviewedClusterPlan, { clusterUID: uid, server }: ClusterState): void {
  const isSame = cluster.uid === undefined || uid === undefined ? cluster.server === server : cluster.uid === uid
  if (isSame) return
  const nameOf = (of: { readonly server: string; readonly uid?: string }): string =>
    `${of.server}${of.uid === undefined ? '' : ` (${of.uid})`}`
  throw new VolctlError(said('OtherCluster.plan', { planned: nameOf(cluster), connected: nameOf({ server, uid }) }))
}

/** As many as an external attacher attends to at once by default (--worker-threads). */
const MOST_WAITING = 10

/** One is looked at and changed at a time; for the external attacher several wait at once. */
async function runAll(operations: readonly ClusterOperation[], run: ClusterRun): Promise<void> {
  const waiting = new Map<string, Promise<void>>()
  try {
    for (const operation of operations) {
      if (run.outcomes.has(operation.id)) continue
      for (const before of operation.after) await waiting.get(before)
      while (waiting.size >= MOST_WAITING) await Promise.race(waiting.values())
      // An attach comes only after the detach elsewhere has really ended.
      const because = operation.after.find((id) => !isFulfilled(run.outcomes.get(id) ?? { state: 'failed' }))
      if (run.stop !== undefined) run.settleFailed(operation, run.stop)
      else if (run.isInterrupted) run.settleInterrupted(operation)
      else if (because !== undefined) run.settleSkipped(operation, because)
      else {
        const { ended } = await run.run(operation)
        waiting.set(
          operation.id,
          ended.finally(() => waiting.delete(operation.id)),
        )
      }
    }
  } finally {
    await Promise.all(waiting.values())
  }
}
