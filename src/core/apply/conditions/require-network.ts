/**
 * A network file system lives in the network namespace of the process that mounts it. If that is a container's, the mount
 * dies with the container, under a pod that goes on: every access hangs then, and so does its unmount.
 */

import { OperationRefused } from '../../errors/operation-error.ts'
import type { Host } from '../../host/host.ts'
import type { Operation, Step } from '../../plan/plan.ts'

/** A flexVolume driver may mount anything. */
const FLEX = new Set<Step['op']>(['flexMountDevice', 'flexMount'])

/** @throws OperationRefused OtherNetwork, where volctl is in another network than PID 1 (S6) */
export function requireNetwork({ steps }: Operation, host: Host): void {
  if (!steps.some(mountsOverNetwork) || host.isInNodesNetwork()) return
  throw new OperationRefused(
    'OtherNetwork',
    "volctl runs in a container's network: what is mounted over it would hang as soon as the container ends",
    { hint: 'Run volctl in a Pod with hostNetwork: true (deploy/node-pod.yaml), or on the node itself.' },
  )
}

function mountsOverNetwork(step: Step): boolean {
  return FLEX.has(step.op) || (step.op === 'mount' && step.fsType?.startsWith('nfs') === true)
}
