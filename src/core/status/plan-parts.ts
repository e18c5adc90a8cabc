/** Which row each part of a plan is about: indexed, as a node has thousands of both. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import { parentOf } from '../actual/tree.ts'
import { append } from '../lang/append.ts'
import type { Operation, Plan, Problem, VolumeRef, Waiting } from '../plan/plan.ts'
import type { Decision } from '../reconcile/decisions.ts'
import { uniqueNameOf } from './attach-state.ts'
import { namesOfRow, pathsOfRow, type RowSource } from './row-source.ts'

/** What the plan says about one row. */
export interface RowParts {
  readonly operations: readonly Operation[]
  readonly waiting: readonly Waiting[]
  readonly problems: readonly Problem[]
  readonly decisions: readonly Decision[]
}

interface Collected {
  readonly operations: Operation[]
  readonly waiting: Waiting[]
  readonly problems: Problem[]
  readonly decisions: Decision[]
}

export class PlanParts {
  /** Problems that are about no row: of the node, of a pod without volumes. */
  readonly unassigned: readonly Problem[]
  readonly #inputs: ActualInputs
  readonly #parts = new Map<RowSource, Collected>()
  readonly #names = new Map<RowSource, ReadonlySet<string>>()
  readonly #byPath = new Map<string, RowSource[]>()
  readonly #byPod = new Map<string, RowSource[]>()
  readonly #byUniqueName = new Map<string, RowSource[]>()
  readonly #byName = new Map<string, RowSource[]>()
  readonly #byDriver = new Map<string, RowSource[]>()
  readonly #byAttachment = new Map<string, RowSource>()

  constructor(inputs: ActualInputs, rows: readonly RowSource[], plan: Plan, decisions: readonly Decision[]) {
    this.#inputs = inputs
    for (const row of rows) this.#note(row)
    for (const operation of plan.operations) this.#add('operations', operation, this.#ofOperation(operation))
    for (const wait of plan.waiting) this.#add('waiting', wait, this.#named(wait.pod?.uid, wait.volume))
    for (const decision of decisions) this.#add('decisions', decision, this.#ofDecision(decision))
    this.unassigned = plan.problems.filter((problem) => this.#add('problems', problem, this.#ofProblem(problem)) === 0)
  }

  of(row: RowSource): RowParts {
    return this.#parts.get(row) ?? NOTHING
  }

  #note(row: RowSource): void {
    const names = namesOfRow(row)
    this.#names.set(row, names)
    for (const name of names) append(this.#byName, name, row)
    for (const path of new Set(pathsOfRow(row))) append(this.#byPath, this.#inputs.absolute(path), row)
    const uniqueName = uniqueNameOf(row.volume)
    if (uniqueName !== undefined) append(this.#byUniqueName, uniqueName, row)
    const { identity, attachment } = row.volume
    if (identity !== undefined) append(this.#byDriver, identity.driver, row)
    if (row.pod !== undefined) append(this.#byPod, row.pod.uid, row)
    else if (attachment !== undefined) this.#byAttachment.set(attachment.metadata.name, row)
  }

  #add<K extends keyof Collected>(kind: K, part: Collected[K][number], rows: Iterable<RowSource>): number {
    let count = 0
    for (const row of new Set(rows)) {
      const own = this.#parts.get(row) ?? { operations: [], waiting: [], problems: [], decisions: [] }
      this.#parts.set(row, own)
      ;(own[kind] as Collected[K][number][]).push(part)
      count += 1
    }
    return count
  }

  /** The directory of a pod is no volume's. */
  #ofOperation({ kind, pod, volume, paths, attachment }: Operation): readonly RowSource[] {
    if (kind === 'RemoveOrphanPodDir') return []
    const attached = attachment && this.#byAttachment.get(attachment.name)
    if (attached !== undefined) return [attached]
    const named = this.#named(pod?.uid, volume)
    if (named.length > 0) return named
    return paths.flatMap((path) => this.#at(path)).filter((row) => row.pod?.uid === pod?.uid)
  }

  /** By its unique name, else by a name within the pod; what is of no pod is the node's own part. */
  #named(uid: string | undefined, volume: VolumeRef | undefined): readonly RowSource[] {
    if (volume === undefined) return []
    const isOfPod = (row: RowSource): boolean => row.pod?.uid === uid
    const byUniqueName = (this.#byUniqueName.get(volume.uniqueName ?? '') ?? []).filter(isOfPod)
    if (byUniqueName.length > 0) return byUniqueName
    const inPod = uid === undefined ? undefined : (this.#byPod.get(uid) ?? [])
    const called = [volume.podVolumeName, volume.name].filter((name) => name !== undefined)
    return (inPod ?? called.flatMap((name) => this.#byName.get(name) ?? []).filter(isOfPod)).filter((row) =>
      called.some((name) => this.#names.get(row)?.has(name)),
    )
  }

  #ofProblem({ about: { pod, volume, path, driver } }: Problem): readonly RowSource[] {
    if (driver !== undefined) return this.#byDriver.get(driver) ?? []
    const isOfPod = (row: RowSource): boolean => pod === undefined || row.pod?.uid === pod
    const at = path === undefined ? [] : this.#at(path).filter(isOfPod)
    if (at.length > 0) return at
    const ofSocket = path === undefined ? undefined : this.#driverAt(path)
    if (ofSocket !== undefined) return this.#byDriver.get(ofSocket) ?? []
    if (volume !== undefined) return (this.#byName.get(volume) ?? []).filter(isOfPod)
    const isWholePod = path === undefined || path.endsWith(`/pods/${pod}`)
    return pod === undefined || !isWholePod ? [] : (this.#byPod.get(pod) ?? [])
  }

  #ofDecision({ path, pod, volume }: Decision): readonly RowSource[] {
    const attached = path.startsWith(ATTACHMENT) ? this.#byAttachment.get(path.slice(ATTACHMENT.length)) : undefined
    if (attached !== undefined) return [attached]
    const at = this.#at(path)
    if (at.length > 0) return at
    return (this.#byUniqueName.get(volume ?? '') ?? []).filter((row) => row.pod?.uid === pod)
  }

  /** Rows that have the path, or a directory above it. */
  #at(path: string): readonly RowSource[] {
    for (let each = path; each.startsWith(`${this.#inputs.rootDir}/`); each = parentOf(each)) {
      const found = this.#byPath.get(each)
      if (found !== undefined) return found
    }
    return []
  }

  #driverAt(path: string): string | undefined {
    const socket = this.#inputs.snapshot.csiSockets?.find((each) => each.path === path || each.endpoint === path)
    return socket?.driver
  }
}

const ATTACHMENT = 'volumeattachments/'
const NOTHING: RowParts = { operations: [], waiting: [], problems: [], decisions: [] }
