/**
 * Phase 1 of the pass: volumes of orphaned or finished pods that are still mounted or set up (R405, R440; contract, kinds).
 *
 * One operation per volume and pod, sub-paths first. Any doubt blocks the operation, and is reported.
 */
import type { PodVolume } from '../../actual/pod-volume.ts'
import { shellWord } from '../../lang/shell-word.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import { deadWords } from '../../mountinfo/dead-words.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import type { Findings, Obstacle } from '../../plan/draft.ts'
import { madeByAtomicWriter } from '../../plugins/atomic-writer.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import type { PlanContext } from '../context/context.ts'
import { CLEAR_AWAY, DELETE_DATA } from '../context/hints.ts'
import { layersBelowDead } from '../context/layers.ts'
import { leaveEmpty } from '../context/pod-facts.ts'
import { memoryBehind, memoryObstacle, UNCOUNTED } from '../obstacles/memory-data.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { reportKept } from './kept-files.ts'
import { countOf, notReadWhole, unmountContent } from './unmount-content.ts'
import { unmountCsiVolume } from './unmount-csi-volume.ts'
import { unmountLeakedSubPaths } from './unmount-leaked-sub-paths.ts'
import { unmountPlain } from './unmount-plain.ts'

/** Adds the unmount operations of every Gone and Finished pod. */
export function unmountVolumes(context: PlanContext, findings: Findings): void {
  for (const pod of context.classes.all) {
    if (pod.class !== 'Gone' && pod.class !== 'Finished') continue
    for (const volume of context.ledger.podVolumes(pod.uid)) unmountVolume(context, findings, pod, volume)
    for (const subPaths of context.ledger.leakedSubPaths(pod.uid)) {
      const why = `the directory of its volume ${subPaths.volumeName} is missing`
      const subject = context.ledger.leaked(pod.uid, subPaths)
      unmountLeakedSubPaths(context, findings, pod, subPaths, { why, subject })
    }
  }
}

function unmountVolume(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  switch (pluginNamed(volume.plugin).tearDown) {
    case 'csi':
      unmountCsiVolume(context, findings, pod, volume)
      break
    case 'emptyDir':
      unmountEmptyDir(context, findings, pod, volume)
      break
    case 'projected':
      unmountProjected(context, findings, pod, volume)
      break
    default:
      unmountPlain(context, findings, pod, volume)
      break
  }
}

/**
 * secret, configMap, downwardAPI, projected: content that the kubelet's own atomic writer made (P22; S13, O13).
 * The kubelet's own files are deleted; any other file blocks that.
 */
function unmountProjected(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
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
    code: 'NodeUnreadable',
    message: `${context.inputs.absolute(unread.path)} could not be read completely (${unread.error}) and may contain files that the kubelet did not create`,
    hint: 'Look at the directory; repair its file system if it is damaged, then plan again.',
  }
}

/**
 * emptyDir and the volumes built on it: the only ones whose data a teardown deletes (R437, P42; S12, S13, O13, O14).
 * Disk, memory or huge pages: its data goes only with --orphans (S13).
 */
function unmountEmptyDir(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
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
