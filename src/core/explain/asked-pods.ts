/** Pods whose directories an answer needs in full; known before the question is resolved. */
import { namedUids, podNamespace } from '../desired/pods.ts'
import { claimReferenceOf } from '../desired/resolve-claim.ts'
import type { Pod, PodVolumeSource } from '../model/objects.ts'
import { isUid } from '../names/uid.ts'
import { splitPrefix } from './kinds.ts'

/**
 * The pods that a question means by their UID or name, with all that share a claim with them, or that may share an inline volume:
 * an answer describes the directories of these. Of any other pod it says no more than a plan does.
 *
 * @param what as typed, with or without its kind
 * @returns on-disk UIDs; undefined if the question may mean something else than these pods: then all pods count
 */
export function podsAskedFor(what: string, pods: readonly Pod[]): ReadonlySet<string> | undefined {
  const { kind, name } = splitPrefix(what)
  const isPodsName = kind === 'Pod' || (kind === undefined && (isUid(name) || name.split('/').length === 2))
  if (!isPodsName) return undefined
  const asked = pods.filter((pod) => isNamed(pod, name))
  // A UID of a pod that only the disk knows, a claim as NAMESPACE/NAME.
  if (asked.length === 0 || (kind === undefined && pods.some((pod) => claimsOf(pod).includes(name)))) return undefined
  const shared = new Set(asked.flatMap(claimsOf))
  const wanted = pods.filter((pod) => asked.includes(pod) || sharesMaybe(pod, shared))
  return new Set(wanted.flatMap(namedUids))
}

function isNamed(pod: Pod, name: string): boolean {
  const full = `${podNamespace(pod)}/${pod.metadata.name}`
  return name === full || name === pod.metadata.name || namedUids(pod).includes(name)
}

/** NAMESPACE/NAME of each. */
function claimsOf(pod: Pod): string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) =>
    [true, false].flatMap((ephemeralFirst) => {
      const claim = claimReferenceOf(pod, volume, { ephemeralFirst })
      return claim === undefined ? [] : [`${podNamespace(pod)}/${claim.name}`]
    }),
  )
}

function sharesMaybe(pod: Pod, shared: ReadonlySet<string>): boolean {
  return claimsOf(pod).some((claim) => shared.has(claim)) || (pod.spec.volumes ?? []).some(isSharedInline)
}

/** Volumes that no other pod can have, and claims, which are compared by name. */
const OWN: ReadonlySet<string> = new Set<keyof PodVolumeSource>([
  'emptyDir',
  'gitRepo',
  'configMap',
  'secret',
  'downwardAPI',
  'projected',
  'csi',
  'image',
  'hostPath',
  'persistentVolumeClaim',
  'ephemeral',
])

function isSharedInline({ name: _, ...source }: PodVolumeSource): boolean {
  return Object.entries(source).some(([kind, value]) => value != null && !OWN.has(kind))
}
