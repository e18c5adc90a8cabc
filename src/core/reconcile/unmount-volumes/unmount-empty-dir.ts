/** emptyDir and the volumes built on it: the only ones whose data a teardown deletes (R437, P42; S12, S13, O13, O14). */

import type { PodVolume } from '../../actual/pod-volume.ts'
import { shellWord } from '../../lang/shell-word.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import { deadWords } from '../../mountinfo/dead-words.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import type { Findings, Obstacle } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import { DELETE_DATA } from '../context/hints.ts'
import { layersBelowDead } from '../context/layers.ts'
import { memoryBehind, memoryObstacle, UNCOUNTED } from '../obstacles/memory-data.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { countOf, notReadWhole, unmountContent } from './unmount-content.ts'

/** Disk, memory or huge pages: its data goes only with --orphans (S13). */
export function unmountEmptyDir(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const files = volume.content.filter((entry) => entry.type !== 'dir')
  const mounted = volume.layers.length > 0
  if (mounted && context.inputs.deadError(volume.dir) !== undefined) {
    unmountDead(context, findings, pod, volume)
    return
  }
  const memory = mounted ? volume.layers : memoryBehind(context, pod.uid, volume.subPaths)
  const unread = notReadWhole(context, volume, volume.content)
  const hasData = memory.length > 0 || files.length > 0 || unread !== undefined
  unmountContent(context, findings, pod, volume, 'emptyDir', {
    onRecord: files.length > 0 || unread !== undefined,
    emptied: volume.content.length > 0 || unread !== undefined,
    deletes: hasData ? (memory.length > 0 || unread !== undefined ? UNCOUNTED : countOf(files)) : undefined,
    guard: !hasData || context.options.orphans ? undefined : dataObstacle(context, volume, { memory, unread, files }),
  })
}

/** S13: the data that is deleted with the volume, as far as it is known. */
function dataObstacle(
  context: PlanContext,
  volume: PodVolume,
  found: { memory: readonly MountInfo[]; unread: TreeEntry | undefined; files: readonly TreeEntry[] },
): Obstacle {
  const { memory, unread, files } = found
  if (unread !== undefined) {
    return {
      code: 'DeletesData',
      message: `${context.inputs.absolute(unread.path)} could not be read completely: ${unread.error}; what it contains is not known`,
      hint: DELETE_DATA,
    }
  }
  if (memory.length > 0) return memoryObstacle(volume.name, memory)
  return {
    code: 'DeletesData',
    message: `emptyDir ${volume.name} contains ${files.length} file${files.length === 1 ? '' : 's'} (${countOf(files).bytes} bytes)`,
    hint: DELETE_DATA,
  }
}

/**
 * O41: no path leads past a dead mount on an emptyDir, so it goes only when a person says so (S20). It shows no data, and what it
 * hides is unknown: deleted only with --orphans.
 */
function unmountDead(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const { orphans } = context.options
  const hidden = [...layersBelowDead(volume.layers), ...memoryBehind(context, pod.uid, volume.subPaths)]
  unmountContent(context, findings, pod, volume, 'emptyDir', {
    onRecord: true,
    emptied: orphans,
    deletes: orphans || hidden.length > 0 ? UNCOUNTED : undefined,
    guard:
      deadObstacle(context, volume) ??
      (orphans || hidden.length === 0 ? undefined : memoryObstacle(volume.name, hidden)),
    keepsDirectory: !orphans,
  })
}

function deadObstacle({ inputs, options }: PlanContext, { dir, name }: PodVolume): Obstacle | undefined {
  const path = inputs.absolute(dir)
  if (options.lazy.includes(path) || options.forceUnmount.includes(path)) return undefined
  const words = deadWords(inputs.deadError(dir) ?? '')
  return {
    code: 'DeadMount',
    message: `what is mounted on emptyDir ${name} is dead: ${words}; what it covers cannot be seen`,
    hint: `Restart what serves it, or take it off: volctl plan ${options.orphans ? '--orphans ' : ''}--lazy ${shellWord(path)}`,
  }
}
