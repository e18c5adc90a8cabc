/** Operations in the making: phases link drafts by reference, and ids come last. */

import { Grouped } from '../base/collections.ts'
import { causeOf, outlasts, type ProblemCode } from '../messages/codes.ts'
import type { Finding, Hint } from '../messages/findings.ts'
import type { Because, Blocked, Obstacle, PodRef, Subject } from '../volumes/finding.ts'
import type { Step } from '../volumes/steps.ts'
import { sha256Hex } from '../volumes/volume-names.ts'
import { SETTING_UP, TAKING_AWAY } from './kinds.ts'
import type { Operation, OperationKind, Problem, Severity, VolumeRef, Waiting } from './plan.ts'

export interface Draft extends Omit<Operation, 'id' | 'after' | 'blocked' | 'steps' | 'paths' | 'subject'> {
  readonly subject: Subject
  readonly steps: readonly Step[]
  readonly paths: readonly string[]
  readonly after: readonly Draft[]
  readonly blocked?: Blocked
}

/** Ids of the mounts that the operation removes: what takes nothing away expects mounts that stay. */
export function removedBy({ kind, expects = [] }: Pick<Draft, 'kind' | 'expects'>): number[] {
  return TAKING_AWAY.has(kind) ? expects.flatMap(({ layers }) => layers.map(({ id }) => id)) : []
}

/** What another component has to do first. */
export type Wait = Pick<Waiting, 'code' | 'message' | 'args' | 'hint' | 'until'> & { readonly because?: Because }

/** Something that a phase examined and leaves unchanged. */
export interface Unchanged {
  /** Absolute, or volumeattachments/NAME. */
  readonly path: string
  readonly rule: string
  readonly why: string
  readonly subject: Subject
  /** For a wanted volume that is as it should be: the end of `why`, after the pods that want it. */
  readonly satisfied?: string
  /** Set if it is left because something is not known that a person can find out (S3). */
  readonly obstacle?: Obstacle
}

/** Whose a problem is, and what it names. */
export type About = Problem['about'] & { readonly subject: Subject }

/** Of the node as a whole. */
export const ON_NODE: About = { subject: { node: true } }

/** What a pass finds, over a node or over a cluster. */
export class AnyFindings<D, W, P extends { readonly about: object }> {
  readonly operations: D[] = []
  readonly waiting: W[] = []
  readonly problems: P[] = []
  complete = true

  /** @param because where its cause is another thing than what it is about */
  problem(
    severity: Severity,
    { code, message, args }: Finding<ProblemCode>,
    { subject, ...about }: P['about'] & { readonly subject: Subject },
    hint?: Hint,
    because?: Because,
  ): void {
    this.problems.push({ severity, code, message, args, hint, because, about, subject } as unknown as P)
  }
}

declare const JUDGED: unique symbol

/** An operation that every rule has judged (rules/rules.ts), so that those that depend on it know: no other can be added. */
export type Judged = Draft & { readonly [JUDGED]: true }

/** The results of the phases. */
export class Findings extends AnyFindings<Draft, Waiting, Problem> {
  /** By everything that they can be asked by. */
  readonly #by = new Grouped<string, Draft>()
  readonly #waitingPods = new Set<string>()
  readonly #wrongPaths = new Set<string>()
  /** Things without an operation, a wait or a problem, and why. */
  readonly unchanged: Unchanged[] = []

  /** @param subjectOf asked by whoever shows it: of what a healthy node has, no row is made before */
  leave(unchanged: Omit<Unchanged, 'subject'>, subjectOf: () => Subject): void {
    this.unchanged.push({
      ...unchanged,
      get subject() {
        return subjectOf()
      },
    })
  }

  /** A problem because of which something that may matter is not known. */
  incomplete(...problem: Parameters<Findings['problem']>): void {
    this.complete = false
    this.problem(...problem)
  }

  /**
   * S38: an operation that waits is none, unless what the wait is for does not mend what would stop it: that is the cause then.
   *
   * @param rule of the wait
   */
  add(draft: Judged, wait?: Wait, rule = ''): void {
    const { kind, pod, volume, subject, blocked } = draft
    if (wait !== undefined && (blocked === undefined || !outlasts(blocked.code, wait.code, SETTING_UP.has(kind)))) {
      this.wait(kind, wait, rule, { pod, volume, subject })
      return
    }
    this.operations.push(draft)
    for (const key of keysOf(draft)) this.#by.add(key, draft)
  }

