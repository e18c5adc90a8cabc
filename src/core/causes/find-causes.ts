/**
 * From findings to causes. What is blocked, waits or is wrong has a code, and the code a kind of cause; what it is about is the
 * finding's own. A finding whose cause is something else says so where it is made (`of`). What merely follows has the cause of what
 * it follows from.
 */
import type { CauseKind } from '../codes/code-entry.ts'
import { type Code, causeOf } from '../codes/codes.ts'
import { append } from '../lang/append.ts'
import { defined } from '../lang/defined.ts'
import type { Cause, CauseOf, CauseSubject } from '../plan/cause.ts'
import type { PodRef, Severity } from '../plan/plan.ts'
import type { RowKey, Subject } from '../plan/subject.ts'

/** An operation that is blocked, a wait or a problem of either scope, as far as its cause goes by it. */
export interface Finding {
  readonly from: 'operation' | 'wait' | 'problem'
  readonly code: Code
  readonly message: string
  readonly hint?: string | undefined
  /** Where something is in use: by whom. */
  readonly users?: Cause['users'] | undefined
  readonly of?: CauseOf | undefined
  /** Of a problem. */
  readonly severity?: Severity
  readonly subject: CauseSubject
  /** Of an operation or a wait whose code's cause is the whole: which part of it; absent: all of it. */
  readonly place?: CauseSubject | undefined
  /** Of a volume as subject: whose it is, as two may go by one name. */
  readonly whose?: Subject | undefined
  /** Volumes on nodes that it is about. */
  readonly rows?: readonly RowKey[]
  /** Where the code's cause is a driver: which. */
  readonly driver?: string | undefined
  /** Where it is a pod: which. */
  readonly pod?: PodRef | undefined
  readonly pods: readonly PodRef[]
  readonly volume?: string | undefined
  readonly operation?: string
  readonly until?: string | undefined
}

/** Kinds that need nobody: a component acts, or a flag asks for it. */
const PASSES: ReadonlySet<CauseKind> = new Set<CauseKind>(['kubelet', 'controller', 'data', 'asked', 'follows'])

/** Kinds that give each subject one cause, whatever the code. */
const ONE_EACH: ReadonlySet<CauseKind> = new Set<CauseKind>(['driver', 'missing', 'alive'])

/** Kinds that are a fact about a pod. */
const OF_PODS: ReadonlySet<CauseKind> = new Set<CauseKind>(['alive', 'data'])

/** Kinds that are a fact about the node as a whole, unless a problem names a part of it. */
const OF_NODE: ReadonlySet<CauseKind> = new Set<CauseKind>(['machine', 'unread', 'kubelet', 'asked'])

/** Collects causes; findings are added in the plan's order. */
class Causes {
  readonly #byKey = new Map<string, Growing>()
  readonly #ofRow = new Map<RowKey, string[]>()

  /** @returns the key of the finding's cause */
  add(finding: Finding): string {
    const { key, kind, subject } = this.#own(finding)
    const known = this.#byKey.get(key)
    if (known === undefined) this.#byKey.set(key, new Growing(key, kind, subject, finding))
    else known.add(finding)
    this.#note(key, finding)
    return key
  }

  #note(key: string, { rows = [] }: Pick<Finding, 'rows'>): void {
    for (const row of rows) append(this.#ofRow, row, key)
  }

