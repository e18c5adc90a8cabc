/** Mount options of the tmpfs of an emptyDir in memory, or of a secret and the like (P38, P39). */
import type { VolumeToMount } from '../desired/desired-state.ts'
import { parseQuantity } from '../desired/quantity.ts'
import type { Container, Pod } from '../model/objects.ts'
import type { SetUpContext } from './plugin.ts'

/** The first kernel whose tmpfs can be kept out of swap. */
const NOSWAP_SINCE = [6, 4] as const

export function tmpfsOptions({ inputs }: SetUpContext, { pod, source }: VolumeToMount): readonly string[] {
  const { api, kernelVersion, userNamespace = false } = inputs.snapshot
  const size = tmpfsSize(
    parseQuantity(api?.node?.status?.allocatable?.memory) ?? 0n,
    podMemoryLimit(pod),
    parseQuantity(source?.emptyDir?.sizeLimit),
  )
  return [
    ...(size === undefined ? [] : [`size=${size}`]),
    ...(knowsNoswap(kernelVersion) && !userNamespace ? ['noswap'] : []),
  ]
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
 * By the kernel's version alone, never by a trial mount: an older kernel with a backport mounts without noswap. In a user
 * namespace no kernel accepts the option.
 */
export function knowsNoswap(kernelVersion = ''): boolean {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(kernelVersion) ?? []
  const [sinceMajor, sinceMinor] = NOSWAP_SINCE
  return Number(major) > sinceMajor || (Number(major) === sinceMajor && Number(minor) >= sinceMinor)
}

/**
 * The memory limit of a pod's cgroup, as in the kubelet's ResourceConfigForPod (P38).
 * Every container has to have a limit, or the pod itself. Init containers run one after the other; restartable ones (sidecars)
 * run beside all later containers. The runtime's overhead is added.
 *
 * @returns bytes; undefined: the cgroup has no limit
 */
export function podMemoryLimit({ spec }: Pod): bigint | undefined {
  const containers = (spec.containers ?? []).map(limitOf)
  const { atOnce, sidecars } = initContainerUse(spec.initContainers ?? [])
  const together = max([sum(containers) + sidecars, ...atOnce])
  const ofPod = parseQuantity(spec.resources?.limits?.memory)
  const declared = [...containers, ...atOnce].every((limit) => limit > 0n) || (ofPod ?? 0n) > 0n
  const limit = ofPod ?? together
  if (!declared || limit <= 0n) return undefined
  return limit + (parseQuantity(spec.overhead?.memory) ?? 0n)
}

/** `atOnce`: the sum of the limits while each init container runs. */
function initContainerUse(containers: readonly Container[]): { atOnce: bigint[]; sidecars: bigint } {
  let sidecars = 0n
  const atOnce: bigint[] = []
  for (const container of containers) {
    const limit = limitOf(container)
    atOnce.push(sidecars + limit)
    if (container.restartPolicy === 'Always') sidecars += limit
  }
  return { atOnce, sidecars }
}

function limitOf({ resources }: Container): bigint {
  return parseQuantity(resources?.limits?.memory) ?? 0n
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

function max(values: readonly bigint[]): bigint {
  let most = 0n
  for (const value of values) if (value > most) most = value
  return most
}
