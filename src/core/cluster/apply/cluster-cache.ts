/** A cluster during an apply: the whole look at its beginning, and what was read again since then in the place of the same. */
import { defined } from '../../lang/defined.ts'
import { type ClusterFacts, clusterFacts } from '../context/cluster-context.ts'
import { changesBetween, lookedAt } from '../controller/between-looks.ts'
import { controllerState } from '../controller/controller-state.ts'
import type { ClusterAttachment, ClusterState } from '../model/cluster-state.ts'
import { newestWrites } from '../read/controller-writes.ts'
import type { Again, RowReading } from './read-row.ts'

export class ClusterCache {
  state: ClusterState
  facts: ClusterFacts
  readonly #settleMs: number

  constructor(state: ClusterState, settleMs: number) {
    this.state = state
    this.facts = clusterFacts(state, settleMs)
    this.#settleMs = settleMs
  }

  update({ capturedAt, controller: read, lost, driver, ...lists }: RowReading): void {
    const before = this.state
    const { nodes, attachments } = lists
    const known = lookedAt({
      nodes: before.nodes.filter(nodes.replaces),
      attachments: before.attachments.filter(attachments.replaces),
    })
    const changes = changesBetween(known, { nodes: nodes.records, attachments: attachments.records })
    const controller = controllerEvidence(before, { ...read, changes })
    const lostNodes = before.lostNodes?.filter(({ name }) => name !== lost.name)
    this.state = {
      ...before,
      ...{ capturedAt, controller },
      nodes: replaced(before.nodes, nodes),
      pods: replaced(before.pods, lists.pods),
      claims: replaced(before.claims, lists.claims),
      volumes: replaced(before.volumes, lists.volumes),
      attachments: replaced(before.attachments, attachments),
      ...defined({ lostNodes: lostNodes && (lost.leaseRenewTime === undefined ? lostNodes : [...lostNodes, lost]) }),
      ...(driver && { drivers: driver.drivers, attachers: replaced(before.attachers, driver.attachers) }),
    }
    this.facts = {
      controller: this.#judged({ ...this.state, nodes: nodes.records, attachments: attachments.records }),
      driversOnNodes: driver?.onNodes ?? this.facts.driversOnNodes,
    }
  }

  /** Whoever was dead is asked again, by what was read again. That kubelets are heard (5.) the first look has shown for all. */
  #judged(state: ClusterState): ClusterFacts['controller'] {
    const { controller } = this.facts
    return controller.state === 'dead' ? controllerState(state, this.#settleMs, { isHeard: true }) : controller
  }

  /** @param record undefined: there is none of this name any more */
  putAttachment(name: string, record: ClusterAttachment | undefined): void {
    const records = record === undefined ? [] : [record]
    const attachments = replaced(this.state.attachments, { records, replaces: (each) => each.name === name })
    this.state = { ...this.state, attachments }
  }

  /** Nothing is run any more. The look at what is left takes as much memory again. */
  forget(): void {
    this.state = { ...this.state, nodes: [], pods: [], claims: [], volumes: [], attachments: [] }
  }
}

function replaced<T>(before: readonly T[], { records, replaces }: Again<T>): readonly T[] {
  return before.filter((each) => !replaces(each)).concat(records)
}

/**
 * Against the lease of the first look: one that was renewed since then shows that a controller lives, whatever the clocks say. Signs of
 * an earlier look stay signs.
 */
function controllerEvidence(
  { controller: before }: Pick<ClusterState, 'controller'>,
  now: ClusterState['controller'],
): ClusterState['controller'] {
  const { lease } = before
  const writes = newestWrites([...(before.writes ?? []), ...(now.writes ?? [])])
  const changes = [...new Set([...(before.changes ?? []), ...(now.changes ?? [])])]
  const signs = {
    ...defined({ otherLeases: before.otherLeases }),
    ...(writes.length > 0 && { writes }),
    ...(changes.length > 0 && { changes }),
  }
  if (now.lease === undefined || lease === undefined) return { ...now, ...signs }
  return { lease, leaseAtEnd: now.lease, ...signs }
}