  #own(finding: Finding) {
    const code = finding.of?.code ?? finding.code
    const kind = causeOf(code) ?? 'failed'
    const subject = finding.of?.subject ?? subjectOf(kind, finding)
    const whose = finding.of?.subject === undefined ? finding.whose : finding.of.whose
    return { kind, subject, key: `${kind}:${ONE_EACH.has(kind) ? '' : `${code}:`}${subjectKey(subject, whose)}` }
  }

  /** @returns undefined: it has the cause of another finding, where that needs a person */
  addOwn(finding: Finding): string | undefined {
    return finding.of?.row === undefined ? this.add(finding) : undefined
  }

  /** @returns the key of the cause that it follows; where there is none, of a new one */
  addFollower(finding: Finding): string {
    const { of, pods } = finding
    const key = of?.row === undefined ? undefined : this.#ofRowWorst(of.row)
    if (key === undefined) return this.add(finding)
    this.follow(key, { pods, volume: undefined })
    return key
  }

  /** Of what is said of the row the worst that needs a person; undefined: it all passes. */
  #ofRowWorst(row: RowKey): string | undefined {
    const rankOf = (key: string): number => RANK[this.#byKey.get(key)?.severity ?? 'info']
    const [worst] = (this.#ofRow.get(row) ?? []).toSorted((a, b) => rankOf(a) - rankOf(b))
    return worst === undefined || rankOf(worst) === RANK.info ? undefined : worst
  }

  /** For an operation that comes after one of the cause. */
  follow(key: string, finding: Pick<Finding, 'operation' | 'pods' | 'volume' | 'rows'>): void {
    this.#note(key, finding)
    this.#byKey.get(key)?.affect(finding)
  }

  /** Those that stop most come first. */
  all(): Cause[] {
    return [...this.#byKey.values()].map((each) => each.cause()).toSorted(compare)
  }
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

function compare(a: Cause, b: Cause): number {
  return RANK[a.severity] - RANK[b.severity] || weightOf(b) - weightOf(a)
}

function weightOf({ affects: { operations, waiting } }: Cause): number {
  return operations.length + waiting
}

function subjectOf(kind: CauseKind, { from, driver, pod, subject, place = {} }: Finding): CauseSubject {
  if (kind === 'driver' && driver !== undefined) return { driver }
  if (OF_PODS.has(kind) && pod !== undefined) return { pod }
  if (OF_NODE.has(kind)) return from === 'problem' ? subject : place
  return subject
}

function subjectKey({ driver, pod, volume, object, path }: CauseSubject, whose: Subject | undefined): string {
  const row = volume !== undefined && whose !== undefined && 'row' in whose ? whose.row : volume
  return [driver, pod?.uid, row, object, path].filter((each) => each !== undefined).join('/')
}

class Growing {
  readonly #key: string
  readonly #kind: CauseKind
  readonly #subject: CauseSubject
  #says: Finding
  severity: Severity = 'info'
  #remedy: readonly string[] = []
  readonly #operations: string[] = []
  #waiting = 0
  readonly #pods = new Map<string, PodRef>()
  readonly #volumes = new Set<string>()
  readonly #users = new Map<number, NonNullable<Cause['users']>[number]>()
  #until: string | undefined
  #byStart: true | undefined

  constructor(key: string, kind: CauseKind, subject: CauseSubject, first: Finding) {
    this.#key = key
    this.#kind = kind
    this.#subject = subject
    this.#says = first
    this.add(first)
  }

  add(finding: Finding): void {
    if (weightOfWords(finding) > weightOfWords(this.#says)) this.#says = finding
    const severity = severityOf(this.#kind, finding)
    if (RANK[severity] < RANK[this.severity]) this.severity = severity
    for (const user of finding.users ?? []) this.#users.set(user.pid, user)
    this.#byStart ??= finding.of?.byStart
    // The finding that says most knows best what to do.
    if (finding === this.#says || this.#remedy.length === 0) this.#remedy = remedyOf(finding) ?? this.#remedy
    if (finding.until !== undefined && (this.#until === undefined || finding.until > this.#until))
      this.#until = finding.until
    if (finding.from !== 'problem') this.affect(finding)
    if (finding.from === 'wait') this.#waiting += 1
  }

  affect({ operation, pods, volume }: Pick<Finding, 'operation' | 'pods' | 'volume'>): void {
    if (operation !== undefined) this.#operations.push(operation)
    for (const pod of pods) this.#pods.set(pod.uid, pod)
    if (pods.length === 0 && volume !== undefined) this.#volumes.add(volume)
  }

  cause(): Cause {
    const says = this.#says
    return {
      key: this.#key,
      kind: this.#kind,
      subject: this.#subject,
      severity: this.severity,
      code: says.code,
      message: says.message,
      ...(this.#users.size > 0 && { users: [...this.#users.values()] }),
      remedy: this.#remedy,
      affects: {
        operations: this.#operations,
        waiting: this.#waiting,
        pods: [...this.#pods.values()],
        volumes: [...this.#volumes],
      },
      ...defined({ until: this.#until, byStart: this.#byStart }),
    }
  }
}

function remedyOf({ hint, of }: Finding): readonly string[] | undefined {
  return of?.remedy ?? (hint === undefined ? undefined : [hint])
}

/** An error is about the thing itself; an operation or a wait says what is needed; a warning or note is beside it. */
function weightOfWords({ from, severity, of }: Finding): number {
  // What only follows never speaks for what it follows from.
  if (of?.follows) return 0
  if (from === 'operation') return 3
  if (from === 'wait') return 2
  return severity === 'error' ? 4 : 1
}

function severityOf(kind: CauseKind, { from, severity }: Finding): Severity {
  if (from === 'problem') return severity ?? 'warning'
  return PASSES.has(kind) ? 'info' : 'error'
}

/** An operation of either scope, as far as it has a cause. */
interface Blockable {
  readonly id: string
  readonly after: readonly string[]
  readonly blocked?: object
}

interface Parts<Op, Wait, Problem> {
  readonly operations: readonly Op[]
  readonly waiting: readonly Wait[]
  readonly problems: readonly Problem[]
}

/** How the findings of a scope are read. */
export interface Reading<Op extends Blockable, Wait, Problem> {
  operation(operation: Op, blocked: NonNullable<Op['blocked']>): Finding
  wait(wait: Wait): Finding
  problem(problem: Problem): Finding
}

/**
 * The same findings, each with the key of its cause; and the causes, those that stop most first. An operation that waits for a blocked
 * one has the cause of that one.
 */
export function nameFindings<Op extends Blockable, Wait extends object, Problem extends object>(
  { operations, waiting, problems }: Parts<Op, Wait, Problem>,
  reading: Reading<Op, Wait, Problem>,
): Parts<Op, Wait, Problem> & { readonly causes: readonly Cause[] } {
  const causes = new Causes()
  const keys = new Map<string, string>()
  const keyOf = (finding: Finding, after: readonly string[]): string => {
    const follows = causeOf(finding.code) === 'follows'
    const before = follows ? after.map((id) => keys.get(id)).find((key) => key !== undefined) : undefined
    if (before === undefined) return causes.add(finding)
    causes.follow(before, finding)
    return before
  }
  const named = operations.map((operation) => {
    if (operation.blocked === undefined) return operation
    const key = keyOf(reading.operation(operation, operation.blocked), operation.after)
    keys.set(operation.id, key)
    return { ...operation, blocked: withKey(operation.blocked, key) }
  })
  const waits = waiting.map((wait) => withKey(wait, causes.add(reading.wait(wait))))
  const found = problems.map((problem) => ({ problem, finding: reading.problem(problem) }))
  const own = new Map(found.map(({ problem, finding }) => [problem, causes.addOwn(finding)]))
  return {
    operations: named,
    waiting: waits,
    problems: found.map(({ problem, finding }) => withKey(problem, own.get(problem) ?? causes.addFollower(finding))),
    causes: causes.all(),
  }
}

function withKey<T extends object>(finding: T, cause: string): T {
  const { of: _, ...rest } = finding as T & { readonly of?: CauseOf }
  return { ...(rest as unknown as T), cause }
}
