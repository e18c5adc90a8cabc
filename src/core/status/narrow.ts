/** --pod, --namespace and --volume of a status: rows are left out, and the verdicts of the others stay what they are. */
import { VolctlError } from '../errors/errors.ts'
import { didYouMean } from '../lang/near-names.ts'
import { podNameAndUid } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { namesOf } from '../reconcile/context/filter-operations.ts'
import { namedPods, namesOfPods, namespacesOfPods } from '../reconcile/pods/named-pods.ts'
import type { StatusRow } from './status.ts'

export interface Narrowing {
  /** As a person typed them: see `namedPods`. */
  readonly pods?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly volumes?: readonly string[]
  readonly ignoreNotFound?: boolean
}

/** Rows of named pods and volumes, and what the node has of the volumes of those pods. */
export function narrowed(
  { classes, options }: PlanContext,
  all: readonly StatusRow[],
  narrowing: Narrowing,
): StatusRow[] {
  const { pods, namespaces = [], volumes = [] } = narrowing
  const uids = pods && new Set(namedPods({ ...options, pods, namespaces }, classes).pods)
  const isNamed = ({ pod }: StatusRow): boolean =>
    pod !== undefined &&
    (uids === undefined || uids.has(pod.uid)) &&
    (namespaces.length === 0 || namespaces.includes(pod.namespace ?? 'default'))
  const isOfVolume = (row: StatusRow): boolean =>
    volumes.length === 0 || volumes.some((each) => namesOfRow(row).includes(each))
  const narrowsPods = uids !== undefined || namespaces.length > 0
  const theirs = new Set(all.filter(isNamed).flatMap(({ volume }) => volume.uniqueName ?? []))
  return all.filter(
    (row) =>
      isOfVolume(row) &&
      (!narrowsPods || isNamed(row) || (row.pod === undefined && theirs.has(row.volume.uniqueName ?? ''))),
  )
}

/**
 * A typing error must not look like a node without problems.
 *
 * @throws VolctlError AmbiguousName, NothingNamed
 */
export function requireNames(context: PlanContext, all: readonly StatusRow[], narrowing: Narrowing): void {
  const { pods = [], namespaces = [], volumes = [], ignoreNotFound = false } = narrowing
  const { classes, options } = context
  for (const given of pods) {
    const {
      pods: found,
      ambiguous: [ambiguous],
    } = namedPods({ ...options, pods: [given], namespaces }, classes)
    if (ambiguous !== undefined) {
      const names = ambiguous.pods.map(({ ref }) => podNameAndUid(ref)).join(', ')
      throw new VolctlError('AmbiguousName', `${given} matches ${ambiguous.pods.length} pods: ${names}`, {
        hint: 'Give NAMESPACE/NAME or the whole UID.',
      })
    }
    if (!ignoreNotFound && found.every((uid) => classes.of(uid) === undefined))
      throw nothing(
        `${given} matches no pod on this node`,
        `${didYouMean(given, namesOfPods(classes))}Give the name, NAMESPACE/NAME, or the UID or its beginning.`,
      )
  }
  if (ignoreNotFound) return
  const known = namespacesOfPods(classes)
  const missing = namespaces.find((each) => !known.has(each))
  if (missing !== undefined)
    throw nothing(
      `--namespace ${missing} matches no pod on this node`,
      `${didYouMean(missing, known)}The namespace of a deleted pod may not be known any more.`,
    )
  const called = new Set(all.flatMap(namesOfRow))
  const unknown = volumes.find((each) => !called.has(each))
  if (unknown !== undefined)
    throw nothing(
      `--volume ${unknown} matches no volume on this node`,
      `${didYouMean(unknown, called)}Give the name of the volume, its PersistentVolume or NAMESPACE/CLAIM.`,
    )
}

function nothing(message: string, hint: string): VolctlError {
  return new VolctlError('NothingNamed', message, { hint })
}

function namesOfRow({ volume, podVolumeNames }: StatusRow): string[] {
  return [...podVolumeNames, ...namesOf(volume).filter((name) => name !== undefined)]
}
