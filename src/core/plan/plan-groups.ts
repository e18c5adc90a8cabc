/**
 * A plan as a person looks at it: by pod, and the rest (devices, attachments) by volume, the worst first. Each group
 * has everything about its pod or volume: operations, waits and problems.
 */
import { isWithin } from '../files/path-within.ts'
import { append } from '../lang/append.ts'
import type { Operation, Plan, PodRef, Problem, Severity, VolumeRef, Waiting } from './plan.ts'
import { liftingFlag } from './plan-summary.ts'

export interface PlanGroup {
  readonly about: { readonly pod: PodRef } | { readonly volume: string }
  readonly operations: readonly Operation[]
  readonly waiting: readonly Waiting[]
  readonly problems: readonly Problem[]
  /** All names of its volumes, those of waits that are not shown too. */
  readonly names: ReadonlySet<string>
}

export interface PlanGroups {
  /** Groups that differ only in names are put together. */
  readonly alike: readonly (readonly PlanGroup[])[]
  /** Entries about nothing that has an operation, a wait or a name. */
  readonly rest: readonly Problem[]
}

interface Growing {
  readonly about: PlanGroup['about']
  readonly operations: Operation[]
  readonly waiting: Waiting[]
  readonly problems: Problem[]
  readonly names: Set<string>
}

/** @param isShown true for a wait that is shown by itself; of the others only the names are used */
export function planGroups(plan: Plan, isShown: (wait: Waiting) => boolean = () => true): PlanGroups {
  const groups = new Groups(plan.rootDir)
  for (const operation of plan.operations) groups.of(operation).operations.push(operation)
  for (const wait of plan.waiting) {
    const group = groups.of(wait)
    if (isShown(wait)) group.waiting.push(wait)
  }
  const rest = plan.problems.filter((problem) => {
    const group = groups.concerned(problem)
    group?.problems.push(problem)
    return group === undefined
  })
  // Sorting is stable: of equally bad groups the one with the first operation comes first.
  const shown = groups.all().filter((each) => each.operations.length + each.waiting.length + each.problems.length > 0)
  const sorted = shown.toSorted((a, b) => rankOf(a) - rankOf(b))
  return { alike: [...Map.groupBy(sorted, likeness).values()], rest: rest.toSorted(bySeverity) }
}

class Groups {
  readonly #rootDir: string
  readonly #byKey = new Map<string, Growing>()
  /** By all the names that a volume has. */
  readonly #byVolume = new Map<string, Growing>()
  /** Indexed once a problem asks for a path. */
  readonly #ofPaths: (readonly [readonly string[], Growing])[] = []
  #byPath: ReadonlyMap<string, Growing> | undefined

  constructor(rootDir: string) {
    this.#rootDir = rootDir
  }

  all(): readonly Growing[] {
    return [...this.#byKey.values()]
  }

  of({ pod, volume, ...more }: { pod?: PodRef; volume?: VolumeRef; paths?: readonly string[] }): Growing {
    const group = pod === undefined ? this.#ofVolume(volume) : this.#ofPod(pod)
    if (volume !== undefined) addNames(volume, group.names)
    if (more.paths !== undefined) {
      this.#ofPaths.push([more.paths, group])
      this.#byPath = undefined
    }
    return group
  }

  #at(path: string): Growing | undefined {
    this.#byPath ??= new Map(this.#ofPaths.flatMap(([paths, group]) => paths.map((each) => [each, group] as const)))
    return this.#byPath.get(path)
  }

