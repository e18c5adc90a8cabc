/** What --pod means on this node: a UID or its unique beginning, NAMESPACE/NAME, or NAME (contract). */

import { ambiguousPods, type NameFault, nameFaults } from '../../plan/name-faults.ts'
import type { PlanOptions, PodRef } from '../../plan/plan.ts'
import { namespacedName, podsCalled } from '../../plan/pod-name.ts'
import { namedUids } from '../../volumes/pods.ts'
import type { PodClass, PodClasses } from './pod-classes.ts'

interface NamedPods {
  /** UIDs; a name that no pod has, or that is ambiguous, as it was given. */
  readonly pods: readonly string[]
  readonly ambiguous: readonly { readonly given: string; readonly pods: readonly PodClass[] }[]
}

/** A name means all pods of that namespace and name: an orphaned pod, and the pod that replaced it. */
export function namedPods(
  { pods = [], namespaces = [] }: Pick<PlanOptions, 'pods' | 'namespaces'>,
  classes: PodClasses,
): NamedPods {
  const found = pods.map((given) => ({ given, pods: podsNamed(given, namespaces, classes.all) }))
  const ambiguous = found.filter(({ given, pods: candidates }) => isAmbiguous(given, candidates))
  return {
    pods: found.flatMap((each) =>
      each.pods.length === 0 || ambiguous.includes(each) ? [each.given] : each.pods.map(({ uid }) => uid),
    ),
    ambiguous,
  }
}

function podsNamed(given: string, namespaces: readonly string[], pods: readonly PodClass[]): readonly PodClass[] {
  const here = pods.filter(({ ref }) => namespaces.length === 0 || namespaces.includes(ref.namespace ?? ''))
  const isUid = ({ uid, pod }: PodClass): boolean =>
    uid === given || (pod !== undefined && namedUids(pod).includes(given))
  return podsCalled(given, { pods, here }, ({ ref }) => ref, isUid)
}

function isAmbiguous(given: string, candidates: readonly PodClass[]): boolean {
  const [first, ...others] = candidates
  if (first === undefined || candidates.some(({ uid }) => uid === given)) return false
  const name = namespacedName(first.ref)
  return others.some(({ ref }) => ref.name === undefined || namespacedName(ref) !== name)
}

/** Pods and namespaces that nothing here has. @param hint how pods can be given */
export function podFaults(
  { pods = [], namespaces = [] }: Pick<PlanOptions, 'pods' | 'namespaces'>,
  classes: PodClasses,
  hint: string,
): NameFault[] {
  const named = namedPods({ pods, namespaces }, classes)
  const several = new Set(named.ambiguous.map(({ given }) => given))
  const missing = named.pods.filter((each) => classes.of(each) === undefined && !several.has(each))
  const place = 'on this node'
  const ofNamespace = 'The namespace of a deleted pod may not be known any more. See the pods: volctl status'
  return [
    ...named.ambiguous.map((each) => ambiguousPods(each.given, refsOf(each.pods))),
    ...nameFaults(missing, () => namesOfPods(classes), { place, noun: 'pod', hint }),
    ...nameFaults(namespaces, () => namespacesOfPods(classes), {
      place,
      noun: 'namespace with a pod',
      hint: ofNamespace,
    }),
  ]
}

function refsOf(pods: readonly PodClass[]): PodRef[] {
  return pods.map(({ ref }) => ref)
}

/** What people call them; of unknown names only their UIDs. */
function namesOfPods({ all }: PodClasses): string[] {
  return all.flatMap(({ uid, ref }) => [uid, ...(ref.name === undefined ? [] : [namespacedName(ref), ref.name])])
}

function namespacesOfPods({ all }: PodClasses): ReadonlySet<string> {
  return new Set(all.flatMap(({ ref }) => (ref.name === undefined ? [] : (ref.namespace ?? 'default'))))
}
