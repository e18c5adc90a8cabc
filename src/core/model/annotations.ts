/** Annotations by which the attach/detach controller learns how it is configured. */

/** The controller manages a node if the key exists, whatever its value (R702). */
export const MANAGED = 'volumes.kubernetes.io/controller-managed-attach-detach'

/** What pods that have ended have stays attached (R710). */
export const KEEPS_TERMINATED = 'volumes.kubernetes.io/keep-terminated-pod-volumes'
