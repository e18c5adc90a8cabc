/** How an emptyDir is made, alone or inside a volume that is built on one (P22, P36, P37). */

import { present } from '../base/text.ts'
import type { Container, Pod } from '../kube/api/objects.ts'
import { whoMounted } from '../linux/mount-table.ts'
import { isKernelSince } from '../linux/stable-table.ts'
import { said } from '../messages/findings.ts'
import { podVolumeDir, readyMarker, type VolumeToMount } from './desired-state.ts'
import type { Obstacle } from './finding.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import type { SetUpContext } from './plugin.ts'
import { parseQuantity } from './quantity.ts'
import type { NodeSnapshot } from './snapshot.ts'
import type { Step } from './steps.ts'

/** Any user may write into an emptyDir; the mode of the pod's directory decides who can reach it (P37). */
const MODE = '0777'

/** What is mounted on the directory; `none`: it is on the kubelet's disk. */
type MediumType = 'none' | 'tmpfs' | 'hugetlbfs'

interface InnerEmptyDir {
  readonly fsType: MediumType
  /** The name of its marker: `wrapped_NAME` inside another volume. */
  readonly marker: string
  /** Of huge pages. */
  readonly pageSize?: string
}

/** Is what the medium needs mounted on the directory? */
function isMounted(inputs: ActualInputs, volume: VolumeToMount, fsType: MediumType): boolean {
  return fsType !== 'none' && inputs.top(podVolumeDir(volume))?.fsType === fsType
}

/** Why the volume's directory or mount is not there (R805); undefined: it is. */
export function whyNotThere(inputs: ActualInputs, volume: VolumeToMount, fsType: MediumType): string | undefined {
  const dir = podVolumeDir(volume)
  if (fsType === 'none')
    return inputs.tree.isDir(dir) || inputs.top(dir) !== undefined ? undefined : 'its directory is missing'
  return isMounted(inputs, volume, fsType) ? undefined : `no ${fsType} is mounted on its directory`
}

/** The marker is written last: without it a set-up did not finish (P21, P36). */
export function whyNotReady({ tree }: ActualInputs, ...marker: Parameters<typeof readyMarker>): string | undefined {
  return tree.has(readyMarker(...marker)) ? undefined : 'its ready marker is missing'
}

/**
 * The directory and its mount, then the caller's content, then the marker that says that the volume is ready. An old marker is
 * removed first, and an existing mount stays: a set-up that was killed half-way is repeated.
 */
export function emptyDirSteps(
  { inputs }: SetUpContext,
  volume: VolumeToMount,
  { fsType, marker, pageSize }: InnerEmptyDir,
  content: readonly Step[],
): Step[] {
  const target = inputs.absolute(podVolumeDir(volume))
  const ready = readyMarker(volume.podUid, marker)
  const [source, options] =
    fsType === 'tmpfs' ? ['tmpfs', tmpfsOptions(inputs.snapshot, volume)] : ['nodev', [`pagesize=${pageSize}`]]
  const made: Step[] = [
    { op: 'mkdir', target, mode: MODE, detail: 'exact' },
    ...(fsType === 'none' ? [] : [{ op: 'mount' as const, target, source, fsType, options }]),
  ]
  return [
    ...(inputs.tree.has(ready) ? [{ op: 'unlink' as const, target: inputs.absolute(ready) }] : []),
    ...(isMounted(inputs, volume, fsType) ? [] : made),
    ...content,
    { op: 'writeMarker', target: inputs.absolute(ready) },
  ]
}

/** Blocks if something else is mounted on the directory: nothing is mounted over it, and nothing in it is touched. */
export function foreignMount(
  { inputs }: SetUpContext,
  volume: VolumeToMount,
  fsType: MediumType,
): Obstacle | undefined {
  const top = inputs.top(podVolumeDir(volume))
  if (top === undefined || isMounted(inputs, volume, fsType)) return undefined
  return inTheWay(inputs.absolute(podVolumeDir(volume)), `a ${top.fsType}`)
}

/** @param what e.g. "a tmpfs" */
export function inTheWay(path: string, what: string): Obstacle {
  return {
    ...said('ForeignMount.notOfVolume', { mount: what, path }),
    hint: whoMounted(path),
  }
}

// Mount options of the tmpfs of an emptyDir in memory, or of a secret and the like (P38, P39).

function tmpfsOptions(snapshot: NodeSnapshot, { pod, source }: VolumeToMount): readonly string[] {
  const { api, kernelVersion, userNamespace = false } = snapshot
  const size = tmpfsSize(
    parseQuantity(api?.node?.status?.allocatable?.memory) ?? 0n,
    podMemoryLimit(pod),
    parseQuantity(source?.emptyDir?.sizeLimit),
  )
  return present(size !== undefined && `size=${size}`, knowsNoswap(kernelVersion) && !userNamespace && 'noswap')
}

/**
 * The node's allocatable memory, or less if the pod or the volume has a lower limit.
 *
 * @returns bytes; undefined: the kernel's own default, half of the memory
 */
export function tmpfsSize(allocatable: bigint, ...limits: readonly (bigint | undefined)[]): bigint | undefined {
  let size = allocatable
  for (const limit of limits) if (limit !== undefined && limit > 0n && limit <= size) size = limit
  return size > 0n ? size : undefined
}

/**
 * Since 6.4 a tmpfs can be kept out of swap. By the kernel's version alone, never by a trial mount: an older kernel with a backport mounts without noswap. In a user
 * namespace no kernel accepts the option.
 */
export function knowsNoswap(kernelVersion = ''): boolean {
  return isKernelSince(6, 4, kernelVersion)
}

/**
 * The memory limit of a pod's cgroup, as in the kubelet's ResourceConfigForPod (P38).
 * Every container has to have a limit, or the pod itself. Init containers run one after the other; restartable ones (sidecars)
 * run beside all later containers. The runtime's overhead is added.
 *
 * @returns bytes; undefined: the cgroup has no limit
 */
export function podMemoryLimit({ spec }: Pod): bigint | undefined {
  const limitOf = ({ resources }: Container): bigint => parseQuantity(resources?.limits?.memory) ?? 0n
  const containers = (spec.containers ?? []).map(limitOf)
  let sidecars = 0n
  /** The sum of the limits while each init container runs. */
  const atOnce = (spec.initContainers ?? []).map((container) => {
    const limit = limitOf(container)
    const all = sidecars + limit
    if (container.restartPolicy === 'Always') sidecars += limit
    return all
  })
  let together = containers.reduce((sum, limit) => sum + limit, sidecars)
  for (const each of atOnce) if (each > together) together = each
  const ofPod = parseQuantity(spec.resources?.limits?.memory)
  const declared = [...containers, ...atOnce].every((limit) => limit > 0n) || (ofPod ?? 0n) > 0n
  const limit = ofPod ?? together
  if (!declared || limit <= 0n) return undefined
  return limit + (parseQuantity(spec.overhead?.memory) ?? 0n)
}
