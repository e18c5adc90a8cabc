import type { Code } from '../codes/codes.ts'
import type { Because } from '../plan/cause.ts'
import type { UnresolvedVolume } from './desired-state.ts'
import { podNamespace } from './pods.ts'

export const WAITING_FOR = {
  Absent: 'ClaimMissing',
  Unbound: 'ClaimUnbound',
  Unusable: 'VolumeUnresolved',
  Unknown: 'VolumeUnresolved',
} as const satisfies Readonly<Record<UnresolvedVolume['cause'], Code>>

/** Everything that a volume which cannot be resolved holds back has one cause: its claim, where that is known, else the volume. */
export function causeOfUnresolved({ cause, claimName, pod, podUid, podVolumeName }: UnresolvedVolume): Because {
  const code = WAITING_FOR[cause]
  if (claimName !== undefined) return { code, subject: { claim: `${podNamespace(pod)}/${claimName}` } }
  const { namespace, name } = pod.metadata
  return {
    code,
    subject: { volume: podVolumeName, pod: { ...(namespace !== undefined && { namespace }), name, uid: podUid } },
  }
}
