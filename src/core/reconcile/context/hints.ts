/** Next steps that several phases give. */
import { type Code, remedyOf } from '../../messages/codes.ts'
import type { PlanContext } from './context.ts'
import { howToStart } from './kubelet-unit.ts'

/**
 * S13: what volctl leaves, a kubelet that starts does not (O40, O47): that is said before anyone starts it.
 *
 * @param what the kubelet deletes
 */
export function lostAtStart<T extends { readonly code?: Code; readonly message: string; readonly hint?: string }>(
  { inputs }: PlanContext,
  said: T,
  what = 'it',
): T {
  if (inputs.snapshot.kubelet?.running === true) return said
  const { code, message, hint = code && remedyOf(code) } = said
  return {
    ...said,
    message: `${message}; a kubelet that starts deletes ${what}`,
    hint: `Do not start the kubelet yet. ${hint ?? ''}`.trim(),
  }
}

/** For work that volctl cannot do, and a kubelet can. @param why follows the command */
export function startKubelet({ inputs }: PlanContext, why = 'it mounts the volume'): string {
  return `S${howToStart(inputs.snapshot.kubelet).slice(1)}: ${why}.`
}

/** @param what "list persistentvolumes" */
export function useCredential(what: string): string {
  return `Use a credential that may ${what} (--kubeconfig).`
}
