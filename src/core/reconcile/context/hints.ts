/** Next steps that several phases give. */
import type { PlanContext } from './context.ts'
import { howToStart } from './kubelet-unit.ts'

/**
 * S13: what volctl leaves, a kubelet that starts does not (O40, O47): that is said before anyone starts it.
 *
 * @param what the kubelet deletes
 */
export function lostAtStart<T extends { readonly message: string; readonly hint?: string }>(
  { inputs }: PlanContext,
  said: T,
  what = 'it',
): T {
  if (inputs.snapshot.kubelet?.running === true) return said
  const { message, hint = '' } = said
  return {
    ...said,
    message: `${message}; a kubelet that starts deletes ${what}`,
    hint: `Do not start the kubelet yet. ${hint}`.trim(),
  }
}

/** S38: for files that a container writes where its volume should be. */
export const STOP_AND_SAVE =
  'Stop the pod, save what it has written there, and delete the pod: only a new one gets its volume.'

/** S13. */
export const DELETE_DATA = 'To delete the data as well: volctl apply --orphans'

/** The same of directories without data. */
export const REMOVE_DIRECTORIES = 'To remove what is left of deleted pods: volctl apply --orphans'

/** For work that volctl cannot do, and a kubelet can. @param why follows the command */
export function startKubelet({ inputs }: PlanContext, why = 'it mounts the volume'): string {
  return `S${howToStart(inputs.snapshot.kubelet).slice(1)}: ${why}.`
}

/** @param what "list persistentvolumes" */
export function useCredential(what: string): string {
  return `Use a credential that may ${what} (--kubeconfig).`
}
