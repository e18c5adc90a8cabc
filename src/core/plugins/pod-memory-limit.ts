/** The memory limit of a pod's cgroup, as in the kubelet's ResourceConfigForPod (P38). */
import { parseQuantity } from '../desired/quantity.ts'
import type { Container, Pod } from '../model/objects.ts'

/**
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
