/** secret, configMap, downwardAPI, projected: content that the kubelet's own atomic writer made (P22; S13, O13). */

import type { PodVolume } from '../../actual/pod-volume.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import type { Findings, Obstacle } from '../../plan/draft.ts'
import { madeByAtomicWriter } from '../../plugins/atomic-writer.ts'
import type { PlanContext } from '../context/context.ts'
import { CLEAR_AWAY } from '../context/hints.ts'
import { leaveEmpty } from '../context/pod-facts.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { reportKept } from './kept-files.ts'
import { countOf, notReadWhole, unmountContent } from './unmount-content.ts'

/** The kubelet's own files are deleted; any other file blocks that. */
export function unmountProjected(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const inside = context.inputs.tree.descendants(volume.dir)
  const strangers = inside.filter((entry) => !madeByAtomicWriter(entry, entry.path.slice(volume.dir.length + 1)))
  const own = inside.filter((entry) => entry.type !== 'dir' && !strangers.includes(entry))
  const [first] = strangers
  if (first !== undefined && volume.layers.length === 0 && own.length === 0 && volume.markers.length === 0) {
    for (const entry of strangers) {
      reportKept(context, findings, volume, entry, 'UnexpectedFile', 'was not created by the kubelet')
    }
    leaveEmpty(context, findings, volume)
    return
  }
  unmountContent(context, findings, pod, volume, 'projected', {
    onRecord: own.length > 0,
    emptied: volume.content.length > 0,
    deletes: own.length > 0 ? countOf(own) : undefined,
    guard: strangerObstacle(context, volume, first) ?? unreadObstacle(context, volume, inside),
  })
}

function strangerObstacle(
  context: PlanContext,
  volume: PodVolume,
  stranger: TreeEntry | undefined,
): Obstacle | undefined {
  if (stranger === undefined) return undefined
  return {
    code: 'UnexpectedFile',
    message: `${context.inputs.absolute(stranger.path)} was not created by the kubelet and would be deleted with volume ${volume.name}`,
    hint: CLEAR_AWAY,
  }
}

/** It is unknown whose the unseen files are, and --orphans is only for files of an emptyDir (S13). */
function unreadObstacle(context: PlanContext, volume: PodVolume, inside: readonly TreeEntry[]): Obstacle | undefined {
  const directories = inside.filter((entry) => entry.type === 'dir')
  const unread = notReadWhole(context, volume, directories)
  if (unread === undefined) return undefined
  return {
    code: 'TreeUnreadable',
    message: `${context.inputs.absolute(unread.path)} could not be read completely (${unread.error}) and may contain files that the kubelet did not create`,
    hint: 'Look at the directory; repair its file system if it is damaged, then plan again.',
  }
}
