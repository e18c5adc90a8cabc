/** As --kubeconfig: the service account of the Pod that volctl runs in, and nothing else. A file of this name is ./in-cluster. */
export const IN_CLUSTER = 'in-cluster'
