import { defined } from '../lang/defined.ts'
import { type HostIdentity, hostIdentity } from './host-identity.ts'
import type { LocatedNode } from './locate-node.ts'

/** Identity of the host that this node is; of a test's host what the test says. */
export function identityOf({ kubelet, places }: Pick<LocatedNode, 'kubelet' | 'places'>): HostIdentity {
  const { machineID, systemUUID, bootID, bootTime, kernelVersion } = { ...places }
  return {
    ...hostIdentity('', kubelet?.flags),
    ...defined({ machineID, systemUUID, bootID, bootTime, kernelVersion }),
  }
}
