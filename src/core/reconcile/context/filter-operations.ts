/**
 * --only, --skip, --pod, --namespace, --volume: an operation that depends on one left out is left out, too, and
 * counted (contract).
 */

import { type ActualInputs, rootPathOf } from '../../facts/actual/actual-inputs.ts'
import type { Ledger } from '../../facts/ledger.ts'
import { uniqueNameOfRow, type VolumeRow } from '../../facts/row.ts'
import { isWithin, plainPath } from '../../linux/paths.ts'
import { type Draft, ON_NODE } from '../../plan/draft.ts'
import { nameFaults } from '../../plan/name-faults.ts'
import { keptOf } from '../../plan/part-of-plan.ts'
import type { Operation, PlanOptions, VolumeRef } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { rowOf, type Subject, THE_NODE } from '../../plan/subject.ts'
import { podFaults } from '../pods/named-pods.ts'
import type { PlanContext } from './context.ts'

/** @returns the drafts that stay, in order, and how many were left out */
export function filterOperations({ options, ledger, findings: { operations: drafts } }: PlanContext): {
  kept: Draft[]
  filtered: number
} {
  const named = namedAmong(drafts, options, ledger, ({ after }) => after)
  return keptOf(drafts, options, (draft) => named.has(draft))
}

/** @returns what says whether a wait or a problem is about something that --pod, --namespace and --volume name, or about all of the node */
export function namedFindings({ options, ledger, classes, inputs }: PlanContext): (finding: Subjected) => boolean {
  const { volumes = [] } = options
  if (!narrowsPods(options) && volumes.length === 0) return () => true
  const isPod = (uid: string): boolean => {
    const pod = classes.of(uid)?.ref ?? { uid }
    return !narrowsPods(options) || isOfNamedPod({ pod }, options)
  }
  const isAt = (paths: readonly string[]): boolean =>
    isAmong(
      [],
      paths.map((path) => inputs.absolute(path)),
      volumes,
    )
  const isRow = ({ podUids, names, directories }: VolumeRow): boolean =>
    (!narrowsPods(options) || [...podUids].some(isPod)) &&
    (volumes.length === 0 || volumes.some((each) => names.has(each)) || isAt(directories))
  return ({ subject = THE_NODE }) => {
    if ('row' in subject) {
      const row = ledger.row(subject.row)
      return row !== undefined && isRow(row) && (subject.pod === undefined || isPod(subject.pod))
    }
    if ('pod' in subject) {
      const ofPod = (): boolean => ledger.ofPod(subject.pod).some(isRow) || isAt([`pods/${subject.pod}`])
      return isPod(subject.pod) && (volumes.length === 0 || ofPod())
    }
    if ('driver' in subject) return ledger.ofDriver(subject.driver).some(isRow)
    return !('attachment' in subject)
  }
}

type Subjected = { readonly subject?: Subject }

type Scope = Pick<PlanOptions, 'pods' | 'namespaces' | 'volumes'>

/**
 * Operations that a scope names. An operation on a device or an attachment has no pod: it belongs to the pods whose
 * operations it comes after, and is named only if all of these pods are (contract).
 *
 * @param operations each after all that it depends on
 */
export function namedAmong<T extends Named>(
  operations: readonly T[],
  scope: Scope,
  ledger: Ledger,
  predecessors: (operation: T) => readonly T[],
): ReadonlySet<T> {
  const named = new Set<T>()
  for (const operation of operations) {
    const before = predecessors(operation)
    const isOfPods =
      operation.pod === undefined
        ? !narrowsPods(scope) || (before.length > 0 && before.every((each) => named.has(each)))
        : isOfNamedPod(operation, scope)
    if (isOfPods && isOfNamedVolume(operation, scope, ledger)) named.add(operation)
  }
  return named
}

/** Of an operation, what may have been named. */
type Named = Pick<Operation, 'pod' | 'volume' | 'attachment' | 'subject'> & { readonly paths?: readonly string[] }

/** True if --pod, --namespace and --volume select this operation of a pod. */
export function isNamed(operation: Named, scope: Scope, ledger: Ledger): boolean {
  return (!narrowsPods(scope) || isOfNamedPod(operation, scope)) && isOfNamedVolume(operation, scope, ledger)
}

function narrowsPods({ pods = [], namespaces = [] }: Scope): boolean {
  return pods.length > 0 || namespaces.length > 0
}

