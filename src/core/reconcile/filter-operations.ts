/**
 * --only, --skip, --pod, --namespace, --volume: an operation that depends on one left out is left out, too, and
 * counted (contract).
 */

import { present } from '../base/text.ts'
import type { Ledger } from '../facts/ledger.ts'
import { uniqueNameOfRow, type VolumeRow } from '../facts/row.ts'
import { namespacedName } from '../kube/api/names.ts'
import { isWithin, plainPath } from '../linux/paths.ts'
import { type Hint, marked } from '../messages/command.ts'
import { ON_NODE } from '../plan/draft.ts'
import { ambiguousPods, type NameFault, nameFaults, podsCalled } from '../plan/names.ts'
import type { Operation, PlanOptions, VolumeRef } from '../plan/plan.ts'
import { type PlanContext, podRefOf } from '../rules/context.ts'
import type { PodClass, PodClasses } from '../rules/pods/pod-classes.ts'
import { type PodRef, rowOf, type Subject, THE_NODE } from '../volumes/finding.ts'
import { type ActualInputs, rootPathOf } from '../volumes/on-disk/actual-inputs.ts'
import { namedUids } from '../volumes/pods.ts'

/** @returns what says whether a wait or a problem is about something that --pod, --namespace and --volume name, or about all of the node */
export function namedFindings(context: PlanContext): (finding: { readonly subject?: Subject }) => boolean {
  const { options, ledger, inputs } = context
  const { volumes = [] } = options
  const narrows = narrowsPods(options)
  if (!narrows && volumes.length === 0) return () => true
  const isPod = (uid: string): boolean => isOfNamedPod(podRefOf(context, uid), options)
  const isVolume = (names: Iterable<string>, paths: readonly string[]): boolean =>
    isAmong(
      [...names],
      paths.map((path) => inputs.absolute(path)),
      volumes,
    )
  const isRow = ({ podUids, names, directories }: VolumeRow): boolean =>
    (!narrows || [...podUids].some(isPod)) && isVolume(names, directories)
  return ({ subject = THE_NODE }) => {
    if ('row' in subject) {
      const row = ledger.row(subject.row)
      return row !== undefined && isRow(row) && (subject.pod === undefined || isPod(subject.pod))
    }
    if ('pod' in subject)
      return isPod(subject.pod) && (isVolume([], [`pods/${subject.pod}`]) || ledger.ofPod(subject.pod).some(isRow))
    if ('driver' in subject) return ledger.ofDriver(subject.driver).some(isRow)
    return !('attachment' in subject)
  }
}

/** As a person typed them, or, of a plan's context, with UIDs for pods: see `namedPods`. */
export type Narrowing = Pick<PlanOptions, 'pods' | 'namespaces' | 'volumes'>

/**
 * Operations that a scope names. An operation on a device or an attachment has no pod: it belongs to the pods whose
 * operations it comes after, and is named only if all of these pods are (contract).
 *
 * @param operations each after all that it depends on
 */
export function namedAmong<T extends Named>(
  operations: readonly T[],
  scope: Narrowing,
  ledger: Ledger,
  predecessors: (operation: T) => readonly T[],
): ReadonlySet<T> {
  const named = new Set<T>()
  for (const operation of operations) {
    const before = operation.pod === undefined ? predecessors(operation) : []
    const follows = before.length > 0 && before.every((each) => named.has(each))
    if ((follows || isOfNamedPod(operation.pod, scope)) && isOfNamedVolume(operation, scope, ledger))
      named.add(operation)
  }
  return named
}

/** Of an operation, what may have been named. */
type Named = Pick<Operation, 'pod' | 'volume' | 'attachment' | 'subject'> & { readonly paths?: readonly string[] }

/** True if --pod, --namespace and --volume select this operation of a pod. */
export function isNamed({ options, ledger }: PlanContext, operation: Named): boolean {
  return isOfNamedPod(operation.pod, options) && isOfNamedVolume(operation, options, ledger)
}

function narrowsPods({ pods = [], namespaces = [] }: Narrowing): boolean {
  return pods.length + namespaces.length > 0
}

function isOfNamedPod(pod: PodRef | undefined, scope: Narrowing): boolean {
  const { pods = [], namespaces = [] } = scope
  if (pod === undefined || !narrowsPods(scope)) return !narrowsPods(scope)
  const isInNamespace = namespaces.length === 0 || namespaces.includes(pod.namespace ?? '')
  return isInNamespace && (pods.length === 0 || pods.includes(pod.uid) || pods.includes(namespacedName(pod)))
}

/** By the names of its row, too: what is left of a volume in one pod may not show its handle, and its detach comes after that. */
function isOfNamedVolume(
  { subject, volume, attachment, paths = [] }: Named,
  { volumes = [] }: Narrowing,
  ledger: Ledger,
): boolean {
  // No row is made where nothing is named.
  if (volumes.length === 0) return true
  const names = ledger.row(rowOf(subject) ?? '')?.names ?? []
  return isAmong([...names, ...namesOf(volume), attachment?.name], paths, volumes)
}

/** One of the names, or a path at or below one that was given: no name of a volume begins with a slash. Where none was, it is any. */
export function isAmong(
  names: readonly (string | undefined)[],
  paths: readonly string[],
  given: readonly string[],
): boolean {
  return (
    given.length === 0 ||
    given.some((each) => (each.startsWith('/') ? paths.some((path) => isWithin(path, each)) : names.includes(each)))
  )
}

