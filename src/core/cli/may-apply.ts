import { SafetyRefusal, VolctlError } from '../errors.ts'
import type { LocatedNode } from '../node/locate-node.ts'

/** @throws VolctlError NotRoot, before anything is read */
export function requireRoot(): void {
  if (process.geteuid?.() === 0 || process.env.VOLCTL_TEST_HOST !== undefined) return
  throw new VolctlError('NotRoot', 'apply needs root: it unmounts and removes what belongs to the kubelet', {
    hint: 'Run it with sudo. volctl plan --snapshot needs no rights.',
  })
}

/** @throws SafetyRefusal where volctl stands in a chroot, a user namespace or the like: only reading is possible (S6, S7) */
export function requireStanding({ standing }: LocatedNode): void {
  const [obstacle] = standing
  if (obstacle === undefined) return
  const { rule, code, message, hint } = obstacle
  throw new SafetyRefusal(rule, code, message, { hint })
}
