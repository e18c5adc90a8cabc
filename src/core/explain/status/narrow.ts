/** --pod, --namespace and --volume of a status: rows are left out, and the verdicts of the others stay what they are. */

import type { ActualInputs } from '../../facts/actual/actual-inputs.ts'
import { isWithin } from '../../linux/paths.ts'
import { type NameFault, nameFaults } from '../../plan/name-faults.ts'
import type { PlanContext } from '../../reconcile/context/context.ts'
import { isAmong, namedVolumes, namesOf, otherNames } from '../../reconcile/context/filter-operations.ts'
import { namedPods, podFaults } from '../../reconcile/pods/named-pods.ts'
import type { StatusRow } from './status.ts'
import type { StatusSource } from './status-source.ts'

export interface Narrowing {
  /** As a person typed them: see `namedPods`. */
  readonly pods?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly volumes?: readonly string[]
}

/** Rows of named pods and volumes, and what the node has of the volumes of those pods. */
export function narrowed(
  { classes, options, inputs, ledger }: PlanContext,
  all: readonly StatusRow[],
  sourceOf: ReadonlyMap<StatusRow, StatusSource>,
  narrowing: Narrowing,
): StatusRow[] {
  const { pods, namespaces = [] } = narrowing
  const volumes = namedVolumes(inputs, ledger, narrowing.volumes ?? [])
  const uids = pods && new Set(namedPods({ ...options, pods, namespaces }, classes).pods)
  const isNamed = ({ pod }: StatusRow): boolean =>
    pod !== undefined &&
    (uids === undefined || uids.has(pod.uid)) &&
    (namespaces.length === 0 || namespaces.includes(pod.namespace ?? 'default'))
  const isOfVolume = (row: StatusRow): boolean =>
    volumes.length === 0 || isAmong(namesOfRow(row), pathsOf(inputs, sourceOf.get(row)), volumes)
  const narrowsPods = uids !== undefined || namespaces.length > 0
  const theirs = new Set(all.filter(isNamed).flatMap(({ volume }) => volume.uniqueName ?? []))
  return all.filter(
    (row) =>
      isOfVolume(row) &&
      (!narrowsPods || isNamed(row) || (row.pod === undefined && theirs.has(row.volume.uniqueName ?? ''))),
  )
}

/** The pod's directories of the volume, or the node's own. */
function pathsOf(inputs: ActualInputs, part: StatusSource | undefined): string[] {
  const { volume, podUid } = part ?? {}
  const isOwn = (path: string): boolean =>
    podUid === undefined ? !isWithin(path, 'pods') : isWithin(path, `pods/${podUid}`)
  return (volume?.directories ?? []).filter(isOwn).map((path) => inputs.absolute(path))
}

/** Names that nothing has, or several pods. */
export function unmatchedNames(
  { classes, inputs, ledger }: PlanContext,
  all: readonly StatusRow[],
  narrowing: Narrowing,
): NameFault[] {
  const { volumes = [] } = narrowing
  return [
    ...podFaults(narrowing, classes, 'Give the name, NAMESPACE/NAME, or the UID or its beginning.'),
    ...nameFaults(volumes, () => [...all.flatMap(namesOfRow), ...otherNames(inputs, ledger, volumes)], {
      noun: 'volume',
      place: 'on this node',
      hint: 'Give the name of the volume, its PersistentVolume or NAMESPACE/CLAIM.',
    }),
  ]
}

function namesOfRow({ volume, podVolumeNames }: StatusRow): string[] {
  return [...podVolumeNames, ...namesOf(volume).filter((name) => name !== undefined)]
}
