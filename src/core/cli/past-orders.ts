/**
 * Nodes that earlier applies from here were told are gone. Once such an apply has done its work, or was killed half-way, nothing may name
 * the node any more, though the order is still right for what is left: the name is no typing error.
 */

import type { ClusterState } from '../cluster/model/cluster-state.ts'
import { isSameCluster } from '../cluster/model/same-cluster.ts'
import { nodesNamedNowhere } from '../cluster/pass/unmatched-names.ts'
import { VolctlError } from '../errors/errors.ts'
import type { PastApply } from '../journal/past-applies.ts'
import { readJournal } from '../journal/read-journal.ts'
import { stateDirectory } from '../journal/state-directory.ts'
import type { ClusterOptions } from '../plan/cluster-plan.ts'

/** Of more applies, and of longer lines, nobody repeats the order. */
const READ = { last: 500, plan: '', operation: '', maxKept: 64 * 1024 * 1024 }

/**
 * The same options, with those nodes that nothing in the cluster names and that the journal knows. It is read only for such a name; one
 * that cannot be read knows nothing.
 *
 * @param journalDir absent: where applies of the caller write it
 */
export function withPastOrders(
  options: ClusterOptions,
  state: ClusterState,
  journalDir: string | undefined,
  log: (line: string) => void,
): ClusterOptions {
  const unknown = nodesNamedNowhere(state, options.nodeGone ?? [])
  if (unknown.length === 0) return options
  const told = nodesToldGone(state, journalDir, log)
  const goneBefore = unknown.filter((name) => told.has(name))
  return goneBefore.length === 0 ? options : { ...options, goneBefore }
}

function nodesToldGone(
  state: ClusterState,
  journalDir: string | undefined,
  log: (line: string) => void,
): ReadonlySet<string> {
  try {
    const { applies } = readJournal(journalDir ?? stateDirectory(), READ)
    return new Set(applies.filter((apply) => isOf(state, apply)).flatMap(nodesGivenTo))
  } catch (error) {
    if (!(error instanceof VolctlError)) throw error
    log(`past applies are not known: ${error.message}`)
    return new Set()
  }
}

/** A node of the same name in another cluster is another node. */
function isOf(state: ClusterState, { cluster }: PastApply): boolean {
  return cluster !== undefined && isSameCluster(state, cluster)
}

/** Of any version of volctl. */
function nodesGivenTo({ guards }: PastApply): string[] {
  const { nodeGone } = (guards ?? {}) as { readonly nodeGone?: unknown }
  return Array.isArray(nodeGone) ? nodeGone.filter((name) => typeof name === 'string') : []
}
