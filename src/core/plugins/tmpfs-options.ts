/** Mount options of the tmpfs of an emptyDir in memory, or of a secret and the like (P38, P39). */
import type { VolumeToMount } from '../desired/desired-state.ts'
import { parseQuantity } from '../desired/quantity.ts'
import type { SetUpContext } from './plugin.ts'
import { podMemoryLimit } from './pod-memory-limit.ts'

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
