/**
 * From findings to causes, in either scope. What is blocked, waits or is wrong has a code, and the code a kind of cause; what it is about
 * is the finding's own. A finding whose cause is something else says so where it is made (`because`). What merely follows has the cause of
 * what it follows from.
 */

import { append } from '../base/append.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { CAUSE_KINDS, type CauseKind } from '../messages/code-entry.ts'
import { type Code, causeOf, isOfNode, remedyOf } from '../messages/codes.ts'
import type { Because, Cause, CauseSubject } from './cause.ts'
import type { ClusterOperation, ClusterPlan, ClusterProblem, ClusterWaiting } from './cluster-plan.ts'
import type { Blocked, Operation, Plan, PodRef, Problem, Severity, Waiting } from './plan.ts'
import { shownVolume } from './plan-names.ts'
import { type RowKey, rowOf, rowsOf, type Subject } from './subject.ts'

/** What is said with a finding. */
interface Said {
  readonly code: Code
  readonly message: string
  readonly hint?: string | undefined
  /** Where something is in use: by whom. */
  readonly users?: Cause['users'] | undefined
  readonly because?: Because | undefined
  /** Of a problem. */
  readonly severity?: Severity
  readonly until?: string | undefined
}

/** What a finding names. */
interface Names {
  readonly subject: CauseSubject
  /** Whose it is: two volumes may go by one name. */
  readonly whose?: Subject | undefined
  /** Of an operation or a wait of a cluster, where the code's cause is the node. */
  readonly node?: string
  /** Where the code's cause is a driver: which. */
  readonly driver?: string | undefined
  /** Where it is a pod: which. */
  readonly pod: PodRef | undefined
  readonly pods: readonly PodRef[]
  readonly volume: string | undefined
}

interface Finding extends Said, Names {
  readonly from: 'operation' | 'wait' | 'problem'
  readonly operation?: string
}

/** What comes after something with a cause, or has it. */
type Affected = Pick<Finding, 'operation' | 'pods' | 'volume' | 'whose'>

/** What has one cause, in the order in which it was found. */
interface Group {
  readonly is: Pick<Cause, 'key' | 'kind' | 'subject'>
  severity: Severity
  readonly own: Finding[]
  readonly affected: Affected[]
}

/** Collects causes; findings are added in the plan's order. */
class Causes {
  readonly #byKey = new Map<string, Group>()
  readonly #ofRow = new Map<RowKey, string[]>()

  /** @returns the key of the finding's cause */
  add(finding: Finding): string {
    const { because = {}, whose } = finding
    const code = because.code ?? finding.code
    const kind = causeOf(code) ?? 'failed'
    const subject = because.subject ?? subjectOf(kind, finding)
    const row = because.subject === undefined ? rowOf(whose) : rowOf(because.whose)
    const key = `${kind}:${CAUSE_KINDS[kind].oneEach ? '' : `${code}:`}${subjectKey(subject, row)}`
    const group = this.#byKey.get(key) ?? { is: { key, kind, subject }, severity: 'info', own: [], affected: [] }
    this.#byKey.set(key, group)
    const severity = severityOf(kind, finding)
    if (RANK[severity] < RANK[group.severity]) group.severity = severity
    group.own.push(finding)
    return finding.from === 'problem' ? this.#note(key, finding) : this.follow(key, finding)
  }

  #note(key: string, { whose }: Pick<Finding, 'whose'>): string {
    for (const row of rowsOf(whose)) append(this.#ofRow, row, key)
    return key
  }

