/**
 * Every volume on every node as the attach/detach controller knows it: who wants it there, whether it is attached and in use, and what
 * the plan says of it. From the same reading, and by the same pass, as a plan. Pure.
 */

import { append } from '../../lang/append.ts'
import { compareText } from '../../lang/compare-text.ts'
import { counted } from '../../lang/counted.ts'
import { defined } from '../../lang/defined.ts'
import type {
  ClusterBlocked,
  ClusterOptions,
  ClusterPlan,
  ClusterProblem,
  ClusterVolumeRef,
} from '../../plan/cluster-plan.ts'
import type { ClusterStatus, ClusterStatusRow, ClusterVerdict } from '../../plan/cluster-status.ts'
import { causesInOrder, partOf } from '../../plan/part-of-plan.ts'
import type { PodRef } from '../../plan/plan.ts'
import { type ClusterSubject, rowsOf as keysOf, type RowKey } from '../../plan/subject.ts'
import { CLUSTER_VERDICTS } from '../../plan/verdict-states.ts'
import { attachedRef } from '../context/attached-ref.ts'
import { type ClusterContext, clusterContext } from '../context/cluster-context.ts'
import { ClusterFindings, podRef } from '../context/findings.ts'
import type { ClusterRow } from '../ledger/cluster-row.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { volumeRef } from '../model/known-volume.ts'
import { isOfVolume } from '../pass/filter-operations.ts'
import { podsGiven } from '../pass/given-pods.ts'
import { planOver } from '../pass/plan-cluster.ts'
import { reportUnmatchedNames } from '../pass/unmatched-names.ts'

export interface ClusterAnswer {
  readonly status: ClusterStatus
  /** That it was made with; as far as it is about the rows, where names leave something out. */
  readonly plan: ClusterPlan
  /** Names that nothing has. */
  readonly unmatched: readonly ClusterProblem[]
}

/** What would leave something out. */
function unnarrowed(options: ClusterOptions): ClusterOptions {
  const { nodes: _, pods: __, namespaces: ___, volumes: ____, ...whole } = options
  return whole
}

/** @param options those of a plan; what they narrow is left out of the answer, and changes no verdict */
export function clusterStatus(state: ClusterState, options: ClusterOptions): ClusterAnswer {
  const planned = clusterContext(state, unnarrowed(options))
  const plan = planOver(planned)
  const context = { ...planned, options }
  const named = new ClusterFindings()
  reportUnmatchedNames(context, named)
  const verdicts = new Verdicts(plan)
  const all = rowsOf(context, verdicts)
  const isNamed = narrowing(context)
  const own = all.filter(({ row }) => isNamed(row)).toSorted((a, b) => worstFirst(a.row, b.row))
  const rows = own.map(({ row }) => row)
  const { cluster, createdAt, volctlVersion, inputs, complete, refused, problems } = plan
  const told = rows.length === all.length ? plan : partOf(plan, new Set(own.flatMap(({ key }) => verdicts.said(key))))
  return {
    status: {
      apiVersion: 'volctl.io/v1',
      kind: 'Status',
      scope: 'cluster',
      ...{ cluster, createdAt, volctlVersion, controller: inputs.controller, rows },
      summary: {
        volumes: rows.length,
        verdicts: counted(rows.map(({ verdict }) => verdict.state)),
        filtered: all.length - rows.length,
        problems: problems.length,
      },
      complete,
      ...defined({ causes: told.summary.causes, refused }),
    },
    plan: told,
    unmatched: named.problems,
  }
}

function worstFirst(a: ClusterStatusRow, b: ClusterStatusRow): number {
  return (
    CLUSTER_VERDICTS.indexOf(a.verdict.state) - CLUSTER_VERDICTS.indexOf(b.verdict.state) ||
    compareText(a.node, b.node) ||
    compareText(a.volume.name, b.volume.name)
  )
}

function narrowing(context: ClusterContext): (row: ClusterStatusRow) => boolean {
  const { nodes, volumes, namespaces } = context.options
  const uids = podsGiven(context)?.uids
  const isIn = ({ namespace = '' }: PodRef): boolean => namespaces?.includes(namespace) === true
  return ({ node, volume, pods, attachments }) =>
    (!nodes?.length || nodes.includes(node)) &&
    (!volumes?.length || isOfVolume(volume, volumes, attachments)) &&
    (uids === undefined || pods.some(({ uid }) => uids.has(uid))) &&
    (!namespaces?.length || pods.some(isIn) || namespaces.includes(volume.claim?.split('/', 1)[0] ?? ''))
}

interface Judged {
  readonly key: RowKey
  readonly row: ClusterStatusRow
}

/** Of the ledger's rows those of volumes. */
function rowsOf(context: ClusterContext, verdicts: Verdicts): Judged[] {
  const all = context.ledger.all.filter(({ unresolved }) => unresolved === undefined)
  return all.flatMap((row) => {
    const unjudged = statusOf(context, row)
    return unjudged === undefined ? [] : [{ key: row.key, row: verdicts.judged(row.key, unjudged) }]
  })
}

