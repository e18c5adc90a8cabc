/** A cluster during an apply: the whole look at its beginning, and what was read again since then in the place of the same. */
import { omitUndefined } from '../../base/omit-undefined.ts'
import { type ClusterFacts, clusterFacts } from '../context/cluster-context.ts'
import { changesBetween, lookedAt } from '../controller/between-looks.ts'
import { controllerState } from '../controller/controller-state.ts'
import type { ClusterAttachment, ClusterState } from '../model/cluster-state.ts'
import { newestWrites } from '../read/controller-writes.ts'
import type { RowReading } from './read-row.ts'

export class ClusterCache {
  state: ClusterState
  facts: ClusterFacts
  readonly #settleMs: number

  constructor(state: ClusterState, settleMs: number) {
    this.state = state
    this.facts = clusterFacts(state, settleMs)
    this.#settleMs = settleMs
  }

  /**
   * The lease stays that of the first look: one that was renewed since then shows that a controller lives, whatever the clocks say. Signs
   * of an earlier look stay signs.
   */
  update({ lists, capturedAt, lease, writes, driversOnNodes = this.facts.driversOnNodes }: RowReading): void {
    const before = this.state
    const { controller } = before
    const again = Object.fromEntries(lists.map(({ list, records }) => [list, records]))
    const { nodes = [], attachments = [] } = again as Partial<ClusterState>
    const uids = new Set([...nodes, ...attachments].map(({ uid }) => uid))
    const isAgain = ({ uid }: { readonly uid: string }): boolean => uids.has(uid)
    const known = lookedAt({ nodes: before.nodes.filter(isAgain), attachments: before.attachments.filter(isAgain) })
    const changes = changesBetween(known, { nodes, attachments })
    this.state = {
      ...before,
      capturedAt,
      controller: {
        ...omitUndefined({ lease: lease && (controller.lease ?? lease), leaseAtEnd: controller.lease && lease }),
        ...omitUndefined({ otherLeases: controller.otherLeases }),
        writes: newestWrites([...(controller.writes ?? []), ...writes]),
        changes: [...new Set([...(controller.changes ?? []), ...changes])],
      },
      ...Object.fromEntries(
        lists.flatMap(({ list, records, replaces }) => {
          const known = before[list]
          // A list that is not readable stays so.
          if (known === undefined) return []
          return [[list, replaced<unknown>(known, records, replaces as (each: unknown) => boolean)]]
        }),
      ),
    }
    this.facts = { controller: this.#judged({ ...this.state, nodes, attachments }), driversOnNodes }
  }

  /** Whoever was dead is asked again, by what was read again. That kubelets are heard (5.) the first look has shown for all. */
  #judged(state: ClusterState): ClusterFacts['controller'] {
    const { controller } = this.facts
    return controller.state === 'dead' ? controllerState(state, this.#settleMs, { isHeard: true }) : controller
  }

  /** @param record undefined: there is none of this name any more */
  putAttachment(name: string, record: ClusterAttachment | undefined): void {
    const records = record === undefined ? [] : [record]
    const attachments = replaced(this.state.attachments, records, (each) => each.name === name)
    this.state = { ...this.state, attachments }
  }

  /** Nothing is run any more. The look at what is left takes as much memory again. */
  forget(): void {
    this.state = { ...this.state, nodes: [], pods: [], claims: [], volumes: [], attachments: [] }
  }
}

function replaced<T>(before: readonly T[], records: readonly T[], replaces: (each: T) => boolean): readonly T[] {
  return before.filter((each) => !replaces(each)).concat(records)
}
