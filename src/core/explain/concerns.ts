/** Which parts of a plan are about some pods, volumes and paths. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { Operation, Plan, Problem, Waiting } from '../plan/plan.ts'
import type { Decision } from '../reconcile/decisions.ts'
import type { NodeVolume } from './node-volume.ts'

/** What an explanation is about. */
export interface Scope {
  /** UIDs of pods that are explained as a whole. */
  readonly pods: readonly string[]
  /** UIDs: what other pods than these do with the volumes is left out; empty: nothing is. */
  readonly only: readonly string[]
  readonly volumes: readonly NodeVolume[]
  /** Absolute: what was asked about, where it was a path. */
  readonly paths: readonly string[]
  /** Names of VolumeAttachments that no volume of this node is known for. */
  readonly attachments: readonly string[]
  /** The node as a whole: all of the plan. */
  readonly node?: true
  /** A CSI driver: all that is planned, waited for or wrong with its volumes. */
  readonly driver?: { readonly name: string; readonly sockets: readonly string[] }
}

export interface Concern {
  /** In the plan's order. */
  readonly operations: readonly Operation[]
  /** What has to come before these, and is not about the same; in the plan's order. */
  readonly before: readonly Operation[]
  readonly waiting: readonly Waiting[]
  readonly problems: readonly Problem[]
  readonly decisions: readonly Decision[]
}

export function concernOf(inputs: ActualInputs, plan: Plan, decisions: readonly Decision[], scope: Scope): Concern {
  const { operations: planned, waiting, problems } = plan
  if (scope.node) return { operations: planned, before: [], waiting, problems, decisions: [] }
  const tests = scope.volumes.map((volume) => new VolumeTest(inputs, volume))
  const isPod = (uid: string | undefined): boolean => uid !== undefined && scope.pods.includes(uid)
  const mayBe = (uid: string | undefined): boolean =>
    uid === undefined || scope.only.length === 0 || scope.only.includes(uid)
  const onPath = (path: string): boolean => scope.paths.some((each) => overlaps(path, each))
  const isOfDriver = (volume: Waiting['volume']): boolean =>
    scope.driver !== undefined && volume?.driver === scope.driver.name
  const operations = plan.operations.filter(
    (operation) =>
      isPod(operation.pod?.uid) ||
      operation.paths.some(onPath) ||
      scope.attachments.includes(operation.attachment?.name ?? '') ||
      isOfDriver(operation.volume) ||
      (mayBe(operation.pod?.uid) && tests.some((test) => test.isOn(operation))),
  )
  return {
    operations,
    before: predecessors(plan, operations),
    waiting: plan.waiting.filter(
      ({ pod, volume }) =>
        isPod(pod?.uid) ||
        isOfDriver(volume) ||
        (mayBe(pod?.uid) && tests.some((test) => test.isFor(pod?.uid, volume))),
    ),
    problems: plan.problems.filter(
      (problem) =>
        isOfTheNode(problem) ||
        (scope.driver !== undefined && isAboutDriver(problem, scope.driver)) ||
        isPod(problem.about.pod) ||
        (problem.about.path !== undefined && onPath(problem.about.path)) ||
        (mayBe(problem.about.pod) && tests.some((test) => test.isAbout(problem))),
    ),
    decisions: decisions.filter(
      ({ pod, path, volume }) =>
        isPod(pod) ||
        scope.attachments.some((name) => path === `volumeattachments/${name}`) ||
        scope.paths.some((each) => overlaps(path, each)) ||
        (mayBe(pod) && tests.some((test) => test.isDecided(path, volume))),
    ),
  }
}

/** Nothing may be known rightly where this is wrong. */
function isOfTheNode({ severity, about }: Problem): boolean {
  return severity === 'error' && Object.values(about).every((each) => each === undefined)
}

function isAboutDriver({ about }: Problem, { name, sockets }: NonNullable<Scope['driver']>): boolean {
  return about.driver === name || (about.path !== undefined && sockets.includes(about.path))
}

function overlaps(a: string, b: string): boolean {
  return liesIn(a, b) || liesIn(b, a)
}

/** Of paths that are plain already: each is compared with each. */
function liesIn(path: string, directory: string): boolean {
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

function predecessors({ operations }: Plan, first: readonly Operation[]): Operation[] {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const found = new Set<string>()
  const walk = ({ after }: Operation): void => {
    for (const id of after) {
      const before = byId.get(id)
      if (before === undefined || found.has(id)) continue
      found.add(id)
      walk(before)
    }
  }
  for (const operation of first) walk(operation)
  const own = new Set(first.map(({ id }) => id))
  return operations.filter(({ id }) => found.has(id) && !own.has(id))
}

/** Is it about this volume: by its unique name, else by where it lies, else by its name in the pod that has it. */
class VolumeTest {
  readonly #volume: NodeVolume
  readonly #directories: readonly string[]
  readonly #pods: ReadonlySet<string>
  readonly #names: ReadonlySet<string>
  readonly #attachment: string | undefined
  readonly #sockets: readonly string[]

  constructor(inputs: ActualInputs, volume: NodeVolume) {
    this.#volume = volume
    this.#directories = volume.directories.map((path) => inputs.absolute(path))
    this.#pods = volume.podUids
    this.#names = volume.names
    this.#attachment = volume.attachment?.metadata.name
    this.#sockets = (inputs.snapshot.csiSockets ?? [])
      .filter(({ driver }) => driver !== undefined && driver === volume.identity?.driver)
      .flatMap(({ path, endpoint }) => [path, ...(endpoint === undefined ? [] : [endpoint])])
  }

  /** RemoveOrphanPodDir is the pod's, whatever lay in the directory. */
  isOn({ kind, volume, paths, attachment }: Operation): boolean {
    if (kind === 'RemoveOrphanPodDir') return false
    if (attachment !== undefined && attachment.name === this.#attachment) return true
    if (volume?.uniqueName !== undefined && volume.uniqueName === this.#volume.uniqueName) return true
    return paths.some((path) => this.#directories.some((directory) => liesIn(path, directory)))
  }

  isFor(pod: string | undefined, volume: Waiting['volume']): boolean {
    if (volume === undefined) return false
    if (volume.uniqueName !== undefined && volume.uniqueName === this.#volume.uniqueName) return true
    if (pod !== undefined && !this.#pods.has(pod)) return false
    return (
      volume.uniqueName === undefined &&
      [volume.name, volume.podVolumeName].some((name) => name !== undefined && this.#names.has(name))
    )
  }

  isAbout({ about: { pod, volume, path, driver } }: Problem): boolean {
    if (driver !== undefined) return driver === this.#volume.identity?.driver
    if (path !== undefined && this.#sockets.includes(path)) return true
    if (path !== undefined && this.#directories.some((directory) => liesIn(path, directory))) return true
    if (pod !== undefined && !this.#pods.has(pod)) return false
    // Of its pod as a whole: that it runs, or may.
    if (volume === undefined) return pod !== undefined && (path === undefined || path.endsWith(`/pods/${pod}`))
    return this.#names.has(volume)
  }

  isDecided(path: string, volume: string | undefined): boolean {
    if (volume !== undefined && volume === this.#volume.uniqueName) return true
    if (this.#attachment !== undefined && path === `volumeattachments/${this.#attachment}`) return true
    return this.#directories.some((directory) => liesIn(path, directory))
  }
}