function statusOf(
  { actual, desired }: ClusterContext,
  { node = '', uniqueName, volume, want, attached }: ClusterRow,
): Unjudged | undefined {
  const [first] = attached
  const confirmed = uniqueName !== undefined && actual.isConfirmed(node, uniqueName)
  const inUse = uniqueName !== undefined && actual.isInUse(node, uniqueName)
  // Nothing ever attaches it: it is no business of the controller.
  const isOthers = want?.pods.length === 0 && want.others.every(({ why }) => why === 'NotAttachable')
  if (isOthers && first === undefined && !confirmed && !inUse) return undefined
  const wanted = want?.pods ?? []
  const others = (want?.others ?? []).map(({ pod }) => pod)
  const ended = uniqueName === undefined ? [] : desired.endedOn(node, uniqueName)
  const pods = [wanted, others, ended].find((each) => each.length > 0) ?? []
  return {
    node,
    volume: first !== undefined ? attachedRef(first, actual) : volume ? volumeRef(volume) : nameless(uniqueName ?? ''),
    desired: wanted.length > 0 ? 'wanted' : others.length > 0 ? 'held' : ended.length > 0 ? 'ended' : 'notWanted',
    pods: pods.map(podRef),
    attachments: attached.map(({ object: { name, attached: isAttached, deletedAt } }) => ({
      ...{ name, attached: isAttached === true, deleting: deletedAt !== undefined },
    })),
    ...{ confirmed, inUse },
  }
}

function nameless(uniqueName: string): ClusterVolumeRef {
  return { name: uniqueName, uniqueName, plugin: uniqueName.split('/').slice(0, 2).join('/') }
}

type Unjudged = Omit<ClusterStatusRow, 'verdict' | 'operations' | 'causes'>

/** An operation, wait or problem of the plan. */
interface Said {
  readonly finding: { readonly cause?: string; readonly blocked?: ClusterBlocked; readonly id?: string }
  readonly verdict: ClusterVerdict
}

/** What the plan says, by the row that it says it of. */
class Verdicts {
  readonly #said = new Map<RowKey, Said[]>()
  readonly #plan: ClusterPlan
  readonly #inOrder: ReturnType<typeof causesInOrder>

  constructor(plan: ClusterPlan) {
    this.#plan = plan
    this.#inOrder = causesInOrder(plan)
    for (const operation of plan.operations) {
      const { subject, blocked, reason, message, rule } = operation
      const { cause: _, ...why } = { ...blocked }
      const verdict = { state: 'blocked', code: reason, message, rule, ...why } as const
      this.#add(subject, {
        finding: operation,
        verdict: blocked === undefined ? { ...verdict, state: 'operation' } : verdict,
      })
    }
    for (const wait of plan.waiting) {
      const { subject, code, message, hint, rule } = wait
      const verdict = { state: 'waiting', code, message, ...defined({ hint }), rule } as const
      this.#add(subject, { finding: wait, verdict })
    }
    for (const problem of plan.problems) {
      const { severity, code, message, hint, subject } = problem
      if (severity === 'info') continue
      const verdict = { state: severity, code, message, ...defined({ hint }) }
      this.#add(subject, { finding: problem, verdict })
    }
  }

  #add(subject: ClusterSubject | undefined, said: Said): void {
    for (const key of keysOf(subject)) append(this.#said, key, said)
  }

  #of(key: RowKey): readonly Said[] {
    return this.#said.get(key) ?? []
  }

  /** The findings that are about a row. */
  said(key: RowKey): object[] {
    return this.#of(key).map(({ finding }) => finding)
  }

  /** With the worst of what is said. */
  judged(key: RowKey, row: Unjudged): ClusterStatusRow {
    const said = this.#of(key)
    const rank = ({ verdict: { state } }: Said): number => CLUSTER_VERDICTS.indexOf(state)
    const [worst] = said.toSorted((a, b) => rank(a) - rank(b))
    return {
      ...row,
      verdict: worst?.verdict ?? this.#unsaid(row),
      operations: said.flatMap(({ finding: { id } }) => id ?? []),
      causes: this.#inOrder(said.flatMap(({ finding: { cause, blocked } }) => blocked?.cause ?? cause ?? [])),
    }
  }

  #unsaid({ desired, attachments, confirmed }: Unjudged): ClusterVerdict {
    const isAttached = confirmed || attachments.some(({ attached, deleting }) => attached && !deleting)
    if (isAttached && desired === 'wanted') return { state: 'good', message: 'wanted and attached' }
    if (!this.#plan.complete)
      return { state: 'unknown', message: 'not everything that the verdict depends on could be read' }
    if (desired === 'wanted')
      return { state: 'unknown', message: 'wanted and not attached, and the plan does not say why' }
    return { state: 'good', message: desired === 'held' ? 'kept for its pods' : 'the plan leaves the volume as it is' }
  }
}