  /** Operations on the volume of this unique name. */
  ofVolume(uniqueName: string): readonly Draft[] {
    return this.#by.of(`volume ${uniqueName}`)
  }

  /** Operations on leaked sub-paths under a PersistentVolume's name; nothing else is known about them (O17). */
  leakedOf(persistentVolume: string): readonly Draft[] {
    return this.#by.of(`leaked ${persistentVolume}`)
  }

  /** Operations on volumes that only have the name of their directory (R418). */
  unnamed(plugin: string, name: string): readonly Draft[] {
    return this.#by.of(`unnamed ${plugin} ${name}`)
  }

  ofPod(uid: string): readonly Draft[] {
    return this.#by.of(`pod ${uid}`)
  }

  /** The operation that removes this mount. */
  removerOf(mountId: number): Draft | undefined {
    return this.#by.of(`mount ${mountId}`).at(-1)
  }

  /** Operations on this path. */
  on(path: string): readonly Draft[] {
    return this.#by.of(`path ${path}`)
  }

  /** True if there is an operation on this path, or a problem. */
  isReported(path: string): boolean {
    return this.on(path).length > 0 || this.#wrongPaths.has(path)
  }

  isPodWaiting(uid: string): boolean {
    return this.#waitingPods.has(uid)
  }

  wait(
    kind: OperationKind,
    wait: Wait,
    rule: string,
    about: { readonly subject: Subject; readonly pod?: PodRef; readonly volume?: VolumeRef },
  ): void {
    this.waiting.push({ kind, ...wait, ...about, rule })
    if (about.pod !== undefined) this.#waitingPods.add(about.pod.uid)
  }

  override problem(...problem: Parameters<AnyFindings<Draft, Waiting, Problem>['problem']>): void {
    const [, , { path }] = problem
    if (path !== undefined) this.#wrongPaths.add(path)
    super.problem(...problem)
  }
}

function keysOf(draft: Draft): string[] {
  const { pod, volume, reason, paths } = draft
  const { uniqueName, plugin, name } = volume ?? {}
  return [
    ...(pod === undefined ? [] : [`pod ${pod.uid}`]),
    ...(volume === undefined ? [] : [uniqueName === undefined ? `unnamed ${plugin} ${name}` : `volume ${uniqueName}`]),
    ...(reason === 'LeakedSubPath' ? [`leaked ${name}`] : []),
    ...paths.map((path) => `path ${path}`),
    ...removedBy(draft).map((id) => `mount ${id}`),
  ]
}

/** A draft of either scope. */
interface AnyDraft<D> extends Pick<Draft, 'kind' | 'pod' | 'paths' | 'blocked'> {
  readonly after: readonly D[]
  /** Of a cluster. */
  readonly node?: string
  readonly volume?: Partial<VolumeRef>
  readonly attachment?: { readonly name: string; readonly uid?: string }
}

/** Turns drafts into operations; the ids are made from what an operation is about, so they are the same for the same state. */
export function finishOperations<D extends AnyDraft<D>, Op>(drafts: readonly D[]): Op[] {
  const known = new Map<D, { readonly id: string; readonly number: number }>()
  const taken = new Map<string, number>()
  for (const draft of drafts) {
    const base = idOf(draft)
    const count = taken.get(base) ?? 0
    taken.set(base, count + 1)
    known.set(draft, { id: count === 0 ? base : `${base}-${count}`, number: known.size + 1 })
  }
  return drafts.map((draft) => {
    const { blocked } = draft
    // One that waits for a blocked one says which, by its number in the plan.
    const isBehind = causeOf(blocked?.code) === 'follows'
    const before = isBehind ? draft.after.find((each) => each.blocked !== undefined) : undefined
    const number = before && known.get(before)?.number
    const hint = number === undefined ? undefined : `Resolve operation ${number} first.`
    return {
      id: known.get(draft)?.id,
      ...draft,
      after: [...new Set(draft.after.flatMap((each) => known.get(each)?.id ?? []))],
      blocked: blocked && { ...blocked, hint: hint ?? blocked.hint },
    } as Op
  })
}

function idOf<D>({
  kind,
  node,
  pod,
  volume: { plugin, name, uniqueName } = {},
  paths,
  attachment,
}: AnyDraft<D>): string {
  const about =
    node === undefined
      ? [kind, pod?.uid, plugin, name, uniqueName, attachment?.uid, paths[0]]
      : [kind, node, uniqueName ?? name, attachment?.name, attachment?.uid]
  return sha256Hex(about.map((part) => part ?? '').join('\0')).slice(0, 12)
}
