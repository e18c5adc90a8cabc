/**
 * From findings to causes, in either scope. What is blocked, waits or is wrong has a code, and the code a kind of cause; what it is about
 * is the finding's own. A finding whose cause is something else says so where it is made (`because`). What merely follows has the cause of
 * what it follows from.
 */

import { append } from '../base/append.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import type { CauseKind } from '../messages/code-entry.ts'
import { type Code, causeOf, isOfNode, remedyOf } from '../messages/codes.ts'
import type { Because, Cause, CauseSubject } from './cause.ts'
import type { PodRef, Severity } from './plan.ts'
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
export interface Names {
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
    const { because = {}, whose } = finding
    const code = because.code ?? finding.code
    const kind = causeOf(code) ?? 'failed'
    const subject = because.subject ?? subjectOf(kind, finding)
    const row = because.subject === undefined ? rowOf(whose) : rowOf(because.whose)
    const key = `${kind}:${ONE_EACH.has(kind) ? '' : `${code}:`}${subjectKey(subject, row)}`
    const known = this.#byKey.get(key)
    if (known === undefined) this.#byKey.set(key, new Growing({ key, kind, subject }, finding))
    else known.add(finding)
    this.#note(key, finding)
    return key
  }

  #note(key: string, { whose }: Pick<Finding, 'whose'>): void {
    for (const row of rowsOf(whose)) append(this.#ofRow, row, key)
  }

  /** Of what is said of the row the worst that needs a person; undefined: it all passes. */
  worstOf(row: RowKey): string | undefined {
    const rankOf = (key: string): number => RANK[this.#byKey.get(key)?.severity ?? 'info']
    const [worst] = (this.#ofRow.get(row) ?? []).toSorted((a, b) => rankOf(a) - rankOf(b))
    return worst === undefined || rankOf(worst) === RANK.info ? undefined : worst
  }

  /** For what has this cause, and comes after something else that has it. */
  follow(key: string, finding: Pick<Finding, 'operation' | 'pods' | 'volume' | 'whose'>): string {
    this.#note(key, finding)
    this.#byKey.get(key)?.affect(finding)
    return key
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

function subjectOf(kind: CauseKind, { from, code, driver, pod, subject, node }: Finding): CauseSubject {
  if (kind === 'driver' && driver !== undefined) return { driver }
  if (OF_PODS.has(kind) && pod !== undefined) return { pod }
  if (!OF_NODE.has(kind) || from === 'problem') return subject
  return node !== undefined && isOfNode(code) ? { nodes: [node] } : {}
}

/** @param row of a volume of a node: two may go by one name */
function subjectKey({ pod, volume, nodes, ...rest }: CauseSubject, row: RowKey | undefined): string {
  const name = volume !== undefined && nodes === undefined ? (row ?? volume) : volume
  return [pod?.uid, name, ...Object.values(rest), nodes?.join()].filter((part) => part !== undefined).join('/')
}

class Growing {
  readonly #is: Pick<Cause, 'key' | 'kind' | 'subject'>
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
  #command: Because['command']

  constructor(is: Pick<Cause, 'key' | 'kind' | 'subject'>, first: Finding) {
    this.#is = is
    this.#says = first
    this.add(first)
  }

  add(finding: Finding): void {
    if (weightOfWords(finding) > weightOfWords(this.#says)) this.#says = finding
    const severity = severityOf(this.#is.kind, finding)
    if (RANK[severity] < RANK[this.severity]) this.severity = severity
    for (const user of finding.users ?? []) this.#users.set(user.pid, user)
    this.#byStart ??= finding.because?.byStart
    // The finding that says most knows best what to do.
    const remedy = finding === this.#says || this.#remedy.length === 0 ? adviceOf(finding) : undefined
    if (remedy !== undefined) {
      this.#remedy = remedy
      this.#command = finding.because?.command
    }
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
    const { code, message } = this.#says
    return {
      ...this.#is,
      severity: this.severity,
      ...{ code, message },
      ...(this.#users.size > 0 && { users: [...this.#users.values()] }),
      remedy: this.#remedy,
      affects: {
        operations: this.#operations,
        waiting: this.#waiting,
        pods: [...this.#pods.values()],
        volumes: [...this.#volumes],
      },
      ...omitUndefined({ until: this.#until, command: this.#command, byStart: this.#byStart }),
    }
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
  return PASSES.has(kind) ? 'info' : 'error'
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

/** What the findings of a scope name: its operations and waits, and its problems. */
interface Scope<Work, Problem> {
  work(work: Work): Names
  problem(problem: Problem): Names
}

/**
 * The same findings, each with the key of its cause; and the causes, those that stop most first. An operation that waits for a blocked
 * one has the cause of that one.
 */
export function nameFindings<Op extends Blockable, Wait extends Said, Problem extends Said>(
  { operations, waiting, problems }: Parts<Op, Wait, Problem>,
  { work, problem }: Scope<Op | Wait, Problem>,
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
export function subjectAmong({ driver, volume, pod, nodes, ...others }: Named): CauseSubject {
  if (driver !== undefined) return { driver }
  if (volume !== undefined) return { volume, ...omitUndefined({ pod, nodes }) }
  const [one] = Object.entries({ ...others, pod, nodes }).filter(([, value]) => value !== undefined)
  return one === undefined ? {} : Object.fromEntries([one])
}
