/** What is waited for, found once and kept: when a pod is gone, its name finds nothing any more. */
import { isTerminalPhase, isTerminating } from '../desired/pods.ts'
import { NotFound, VolctlError } from '../errors/errors.ts'
import { allCandidates, type Candidate, type Found } from '../explain/candidates.ts'
import { findTarget } from '../explain/find-target.ts'
import { splitPrefix } from '../explain/kinds.ts'
import { didYouMean } from '../lang/near-names.ts'
import { ambiguousPods, requireNamed } from '../plan/name-faults.ts'
import type { PodRef } from '../plan/plan.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { namedPods, namesOfPods, refsOf } from '../reconcile/pods/named-pods.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import type { WaitCondition } from './wait-result.ts'

export interface PodTarget {
  readonly kind: 'pod'
  readonly name: string
  readonly ref: PodRef
  /** What the pod calls its volumes, by their names on disk. */
  readonly outerNames: ReadonlyMap<string, readonly string[]>
  /** The same by their unique names, where these are known. */
  readonly volumes: ReadonlyMap<string, readonly string[]>
}

export interface VolumeTarget {
  readonly kind: 'volume'
  readonly name: string
  readonly uniqueName?: string | undefined
  readonly persistentVolume?: string | undefined
  readonly claim?: string | undefined
  /** Relative to the root directory. */
  readonly directories: readonly string[]
}

export interface NodeTarget {
  readonly kind: 'node'
  readonly name: string
}

export type WaitTarget = PodTarget | VolumeTarget | NodeTarget

/** What a person asks for. */
export interface WaitAsk {
  readonly condition: WaitCondition
  /** `web-0`, `shop/web-0`, `pod/…`, a UID, `pvc/…`, `pv/…`, `volume/…`. */
  readonly names: readonly string[]
  /** --volume */
  readonly volumes: readonly string[]
  readonly namespaces: readonly string[]
  /** Every pod of the node. */
  readonly all: boolean
  readonly ignoreNotFound: boolean
}

/**
 * Finds everything that is asked for in the first look.
 *
 * @throws VolctlError NothingNamed, AmbiguousName, Usage
 */
export function waitTargets(context: PlanContext, ask: WaitAsk): readonly WaitTarget[] {
  const { names, volumes, namespaces, all, condition } = ask
  const { nodeName } = context.inputs.snapshot
  if (condition === 'in-sync') return [{ kind: 'node', name: `node/${nodeName}` }]
  const finder = { context, candidates: allCandidates(context) }
  const named = names.flatMap((name) => oneNamed(finder, name, ask))
  const byFlag = volumes.flatMap((name) => volumesCalled(finder, name, ask))
  const isWide = all || (names.length + volumes.length === 0 && namespaces.length > 0)
  const wide = isWide ? podsOf(context, ask).map((pod) => podTarget(finder, pod)) : []
  const found = [...wide, ...named, ...byFlag]
  return [...Map.groupBy(found, keyOf).values()].flatMap(([first]) => first ?? [])
}

interface Finder {
  readonly context: PlanContext
  readonly candidates: readonly Candidate[]
}

function keyOf(target: WaitTarget): string {
  if (target.kind === 'pod') return target.ref.uid
  return target.kind === 'volume' ? (target.uniqueName ?? target.name) : target.name
}

/** All pods, or those of the namespaces: one that no pod here has may be a typing error. */
function podsOf({ classes }: PlanContext, { namespaces, ignoreNotFound }: WaitAsk): readonly PodClass[] {
  if (namespaces.length === 0) return classes.all
  const of = (namespace: string): PodClass[] =>
    classes.all.filter(({ ref }) => ref.name !== undefined && (ref.namespace ?? 'default') === namespace)
  const unknown = namespaces.find((namespace) => of(namespace).length === 0)
  if (unknown === undefined || ignoreNotFound) return namespaces.flatMap(of)
  const here = classes.all.flatMap(({ ref }) => (ref.name === undefined ? [] : [ref.namespace ?? 'default']))
  throw new VolctlError('NothingNamed', `--namespace ${unknown} matches no pod on this node`, {
    hint: `${didYouMean(unknown, here)}With --ignore-not-found, what is not there counts as reached.`,
  })
}

function oneNamed(finder: Finder, given: string, ask: WaitAsk): WaitTarget[] {
  const { kind, name } = splitPrefix(given)
  const pods = kind === undefined || kind === 'Pod' ? podsCalled(finder.context, name, ask) : []
  if (pods.length > 0) return meant(pods, ask.condition).map((pod) => podTarget(finder, pod))
  if (kind === undefined || kind === 'Pod') return nothing(given, 'pod', namesOfPods(finder.context.classes), ask)
  if (kind === 'Path' || kind === 'Mount' || kind === 'Device') {
    throw new VolctlError('Usage', `wait cannot wait for ${given}`, { hint: NAMES })
  }
  return [volumeFound(finder, inNamespace(given, ask.namespaces), ask)].flat()
}