/** What --volume means here: an attachment or a claim also the volume that it is of, a path as the mount table has it. */
export function namedVolumes(inputs: ActualInputs, ledger: Ledger, given: readonly string[]): string[] {
  return given.flatMap((each) => {
    if (each.startsWith('/')) return rootPathOf(inputs, plainPath(each))
    const row = ledger.ofAttachment(each) ?? ledger.ofClaim(each)
    // An empty name stays: without one, everything would be meant.
    return [each, ...present(row && uniqueNameOfRow(row))]
  })
}

/** The names of a volume that `--volume` takes, beside its attachment's and a path. */
export function namesOf({
  name,
  podVolumeName,
  uniqueName,
  handle,
  persistentVolume,
  claim,
}: Partial<VolumeRef> = {}): string[] {
  return present(name, podVolumeName, uniqueName, handle, persistentVolume, claim)
}

// Names given with --pod, --volume and the like that match nothing: after a typo a broken node would look healthy.

/** @param options as they were given */
export function reportUnmatchedNames(context: PlanContext, options: PlanOptions): void {
  const { inputs, ledger, findings } = context
  const known = (): readonly string[] => [
    ...[...findings.operations, ...findings.waiting].flatMap(({ volume }) => namesOf(volume)),
    ...ledger.all.flatMap(({ names }) => [...names]),
    ...(inputs.snapshot.api?.persistentVolumeClaims ?? []).map(({ metadata }) => namespacedName(metadata)),
  ]
  const faults = [
    ...unmatchedAmong(context, options, known),
    ...nameFaults(Object.keys(options.devices ?? {}), known, HERE.device),
  ]
  for (const fault of faults) findings.problem('warning', fault, ON_NODE, fault.hint)
}

/** Pods, namespaces and volumes that nothing here has, and names of several pods. @param known names of volumes */
export function unmatchedAmong(
  { classes, inputs, ledger }: PlanContext,
  { pods = [], namespaces = [], volumes = [] }: Narrowing,
  known: () => readonly string[],
): NameFault[] {
  const { ambiguous, missing } = namedPods({ pods, namespaces }, classes)
  // An attachment's to this node, or a path that is there.
  const isOther = (name: string): boolean => {
    if (!name.startsWith('/')) return ledger.ofAttachment(name) !== undefined
    const path = rootPathOf(inputs, plainPath(name))
    return inputs.tree.has(inputs.relative(path)) || inputs.mounts.under(path).length > 0
  }
  // What people call them; of unknown names only their UIDs.
  const named = classes.all.filter(({ ref }) => ref.name !== undefined)
  const names = () =>
    classes.all.flatMap(({ uid, ref }) => [uid, ...(ref.name === undefined ? [] : [namespacedName(ref), ref.name])])
  return [
    ...ambiguous.map(({ given, refs }) => ambiguousPods(given, refs)),
    ...nameFaults(missing, names, HERE.pod),
    ...nameFaults(namespaces, () => named.map(({ ref }) => ref.namespace ?? 'default'), HERE.namespace),
    ...nameFaults(volumes, () => [...known(), ...volumes.filter(isOther)], HERE.volume),
  ]
}

const looked = (noun: string, hint: Hint) => ({ noun, hint, place: 'on this node' })
const HERE = {
  device: looked('volume', 'Give the name in the VOLUME column of the plan, or the PersistentVolume.'),
  pod: looked('pod', marked('Give the name, NAMESPACE/NAME or the UID, as `volctl status` shows it.')),
  namespace: looked(
    'namespace with a pod',
    marked('The namespace of a deleted pod may not be known any more. See the pods: `volctl status`'),
  ),
  volume: looked(
    'volume',
    marked(
      'Give the name of the volume, its PersistentVolume or NAMESPACE/CLAIM; `volctl explain NAME` shows all three.',
    ),
  ),
}

// What --pod means on this node: a UID or its unique beginning, NAMESPACE/NAME, or NAME (contract).

/** A name means all pods of that namespace and name: an orphaned pod, and the pod that replaced it. */
export function namedPods({ pods = [], namespaces = [] }: Narrowing, classes: PodClasses) {
  const here = classes.all.filter(({ ref }) => namespaces.length === 0 || namespaces.includes(ref.namespace ?? ''))
  const found = pods.map((given) => {
    const isUid = ({ uid, pod }: PodClass): boolean =>
      uid === given || (pod !== undefined && namedUids(pod).includes(given))
    const candidates = podsCalled(given, { pods: classes.all, here }, ({ ref }) => ref, isUid)
    return { given, pods: candidates, isAmbiguous: isAmbiguous(given, candidates) }
  })
  return {
    /** UIDs; a name that no pod has, or that is ambiguous, as it was given. */
    pods: found.flatMap((each) =>
      each.pods.length === 0 || each.isAmbiguous ? [each.given] : each.pods.map(({ uid }) => uid),
    ),
    ambiguous: found
      .filter((each) => each.isAmbiguous)
      .map((each) => ({ given: each.given, refs: each.pods.map(({ ref }) => ref) })),
    missing: found.filter((each) => each.pods.length === 0).map(({ given }) => given),
  }
}

function isAmbiguous(given: string, candidates: readonly PodClass[]): boolean {
  const [first, ...others] = candidates
  if (first === undefined || candidates.some(({ uid }) => uid === given)) return false
  const name = namespacedName(first.ref)
  return others.some(({ ref }) => ref.name === undefined || namespacedName(ref) !== name)
}
