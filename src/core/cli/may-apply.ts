import { missingCapabilities, missingText } from '../linux/capabilities.ts'
import { marked, SafetyRefusal, said, VolctlError } from '../messages/findings.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import { places } from '../node/places.ts'
import { allDoubts } from '../trust/files.ts'
import { requireUnrefused } from './carry-out.ts'

/**
 * Root alone is not enough: a service or a container may run without some of root's capabilities. Without one to look at
 * other processes their mount namespaces could not be read, and what holds a volume there would pass for nobody.
 *
 * @throws VolctlError NotRoot, before anything is read
 */
export function requireRoot(): void {
  if (process.geteuid?.() !== 0) {
    if (places() !== undefined) return
    throw new VolctlError(said('NotRoot.user'), {
      hint: marked('`volctl plan --snapshot` needs no privileges. As root: `sudo volctl apply`'),
    })
  }
  const missing = missingCapabilities()
  if (missing.length === 0) return
  throw new VolctlError(said('NotRoot.lacks', { missing: missingText(missing) }))
}

/** @throws SafetyRefusal where volctl runs in a chroot, a user namespace or the like, or where its container would hold what it
 * unmounts: only reading is possible (S6, S7) */
export function requireStanding({ node }: Pick<CollectedNode, 'node'>): void {
  requireUnrefused({ refused: node.standing[0] })
  // What the kubelet obeys, and volctl does not, may protect any pod's directory (S10), or name another root (S8).
  const doubt = allDoubts().find(({ unknown }) => unknown)
  if (doubt === undefined) return
  const { what, why, hint } = doubt
  throw new SafetyRefusal('S33', said('NotBelieved.file', { path: what, why }), { hint })
}
