/** What a pod object shows: its directory, whether it has finished, and which volumes its containers use. */

import { namespacedName } from '../kube/api/names.ts'
import type { Container, ContainerStatus, Pod } from '../kube/api/objects.ts'
import { isPathName } from '../linux/paths.ts'
import type { PodRef } from './finding.ts'

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'
const HASH_ANNOTATION = 'kubernetes.io/config.hash'

/** Is this the mirror pod of a static pod? It has the annotation, with any value (R202). */
export function isMirrorPod(pod: Pod): boolean {
  return pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined
}

/**
 * The UID that names the pod's directory: a mirror pod's own UID is nowhere on disk, its static pod's is (R225, R226).
 * On an ordinary pod the annotations are text of its author, and are ignored (R203). A UID that is no plain name is nowhere
 * on disk, and must not become a path (S10).
 */
export function onDiskUid(pod: Pod): string {
  if (!isMirrorPod(pod)) return pod.metadata.uid
  const [mirror, hash] = staticUids(pod)
  const uid = mirror || hash
  return uid !== undefined && isPathName(uid) ? uid : pod.metadata.uid
}

/** Every UID under which the pod may have a directory; none of them may be touched while it exists (S10). */
export function protectedUids(pod: Pod): string[] {
  const uids = isMirrorPod(pod) ? [pod.metadata.uid, ...staticUids(pod).toReversed()] : [pod.metadata.uid]
  return [...new Set(uids.flatMap((uid) => uid || []))]
}

/** As a mirror pod's annotations have it: of an ordinary pod they are text of its author. */
function staticUids({ metadata: { annotations } }: Pod): (string | undefined)[] {
  return [MIRROR_ANNOTATION, HASH_ANNOTATION].map((key) => annotations?.[key])
}

/**
 * Every UID that the pod object names, mirror pod or not: more than `protectedUids`, for questions where one UID too many is
 * safe. A static pod's directory is named by the UID in its mirror pod's annotations (R226, S10).
 */
export function namedUids(pod: Pod): string[] {
  return [pod.metadata.uid, ...staticUids(pod).flatMap((uid) => uid ?? [])]
}

export function isTerminalPhase(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
}

/** Is the pod being deleted? Its containers may still run (R209). */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined
}

/**
 * Is the pod terminated for the attach/detach controller? That looks only at the API object, and is weaker than the kubelet's rule:
 * a pod without any container status is terminated; a status without a state counts as running (R221).
 */
export function isControllerTerminated(pod: Pod): boolean {
  if (isTerminalPhase(pod)) return true
  if (!isTerminating(pod)) return false
  return containerStatusesOf(pod).every(({ state }) => (state?.terminated ?? state?.waiting) != null)
}

/** Of init, main and ephemeral containers. */
export function containerStatusesOf({ status }: Pod): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {}
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
}

/** How containers use a volume; both at once is possible, but an error for a claim (R116). */
export interface VolumeUse {
  /** In some container's volumeMounts. */
  readonly mounted: boolean
  /** In some container's volumeDevices. */
  readonly mapped: boolean
}

/** The names of the volumes that any init, main or ephemeral container uses; the kubelet ignores the others (R105). */
export function usedVolumeNames(pod: Pod): Map<string, VolumeUse> {
  const containers = allContainers(pod)
  const mounted = new Set(containers.flatMap(({ volumeMounts }) => volumeMounts ?? []).map(({ name }) => name))
  const mapped = new Set(containers.flatMap(({ volumeDevices }) => volumeDevices ?? []).map(({ name }) => name))
  return new Map(
    [...mounted, ...mapped].map((name) => [name, { mounted: mounted.has(name), mapped: mapped.has(name) }]),
  )
}

/** `namespace/name`, for messages. */
export function podLabel(pod: Pod): string {
  return namespacedName({ namespace: podNamespace(pod), name: pod.metadata.name })
}

export function podNamespace(pod: Pod): string {
  return pod.metadata.namespace || 'default'
}

/** Init, main and ephemeral containers. */
export function allContainers(pod: Pod): Container[] {
  const { initContainers, containers, ephemeralContainers } = pod.spec
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])]
}

// What a pod is called.

/** A pod as `namespace/name` if the name is known, otherwise its UID: `--pod` takes both. */
export function podName(pod: PodRef): string {
  return pod.name === undefined ? pod.uid : namespacedName(pod)
}

/** The same, and the UID beside the name. */
export function podNameAndUid(pod: PodRef): string {
  return pod.name === undefined ? pod.uid : `${namespacedName(pod)} (${pod.uid})`
}

/** One of the pod's containers, if that is known: `container web of pod default/web-0`. */
export function podAndContainer({ pod, container }: { readonly pod: PodRef; readonly container?: string }): string {
  return `${container === undefined ? '' : `container ${container} of `}pod ${podName(pod)}`
}
