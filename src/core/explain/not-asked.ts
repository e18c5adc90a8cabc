/** Holders in an answer for which nobody looked, and why. */
import type { HoldersView } from './explanation.ts'

/** What a snapshot can say of holders. */
export const FROM_SNAPSHOT = notAsked('a snapshot cannot tell who holds it: run volctl explain on the node')

/** Where nothing of it is on this node. */
export const NOTHING_TO_HOLD = notAsked('nothing of it is mounted, mapped or on disk here: there is nothing to hold')

function notAsked(why: string): HoldersView {
  return { known: false, processes: [], namespaces: [], loops: [], kernel: [], notes: [why] }
}
