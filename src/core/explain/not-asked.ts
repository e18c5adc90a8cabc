/** Holders in an answer for which nobody looked, and why. */
import type { HoldersView } from './explanation.ts'

/** What a snapshot can say of holders. */
export const FROM_SNAPSHOT = notAsked('not part of a snapshot: run volctl explain on the node')

/** Where nothing of it is on this node. */
export const NOTHING_TO_HOLD = notAsked('nothing to hold: no mount, map or directory of this is on this node')

/** Of a node as a whole nobody asks all processes about all volumes. */
export const OF_NODE = notAsked('not looked for: ask for a pod, a volume or a path of the node')

function notAsked(why: string): HoldersView {
  return { known: false, processes: [], namespaces: [], loops: [], kernel: [], notes: [why] }
}