function isOfNamedPod({ pod }: Pick<Draft, 'pod'>, { pods = [], namespaces = [] }: Scope): boolean {
  if (pod === undefined) return false
  const name = namespacedName(pod)
  const isInNamespace = namespaces.length === 0 || namespaces.includes(pod.namespace ?? '')
  return isInNamespace && (pods.length === 0 || pods.some((each) => each === pod.uid || each === name))
}

/** By the names of its row, too: what is left of a volume in one pod may not show its handle, and its detach comes after that. */
function isOfNamedVolume(
  { subject, volume, attachment, paths = [] }: Named,
  { volumes = [] }: Scope,
  ledger: Ledger,
): boolean {
  if (volumes.length === 0) return true
  const row = ledger.row(rowOf(subject) ?? '')
  const own = volume === undefined ? [] : namesOf(volume)
  return isAmong([...(row?.names ?? []), ...own, attachment?.name], paths, volumes)
}

/** One of the names, or a path at or below one that was given: no name of a volume begins with a slash. */
export function isAmong(
  names: readonly (string | undefined)[],
  paths: readonly string[],
  given: readonly string[],
): boolean {
  return given.some((each) =>
    each.startsWith('/') ? paths.some((path) => isWithin(path, each)) : names.includes(each),
  )
}

/** What --volume means here: an attachment or a claim also the volume that it is of, a path as the mount table has it. */
export function namedVolumes(inputs: ActualInputs, ledger: Ledger, given: readonly string[]): string[] {
  return given.flatMap((each) => {
    if (each.startsWith('/')) return rootPathOf(inputs, plainPath(each))
    const row = ledger.ofAttachment(each) ?? ledger.ofClaim(each)
    return [each, row && uniqueNameOfRow(row)].filter((name) => name !== undefined)
  })
}

/** Those of the names given that are an attachment's to this node, or a path that is there. */
export function otherNames(inputs: ActualInputs, ledger: Ledger, given: readonly string[]): string[] {
  return given.filter((each) => {
    if (!each.startsWith('/')) return ledger.ofAttachment(each) !== undefined
    const path = rootPathOf(inputs, plainPath(each))
    return inputs.tree.has(inputs.relative(path)) || inputs.mounts.under(path).length > 0
  })
}

/** The names of a volume that `--volume` takes, beside its attachment's and a path. */
export function namesOf(volume: VolumeRef): (string | undefined)[] {
  const { name, podVolumeName, uniqueName, handle, persistentVolume, claim } = volume
  return [name, podVolumeName, uniqueName, handle, persistentVolume, claim]
}

// Names given with --pod, --volume and the like that match nothing: after a typo a broken node would look healthy.

/** @param options as they were given */
export function reportUnmatchedNames(context: PlanContext, options: PlanOptions): void {
  const { classes } = context
  const { volumes = [], devices = {} } = options
  const volumeNames = (): readonly string[] => namesOfVolumes(context)
  const scopeNames = (): readonly string[] => [...volumeNames(), ...otherNames(context.inputs, context.ledger, volumes)]
  const faults = [
    ...podFaults(options, classes, POD_HINT),
    ...nameFaults(volumes, scopeNames, { ...HERE, hint: VOLUME_HINT }),
    ...nameFaults(Object.keys(devices), volumeNames, { ...HERE, hint: DEVICE_HINT }),
  ]
  for (const { code, message, hint } of faults) context.findings.problem('warning', code, message, ON_NODE, hint)
}

const HERE = { place: 'on this node', noun: 'volume' }
const DEVICE_HINT = 'Give the name in the VOLUME column of the plan, or the PersistentVolume.'
const POD_HINT = 'Give the name, NAMESPACE/NAME or the UID, as volctl status shows it.'
const VOLUME_HINT =
  'Give the name of the volume, its PersistentVolume or NAMESPACE/CLAIM; volctl explain NAME shows all three.'

function namesOfVolumes({ inputs, ledger, findings }: PlanContext): readonly string[] {
  const claims = inputs.snapshot.api?.persistentVolumeClaims ?? []
  return [
    ...[...findings.operations, ...findings.waiting].flatMap(({ volume }) => (volume ? namesOf(volume) : [])),
    ...ledger.all.flatMap(({ names }) => [...names]),
    ...claims.map(({ metadata }) => namespacedName(metadata)),
  ].filter((name) => name !== undefined)
}
