/** The row of the controller's table by which a volume that no pod wants is detached from a node that exists, or is not (R731). */

/** R725: how long the kubelet of a node that is not ready has to unmount. */
export const MAX_WAIT_FOR_UNMOUNT_MS = 6 * 60_000

export type DetachRow =
  /** Not in use: detached, and only after a fresh look at the Node (R734). R733 is never copied. */
  | 'NotInUse'
  /** Tainted out-of-service, and not ready: detached, in use or not. */
  | 'OutOfService'
  /** Tainted and ready, or in use by the word of a kubelet that is still heard: one of the two is wrong. */
  | 'TaintedButReady'
  /** In use on a node that is ready: the kubelet has to unmount first. */
  | 'InUse'
  /** In use, not ready, and the six minutes are not over. */
  | 'SilentTooShort'
  /** In use, not ready, and its kubelet silent for more than six minutes: the controller detaches by force. */
  | 'NodeLost'
  /** Ready is missing, or none of its three values, or nobody knows since when: nothing is detached. */
  | 'NodeUnknown'

export interface DetachFacts {
  readonly inUse: boolean
  /** Status of the condition Ready. */
  readonly ready: string | undefined
  /** R725: by its key, whatever effect and value. */
  readonly tainted: boolean
  /** The kubelet renews its lease: the machine runs. */
  readonly isHeard: boolean
  /** Milliseconds for which the node is known to be not ready and silent; undefined: not known. */
  readonly silentMs: number | undefined
}

export function detachRow({ inUse, ready, tainted, isHeard, silentMs }: DetachFacts): DetachRow {
  if (ready !== 'True' && ready !== 'False' && ready !== 'Unknown') return 'NodeUnknown'
  if (tainted) return ready === 'True' || (inUse && isHeard) ? 'TaintedButReady' : 'OutOfService'
  if (!inUse) return 'NotInUse'
  if (ready === 'True') return 'InUse'
  if (silentMs === undefined) return 'NodeUnknown'
  return silentMs > MAX_WAIT_FOR_UNMOUNT_MS ? 'NodeLost' : 'SilentTooShort'
}
