/** secret, configMap, downwardAPI, projected: content that the kubelet's own atomic writer made (P22; S13, O13). */

import type { PodVolume } from '../../actual/pod-volume.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import type { Findings, Obstacle } from '../../plan/draft.ts'
import { madeByAtomicWriter } from '../../plugins/atomic-writer.ts'
import type { PlanContext } from '../context/context.ts'
import { leaveEmpty } from '../context/pod-facts.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { reportKept } from './kept-files.ts'
import { countOf, notReadWhole, unmountContent } from './unmount-content.ts'

/** The kubelet's own files go; anybody else's stop it. */
export function unmountProjected(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const inside = context.inputs.tree.descendants(volume.dir)
  const strangers = inside.filter((entry) => !madeByAtomicWriter(entry, entry.path.slice(volume.dir.length + 1)))
  const own = inside.filter((entry) => entry.type !== 'dir' && !strangers.includes(entry))
  const [first] = strangers
  if (first !== undefined && volume.layers.length === 0 && own.length === 0 && volume.markers.length === 0) {
    for (const entry of strangers) {
      reportKept(context, findings, volume, entry, 'UnexpectedFile', "is not of the kubelet's making")
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
    message: `${context.inputs.absolute(stranger.path)} is not of the kubelet's making and would be deleted with volume ${volume.name}`,
    hint: 'Move it away or delete it yourself, then plan again.',
  }
}

/** Whose the files are that were not seen is not known, and --orphans is for an emptyDir's alone (S13). */
function unreadObstacle(context: PlanContext, volume: PodVolume, inside: readonly TreeEntry[]): Obstacle | undefined {
  const directories = inside.filter((entry) => entry.type === 'dir')
  const unread = notReadWhole(context, volume, directories)
  if (unread === undefined) return undefined
  return {
    code: 'TreeUnreadable',
    message: `${context.inputs.absolute(unread.path)} could not be read whole (${unread.error}), and may hold files that are not of the kubelet's making`,
    hint: 'Look into it, and repair its file system where it fails; then plan again.',
  }
}
