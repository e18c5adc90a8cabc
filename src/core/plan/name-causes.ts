/**
 * From findings to causes, in either scope. What is blocked, waits or is wrong has a code, and the code a kind of cause; what it is about
 * is the finding's own. A finding whose cause is something else says so where it is made (`because`). What merely follows has the cause of
 * what it follows from.
 */

import { append, once } from '../base/collections.ts'
import { CAUSE_KINDS, type CauseKind } from '../messages/code-entry.ts'
import { type Code, causeOf, entryOf, remedyOf } from '../messages/codes.ts'
import { Advice, partsOf } from '../messages/command.ts'
import {
  type Because,
  type Blocked,
  type CauseSubject,
  type PodRef,
  type RowKey,
  rowOf,
  rowsOf,
  type Subject,
} from '../volumes/finding.ts'
import type { Cause } from './cause.ts'
import type { AnyOperation, AnyPlan, AnyWaiting, ClusterAbout, ClusterProblem } from './cluster-plan.ts'
import { shownVolume } from './names.ts'
import type { Operation, PlanSummary, Problem, Severity, Waiting } from './plan.ts'
import { summaryOf } from './plan-summary.ts'

/** What is said with a finding, and what it names. */
interface Finding extends Pick<Blocked, 'message' | 'args' | 'hint' | 'users'> {
  readonly from: 'operation' | 'wait' | 'problem'
  /** The operation's id. */
  readonly operation?: string
  readonly code: Code
  readonly because?: Because
  /** Of a problem. */
  readonly severity?: Severity
  readonly until?: string
  readonly subject: CauseSubject
  /** Whose it is: two volumes may go by one name. */
  readonly whose?: Subject
  /** Where the code's cause is a driver: which. */
  readonly driver?: string
  /** Where it is a pod: which. */
  readonly pod?: PodRef
  readonly pods: readonly PodRef[]
  readonly volume: string | undefined
}

type Names = Pick<Finding, 'subject' | 'whose' | 'driver' | 'pod' | 'pods' | 'volume'>

/** What has one cause, in the order in which it was found. */
interface Group extends Pick<Cause, 'key' | 'kind' | 'subject'> {
  severity: Severity
  readonly own: Finding[]
  /** What hangs on it. */
  readonly affected: Finding[]
}

/** Collects causes; findings are added in the plan's order. */
class Causes {
  readonly #byKey = new Map<string, Group>()
  readonly #ofRow = new Map<RowKey, Group[]>()