const NAMES =
  'Name pods (NAMESPACE/POD), claims (pvc/NAMESPACE/NAME), PersistentVolumes (pv/NAME) or volumes (volume/NAME).'

function podsCalled(context: PlanContext, given: string, { namespaces }: WaitAsk): readonly PodClass[] {
  const { pods, ambiguous } = namedPods({ ...context.options, pods: [given], namespaces }, context.classes)
  const faults = ambiguous.map((each) => ambiguousPods(given, refsOf(each.pods)))
  requireNamed(faults, false)
  return pods.flatMap((uid) => context.classes.of(uid) ?? [])
}

/**
 * Of an orphaned or terminating pod and the one that replaced it, both of one name: only the new one's volumes are to be mounted,
 * and only the old one's are to go.
 */
function meant(pods: readonly PodClass[], condition: WaitCondition): readonly PodClass[] {
  const wantsNew = condition === 'mounted'
  const chosen = pods.filter((pod) => isMeantToRun(pod) === wantsNew)
  return chosen.length > 0 ? chosen : pods
}

function isMeantToRun({ pod }: PodClass): boolean {
  return pod !== undefined && !isTerminating(pod) && !isTerminalPhase(pod)
}

function podTarget({ context }: Finder, { uid, ref }: PodClass): PodTarget {
  const wanted = context.desired.volumes.filter(({ podUid }) => podUid === uid)
  const outerNames = new Map(wanted.map(({ specName, podVolumeNames }) => [specName, podVolumeNames]))
  const volumes = context.ledger.ofPod(uid).flatMap(({ uniqueName, onDisk }): [string, readonly string[]][] => {
    if (uniqueName === undefined) return []
    const own = [...wanted.filter((each) => each.uniqueName === uniqueName)].flatMap((each) => each.podVolumeNames)
    const there = onDisk.filter(({ podUid }) => podUid === uid).map(({ name }) => name)
    return [[uniqueName, own.length > 0 ? own : there.length > 0 ? there : [uniqueName]]]
  })
  const name = ref.name === undefined ? `pod/${uid}` : `pod/${namespacedName(ref)}`
  return { kind: 'pod', name, ref, outerNames, volumes: new Map(volumes) }
}

/** `pvc/data -n shop` is `pvc/shop/data`. */
function inNamespace(given: string, [namespace, ...others]: readonly string[]): string {
  const { kind, name } = splitPrefix(given)
  const isBare = kind === 'PersistentVolumeClaim' && !name.includes('/')
  return isBare && namespace !== undefined && others.length === 0 ? `pvc/${namespace}/${name}` : given
}

function volumeFound({ context, candidates }: Finder, given: string, ask: WaitAsk): VolumeTarget | [] {
  try {
    return volumeTarget(given, findTarget(context, candidates, given))
  } catch (error) {
    if (ask.ignoreNotFound && error instanceof NotFound) return []
    throw error
  }
}

/** As plan's --volume: everything that has the name. */
function volumesCalled({ candidates }: Finder, given: string, ask: WaitAsk): WaitTarget[] {
  const found = candidates.filter(({ names, target }) => target.kind !== 'Pod' && names.includes(given))
  if (found.length === 0) return nothing(given, 'volume', volumeNames(candidates), ask)
  const things = Map.groupBy(found, ({ target, volume }) => volume ?? target)
  return [...things.values()].flatMap(([first]) => (first === undefined ? [] : volumeTarget(first.ask, first)))
}

function volumeTarget(name: string, { target, volume }: Found): VolumeTarget {
  return {
    kind: 'volume',
    name,
    uniqueName: volume?.uniqueName,
    persistentVolume: target.kind === 'PersistentVolume' ? target.name : volume?.persistentVolume?.metadata.name,
    claim: target.kind === 'PersistentVolumeClaim' ? `${target.namespace}/${target.name}` : undefined,
    directories: volume?.directories ?? [],
  }
}

function volumeNames(candidates: readonly Candidate[]): string[] {
  return candidates.flatMap(({ names, target }) => (target.kind === 'Pod' ? [] : names))
}

/** @param others, one of them maybe meant */
function nothing(given: string, noun: string, others: readonly string[], { ignoreNotFound }: WaitAsk): [] {
  if (ignoreNotFound) return []
  const meant = didYouMean(given.replace(/^pods?\//, ''), others)
  throw new VolctlError('NothingNamed', `"${given}" matches no ${noun} on this node`, {
    hint: `${meant}${NAMES} With --ignore-not-found, what is not there counts as reached.`,
  })
}
