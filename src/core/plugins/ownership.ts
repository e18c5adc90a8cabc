/** fsGroup of a pod, as the step that gives a volume to it (P15, P31, P32, P34). */
import type { VolumeToMount } from '../desired/desired-state.ts'
import type { Step } from '../plan/plan.ts'

export interface OwnershipRules {
  /** Fewer bits are set: the pod only reads the files. */
  readonly readOnly?: boolean
  /** The plugin passes no policy, and always walks (P32). */
  readonly ignorePolicy?: boolean
  /** The volume counts as set up even if the walk fails (P34). */
  readonly ignoreErrors?: boolean
}

/**
 * @param target absolute path of the volume's directory
 * @returns one step, or none if the pod asks for no group
 */
export function ownershipOf(
  { pod }: Pick<VolumeToMount, 'pod'>,
  target: string,
  { readOnly = false, ignorePolicy = false, ignoreErrors = false }: OwnershipRules = {},
): readonly Step[] {
  const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {}
  if (fsGroup == null) return []
  // Any other policy always walks; without a policy, the walk is done, too.
  const policy = !ignorePolicy && fsGroupChangePolicy === 'OnRootMismatch' ? 'OnRootMismatch' : 'Always'
  return [{ op: 'setOwnership', target, ownership: { gid: fsGroup, policy, readOnly, ignoreErrors } }]
}