  /** Of what is said of the row the worst that needs a person; undefined: it all passes. */
  worstOf(row: RowKey): string | undefined {
    const rankOf = (key: string): number => RANK[this.#byKey.get(key)?.severity ?? 'info']
    const [worst] = (this.#ofRow.get(row) ?? []).toSorted((a, b) => rankOf(a) - rankOf(b))
    return worst === undefined || rankOf(worst) === RANK.info ? undefined : worst
  }

  /** For what has this cause, and comes after something else that has it. */
  follow(key: string, affected: Affected): string {
    this.#byKey.get(key)?.affected.push(affected)
    return this.#note(key, affected)
  }

  /** Those that stop most come first. */
  all(): Cause[] {
    return [...this.#byKey.values()].map(causeFrom).toSorted(compare)
  }
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

function compare(a: Cause, b: Cause): number {
  return RANK[a.severity] - RANK[b.severity] || weightOf(b) - weightOf(a)
}

function weightOf({ affects: { operations, waiting } }: Cause): number {
  return operations.length + waiting
}

function subjectOf(kind: CauseKind, { from, code, driver, pod, subject, node }: Finding): CauseSubject {
  if (kind === 'driver' && driver !== undefined) return { driver }
  if (CAUSE_KINDS[kind].of === 'pod' && pod !== undefined) return { pod }
  if (CAUSE_KINDS[kind].of !== 'node' || from === 'problem') return subject
  return node !== undefined && isOfNode(code) ? { nodes: [node] } : {}
}

/** @param row of a volume of a node: two may go by one name */
function subjectKey({ pod, volume, nodes, ...rest }: CauseSubject, row: RowKey | undefined): string {
  const name = volume !== undefined && nodes === undefined ? (row ?? volume) : volume
  return [pod?.uid, name, ...Object.values(rest), nodes?.join()].filter((part) => part !== undefined).join('/')
}

function causeFrom({ is, severity, own, affected }: Group): Cause {
  const says = own.reduce((most, each) => (weightOfWords(each) > weightOfWords(most) ? each : most))
  // The finding that says most knows best what to do, by its code where it has no hint.
  const advises = [says, ...own].find((each) => adviceOf(each) !== undefined)
  const users = new Map(own.flatMap((each) => each.users ?? []).map((user) => [user.pid, user]))
  const times = own.flatMap(({ until }) => until ?? []).toSorted()
  const pods = new Map(affected.flatMap((each) => each.pods).map((pod) => [pod.uid, pod]))
  return {
    ...is,
    severity,
    ...{ code: says.code, message: says.message },
    ...(users.size > 0 && { users: [...users.values()] }),
    remedy: (advises && adviceOf(advises)) ?? [],
    affects: {
      operations: affected.flatMap(({ operation }) => operation ?? []),
      waiting: own.filter(({ from }) => from === 'wait').length,
      pods: [...pods.values()],
      volumes: [...new Set(affected.flatMap((each) => (each.pods.length === 0 ? (each.volume ?? []) : [])))],
    },
    ...omitUndefined({
      until: times.at(-1),
      command: advises?.because?.command,
      byStart: own.some(({ because }) => because?.byStart) ? true : undefined,
    }),
  }
}

function adviceOf({ code, hint = remedyOf(code), because }: Finding): readonly string[] | undefined {
  return because?.remedy ?? (hint === undefined ? undefined : [hint])
}

/** An error is about the thing itself; an operation or a wait says what is needed; a warning or note is beside it. */
function weightOfWords({ from, severity, because }: Finding): number {
  // What only follows never speaks for what it follows from.
  if (because?.follows) return 0
  if (from === 'operation') return 3
  if (from === 'wait') return 2
  return severity === 'error' ? 4 : 1
}

function severityOf(kind: CauseKind, { from, severity }: Finding): Severity {
  if (from === 'problem') return severity ?? 'warning'
  return CAUSE_KINDS[kind].passes ? 'info' : 'error'
}

interface Parts<Op, Wait, Problem> {
  readonly operations: readonly Op[]
  readonly waiting: readonly Wait[]
  readonly problems: readonly Problem[]
}

/** An operation of either scope, as far as it has a cause. */
interface Blockable {
  readonly id: string
  readonly after: readonly string[]
  readonly blocked?: Said
}

/**
 * The same findings, each with the key of its cause; and the causes, those that stop most first. An operation that waits for a blocked
 * one has the cause of that one.
 */
function nameFindings<Op extends Blockable, Wait extends Said, Problem extends Said>(
  { operations, waiting, problems }: Parts<Op, Wait, Problem>,
  work: (work: Op | Wait) => Names,
  problem: (problem: Problem) => Names,
): Parts<Op, Wait, Problem> & { readonly causes: readonly Cause[] } {
  const causes = new Causes()
  const keys = new Map<string, string>()
  const named = operations.map((operation) => {
    const { id, after, blocked } = operation
    if (blocked === undefined) return operation
    const finding: Finding = { ...blocked, ...work(operation), from: 'operation', operation: id }
    const follows = causeOf(blocked.code) === 'follows'
    const before = follows ? after.map((each) => keys.get(each)).find((key) => key !== undefined) : undefined
    const key = before === undefined ? causes.add(finding) : causes.follow(before, finding)
    keys.set(id, key)
    return { ...operation, blocked: withKey(blocked, key) }
  })
  const waits = waiting.map((wait) => withKey(wait, causes.add({ ...wait, ...work(wait), from: 'wait' })))
  const found = problems.map((each) => ({ each, finding: { ...each, ...problem(each), from: 'problem' } as const }))
  // What may follow from something else of its row comes after all that is said of the row.
  const own = new Map(found.map(({ each, finding }) => [each, each.because?.row === undefined && causes.add(finding)]))
  const follower = (finding: Finding): string => {
    const { because, pods } = finding
    const worst = because?.row === undefined ? undefined : causes.worstOf(because.row)
    return worst === undefined ? causes.add(finding) : causes.follow(worst, { pods, volume: undefined })
  }
  return {
    operations: named,
    waiting: waits,
    problems: found.map(({ each, finding }) => withKey(each, own.get(each) || follower(finding))),
    causes: causes.all(),
  }
}

function withKey<T extends Said>(finding: T, cause: string): T {
  const { because: _, ...rest } = finding
  const { code, hint = remedyOf(code) } = finding
  return { ...(rest as T), ...omitUndefined({ hint }), cause }
}

type Named = { readonly [Name in keyof CauseSubject]: CauseSubject[Name] | undefined }

/** Of all that is named what it is a fact about. */
function subjectAmong({ driver, volume, pod, nodes, ...others }: Named): CauseSubject {
  if (driver !== undefined) return { driver }
  if (volume !== undefined) return { volume, ...omitUndefined({ pod, nodes }) }
  const [one] = Object.entries({ ...others, pod, nodes }).filter(([, value]) => value !== undefined)
  return one === undefined ? {} : Object.fromEntries([one])
}

type PartsOf<Of extends Plan | ClusterPlan> = Pick<Of, 'operations' | 'waiting' | 'problems'>

export function nameCauses(parts: PartsOf<Plan>): PartsOf<Plan> & { readonly causes: readonly Cause[] } {
  return nameFindings(parts, ofWork, ofProblem)
}

/** The same of a cluster, where the subjects are volumes on nodes. */
export function nameClusterCauses(
  parts: PartsOf<ClusterPlan>,
): PartsOf<ClusterPlan> & { readonly causes: readonly Cause[] } {
  return nameFindings(parts, ofClusterWork, ofClusterProblem)
}

type Work = Pick<Operation | Waiting, 'pod' | 'volume' | 'subject'> & Pick<Operation, 'attachment'>

function ofWork(work: Work): Names {
  const { pod, volume, subject: whose } = work
  return {
    ...{ subject: namedBy(work), whose, pod, driver: volume?.driver },
    pods: pod === undefined ? [] : [pod],
    volume: volume && shownVolume(work),
  }
}

function namedBy({ pod, volume, attachment }: Work): CauseSubject {
  if (volume === undefined) return subjectAmong(pod === undefined ? { attachment: attachment?.name } : { pod })
  return subjectAmong({ pod, volume: shownVolume({ volume, pod }) })
}

/** For what follows from a blocked operation, and is not an operation itself. */
export function followsFrom(work: Work, { code, because }: Blocked & { readonly because?: Because }): Because {
  const driver = causeOf(code) === 'driver' ? work.volume?.driver : undefined
  const subject = driver === undefined ? namedBy(work) : { driver }
  return { code, subject, whose: work.subject, ...because, follows: true }
}

function ofProblem({ about, subject: whose }: Problem): Names {
  const { podRef, pod: uid, volume, path, driver } = about
  const pod = podRef ?? (uid === undefined ? undefined : { uid })
  return {
    ...{ whose, pod, driver },
    pods: [],
    volume: undefined,
    subject: subjectAmong({ driver, volume, pod, path }),
  }
}

function ofClusterWork({ pods, volume, attachment, node, subject: whose }: ClusterOperation | ClusterWaiting): Names {
  const name = volume?.name ?? (typeof attachment === 'string' ? attachment : 'a volume')
  return {
    ...{ whose, node, pods, pod: undefined, driver: volume?.driver },
    subject: { volume: name, nodes: [node] },
    volume: `${name} on node ${node}`,
  }
}

function ofClusterProblem({ about, subject: whose }: ClusterProblem): Names {
  const { volume, pods = [], nodes, driver, ...others } = about
  const [pod] = pods
  const one = nodes?.length === 1 ? nodes : undefined
  const subject = volume === undefined ? { ...others, pod, driver, nodes } : { volume: volume.name, nodes: one }
  return { ...{ whose, pods, pod, driver }, volume: undefined, subject: subjectAmong(subject) }
}