  #ofPod(pod: PodRef): Growing {
    return this.#group(`pod ${pod.uid}`, { pod })
  }

  #ofVolume(volume: VolumeRef | undefined): Growing {
    const shown = volume === undefined ? '-' : (volume.persistentVolume ?? volume.name)
    const names = volume === undefined ? [shown] : namesOf(volume)
    const known = names.map((name) => this.#byVolume.get(name)).find((group) => group !== undefined)
    const group = known ?? this.#group(`volume ${names[0] ?? shown}`, { volume: shown })
    for (const name of names) if (!this.#byVolume.has(name)) this.#byVolume.set(name, group)
    return group
  }

  #group(key: string, about: PlanGroup['about']): Growing {
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const group: Growing = { about, operations: [], waiting: [], problems: [], names: new Set() }
    this.#byKey.set(key, group)
    return group
  }

  /** Undefined: the problem is about the node, or about something without an operation in this plan. */
  concerned({ about: { pod, podRef, volume, path } }: Problem): Growing | undefined {
    if (pod !== undefined) return this.#byKey.get(`pod ${pod}`) ?? this.#ofPod(podRef ?? { uid: pod })
    const named = volume === undefined ? undefined : this.#byVolume.get(volume)
    if (named !== undefined) return named
    if (path === undefined) return volume === undefined ? undefined : this.#group(`volume ${volume}`, { volume })
    return this.#at(path) ?? this.#ofPodPath(path) ?? (volume === undefined ? undefined : this.#named(volume))
  }

  #named(volume: string): Growing {
    return this.#group(`volume ${volume}`, { volume })
  }

  #ofPodPath(path: string): Growing | undefined {
    const pods = `${this.#rootDir}/pods`
    if (!isWithin(path, pods) || path === pods) return undefined
    return this.#byKey.get(`pod ${path.slice(pods.length + 1).split('/', 1)[0]}`)
  }
}

function addNames({ uniqueName, persistentVolume, name, handle }: VolumeRef, names: Set<string>): void {
  if (uniqueName !== undefined) names.add(uniqueName)
  if (persistentVolume !== undefined) names.add(persistentVolume)
  names.add(name)
  if (handle !== undefined) names.add(handle)
}

function namesOf({ uniqueName, persistentVolume, name, handle }: VolumeRef): string[] {
  return [uniqueName, persistentVolume, name, handle].filter((each) => each !== undefined)
}

const SEVERITY_RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 3, info: 6 }

/** error, blocked by more than a flag that was not given, blocked for a flag, warning, waiting, work to do, note. */
function rankOf({ operations, waiting, problems }: PlanGroup): number {
  const ranks = [
    ...problems.map(({ severity }) => SEVERITY_RANK[severity]),
    ...operations.map((operation) => operationRank(operation)),
    ...(waiting.length > 0 ? [4] : []),
  ]
  return Math.min(...ranks)
}

/** 1: blocked, 2: only for a flag, 5: ready. */
export function operationRank(operation: Operation): number {
  if (operation.blocked === undefined) return 5
  return liftingFlag(operation) === undefined ? 1 : 2
}

/** For sorting: the worst first. */
export function bySeverity(a: Problem, b: Problem): number {
  return SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity]
}

/** Volumes that the kubelet fills from the API: nobody's data. */
const API_CONTENT: ReadonlySet<string> = new Set(
  ['configmap', 'secret', 'projected', 'downward-api'].map((name) => `kubernetes.io/${name}`),
)

export function isApiContent(volume: VolumeRef | undefined): boolean {
  return volume !== undefined && API_CONTENT.has(volume.plugin)
}

/** The text that rows folded into one have in common. */
export function operationLikeness({ kind, reason, volume, blocked, dead = [] }: Operation): string {
  const what = isApiContent(volume) ? 'content' : (volume?.plugin ?? '')
  return [kind, reason, what, blocked?.code ?? '', blocked?.hint ?? '', dead.map(({ error }) => error)].join(' ')
}

/** Two groups with the same text differ only in names and numbers. */
function likeness({ about, operations, waiting, problems }: PlanGroup): string {
  const states = [...new Set(operations.map(({ podState }) => podState ?? ''))]
  return JSON.stringify([
    'pod' in about ? 'pod' : 'volume',
    states.toSorted(),
    countsOf(operations.map(operationLikeness)),
    countsOf(waiting.map(({ kind, code, hint = '' }) => [kind, code, hint].join(' '))),
    countsOf(problems.map(({ severity, code }) => `${severity} ${code}`)),
  ])
}

/** The number of config maps and tokens does not make another kind of pod; the number of everything else does. */
function countsOf(texts: readonly string[]): readonly string[] {
  const counts = new Map<string, string[]>()
  for (const text of texts) append(counts, text, text)
  return [...counts].map(([text, all]) => (text.includes(' content ') ? text : `${all.length} ${text}`)).toSorted()
}
