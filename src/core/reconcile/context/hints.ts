/** Next steps that several phases give. */

/** Of a file that volctl never deletes. */
export const CLEAR_AWAY = 'Look at the file; move or delete it yourself, then plan again.'

/** S13. */
export const DELETE_DATA = 'Give --orphans to delete the data as well.'

/** Of what volctl cannot do, and a kubelet can. */
export const START_KUBELET = 'Start the kubelet: it mounts the volume.'

/** Of a mount that is not the volume's, or not known to be. */
export function whoMounted(path: string): string {
  return `Find out who mounted it (findmnt ${path}). Unmount it if nothing needs it, then plan again.`
}

/** @param what "list persistentvolumes" */
export function useCredential(what: string): string {
  return `Use a credential that may ${what} (--kubeconfig).`
}
