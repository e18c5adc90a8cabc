/** What the API server and its controllers call things: UIDs, and annotations by which the attach/detach controller is configured. */

/** For patterns in which a UID is a part. */
export const UID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

const WHOLE = new RegExp(`^${UID}$`)

/** Does the text look like a UID, and like nothing else? */
export function isUid(text: string): boolean {
  return WHOLE.test(text)
}

/** The controller manages a node if the key exists, whatever its value (R702). */
export const MANAGED = 'volumes.kubernetes.io/controller-managed-attach-detach'

/** What pods that have ended have stays attached (R710). */
export const KEEPS_TERMINATED = 'volumes.kubernetes.io/keep-terminated-pod-volumes'

/** As --kubeconfig: the service account of the Pod that volctl runs in, and nothing else. A file of this name is ./in-cluster. */
export const IN_CLUSTER = 'in-cluster'

/** Prefix of the user names of nodes (N29). */
export const NODE_USER = 'system:node:'

/** `namespace/name`; an object without a namespace is in "default". */
export function namespacedName({ namespace, name }: { readonly namespace?: string; readonly name?: string }): string {
  return `${namespace ?? 'default'}/${name ?? ''}`
}