  /** @param before key of the cause of what it comes after; absent: it has its own @returns the key of the finding's cause */
  add(finding: Finding, before = ''): string {
    const group = this.#byKey.get(before) ?? this.#ownOf(finding)
    if (group.key === before || finding.from !== 'problem') group.affected.push(finding)
    for (const row of rowsOf(finding.whose)) append(this.#ofRow, row, group)
    return group.key
  }

  #ownOf(finding: Finding): Group {
    const { because = {}, from } = finding
    const { code = finding.code, subject, whose = subject === undefined ? finding.whose : undefined } = because
    const kind = causeOf(code) ?? 'failed'
    const about = subject ?? subjectOf(kind, finding)
    const key = `${kind}:${CAUSE_KINDS[kind].oneEach ? '' : `${code}:`}${subjectKey(about, rowOf(whose))}`
    const made: Group = { key, kind, subject: about, severity: 'info', own: [], affected: [] }
    const group = once(this.#byKey, key, () => made)
    const severity = from === 'problem' ? (finding.severity ?? 'warning') : CAUSE_KINDS[kind].passes ? 'info' : 'error'
    if (RANK[severity] < RANK[group.severity]) group.severity = severity
    group.own.push(finding)
    return group
  }

  /** Of what is said of the row the worst that needs a person; undefined: it all passes. */
  worstOf(row: RowKey): string | undefined {
    const [worst] = (this.#ofRow.get(row) ?? []).toSorted((a, b) => RANK[a.severity] - RANK[b.severity])
    return worst?.severity === 'info' ? undefined : worst?.key
  }

  /** Those that stop most come first. */
  all(): Cause[] {
    return [...this.#byKey.values()]
      .map(causeFrom)
      .toSorted((a, b) => RANK[a.severity] - RANK[b.severity] || weightOf(b) - weightOf(a))
  }
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

function weightOf({ affects: { operations, waiting } }: Cause): number {
  return operations.length + waiting
}

function subjectOf(kind: CauseKind, { from, code, driver, pod, subject }: Finding): CauseSubject {
  const { of } = CAUSE_KINDS[kind]
  if (kind === 'driver' && driver !== undefined) return { driver }
  if (of === 'pod' && pod !== undefined) return { pod }
  if (of !== 'node' || from === 'problem') return subject
  // Of a cluster.
  return subject.nodes !== undefined && entryOf(code)?.ofNode ? { nodes: subject.nodes } : {}
}

/** @param row of a volume of a node: two may go by one name */
function subjectKey({ pod, volume, nodes, ...rest }: CauseSubject, row: RowKey | undefined): string {
  const name = volume !== undefined && nodes === undefined ? (row ?? volume) : volume
  return [pod?.uid, name, ...Object.values(rest), nodes?.join()].filter((part) => part !== undefined).join('/')
}

function causeFrom({ own, affected, ...is }: Group): Cause {
  const says = own.reduce((most, each) => (weightOfWords(each) > weightOfWords(most) ? each : most))
  // The finding that says most knows best what to do, by its code where it has no hint.
  const [advises = { remedy: [] }] = [says, ...own].flatMap((each) => adviceOf(each) ?? [])
  const users = new Map(own.flatMap((each) => each.users ?? []).map((user) => [user.pid, user]))
  const pods = new Map(affected.flatMap((each) => each.pods).map((pod) => [pod.uid, pod]))
  return {
    ...is,
    code: says.code,
    message: says.message,
    args: says.args,
    ...(users.size > 0 && { users: [...users.values()] }),
    ...advises,
    affects: {
      operations: affected.flatMap(({ operation }) => operation ?? []),
      waiting: own.filter(({ from }) => from === 'wait').length,
      pods: [...pods.values()],
      volumes: [...new Set(affected.flatMap(({ pods, volume }) => (pods.length === 0 ? (volume ?? []) : [])))],
    },
    until: own
      .flatMap(({ until }) => until ?? [])
      .toSorted()
      .at(-1),
    byStart: own.find(({ because }) => because?.byStart)?.because?.byStart,
  }
}

/** A command that stands for those of several causes is data. */
function adviceOf({ code, hint = remedyOf(code) }: Finding): Pick<Cause, 'remedy' | 'command'> | undefined {
  if (hint === undefined) return undefined
  const last = partsOf(hint).at(-1)
  if (typeof hint === 'string' || !hint.isAlike || typeof last !== 'object') return { remedy: [hint] }
  const says = `${new Advice(hint.parts.slice(0, -1))}`.trimEnd()
  const argv = last.argv.filter((word) => typeof word === 'string')
  const command = argv.length === last.argv.length ? { argv, first: hint.first } : undefined
  return { remedy: [says, new Advice([last])], command }
}

/** An error is about the thing itself; an operation or a wait says what is needed; a warning or note is beside it. */
function weightOfWords({ from, severity, because }: Finding): number {
  // What only follows never speaks for what it follows from.
  if (because?.follows) return 0
  return severity === 'error' ? 4 : { operation: 3, wait: 2, problem: 1 }[from]
}

type Parts<Of> = Of extends AnyPlan ? Pick<Of, 'operations' | 'waiting' | 'problems'> : never

/**
 * The same findings, each with the key of its cause; their counts, and the causes, those that stop most first. An operation that waits
 * for a blocked one has the cause of that one.
 *
 * @param filtered how many findings were left out by flags
 */
export function withCauses<Of extends Parts<AnyPlan>>(
  { operations, waiting, problems }: Of,
  filtered: number,
): Of & { readonly summary: PlanSummary } {
  const causes = new Causes()
  const keys = new Map<string, string>()
  const named = operations.map((operation: AnyOperation) => {
    const { id, after, blocked } = operation
    if (blocked === undefined) return operation
    const follows = causeOf(blocked.code) === 'follows'
    const before = follows ? after.map((each) => keys.get(each)).find((key) => key !== undefined) : undefined
    const key = causes.add({ ...blocked, ...ofWork(operation), from: 'operation', operation: id }, before)
    keys.set(id, key)
    return { ...operation, blocked: withKey(blocked, key) }
  })
  const waits = waiting.map((wait: AnyWaiting) => withKey(wait, causes.add({ ...wait, ...ofWork(wait), from: 'wait' })))
  const found = problems.map(
    (each: Problem | ClusterProblem): Finding => ({ ...each, ...ofProblem(each), from: 'problem' }),
  )
  // What may follow from something else of its row comes after all that is said of the row.
  const own = new Map(found.map((each) => [each, each.because?.row === undefined ? causes.add(each) : undefined]))
  const keyOf = (finding: Finding): string =>
    own.get(finding) ?? causes.add(finding, causes.worstOf(finding.because?.row ?? ''))
  const parts = {
    operations: named,
    waiting: waits,
    problems: found.map((finding, index) => withKey(problems[index] as Problem, keyOf(finding))),
  }
  const all = causes.all()
  const summary = { ...summaryOf(parts, filtered), ...(all.length > 0 && { causes: all }) }
  return { ...parts, summary } as unknown as Of & { readonly summary: PlanSummary }
}

function withKey<T extends Pick<Finding, 'code' | 'hint' | 'because'>>(finding: T, cause: string): T {
  const { because: _, ...rest } = finding
  const { code, hint = remedyOf(code) } = finding
  return { ...(rest as T), hint, cause }
}

type Work = Pick<Operation | Waiting, 'pod' | 'volume' | 'subject'> & Pick<Operation, 'attachment'>

function ofWork(work: AnyOperation | AnyWaiting): Names {
  const { subject: whose, volume } = work
  const driver = volume?.driver
  if (!('node' in work)) {
    const pods = work.pod === undefined ? [] : [work.pod]
    return { whose, driver, subject: namedBy(work), pod: work.pod, pods, volume: volume && shownVolume(work) }
  }
  const { node, pods, attachment } = work
  const name = volume?.name ?? (typeof attachment === 'string' ? attachment : 'a volume')
  const subject = { volume: name, nodes: [node] }
  return { whose, driver, subject, pods, volume: `${name} on node ${node}` }
}

function namedBy({ pod, volume, attachment }: Work): CauseSubject {
  if (volume !== undefined) return { volume: shownVolume({ volume, pod }), pod }
  return pod === undefined ? { attachment: attachment?.name } : { pod }
}

/** For what follows from a blocked operation, and is not an operation itself. */
export function followsFrom(work: Work, { code, because }: Blocked & { readonly because?: Because }): Because {
  const driver = causeOf(code) === 'driver' ? work.volume?.driver : undefined
  const subject = driver === undefined ? namedBy(work) : { driver }
  return { code, subject, whose: work.subject, ...because, follows: true }
}

interface AnyAbout extends Omit<Problem['about'], 'volume'>, Omit<ClusterAbout, 'volume'> {
  readonly volume?: string | NonNullable<ClusterAbout['volume']>
}

function ofProblem({ about, subject: whose }: Problem | ClusterProblem): Names {
  const { driver, volume, nodes, pods = [], pod: uid, podRef, ...others }: AnyAbout = about
  const pod = podRef ?? (uid === undefined ? pods[0] : { uid })
  // Of all that is named what it is a fact about.
  const named = Object.entries({ ...others, pod, nodes }).filter(([, value]) => value !== undefined)
  const subject: CauseSubject =
    typeof volume === 'object'
      ? { volume: volume.name, ...(nodes?.length === 1 && { nodes }) }
      : driver !== undefined
        ? { driver }
        : volume === undefined
          ? Object.fromEntries(named.slice(0, 1))
          : { volume, pod }
  return { whose, pod, driver, pods, subject, volume: undefined }
}
