/** emptyDir and the volumes built on it: the only ones whose content a teardown deletes (R437, P42; S12, S13, O13, O14). */
import type { PodVolume } from '../actual/pod-volumes.ts'
import { parentOf } from '../actual/tree.ts'
import type { TreeEntry } from '../model/snapshot.ts'
import { uniquePodVolumeName } from '../names.ts'
import type { Operation, Step, VolumeRef } from '../plan/plan.ts'
import { type PlanContext, waitToSettle } from './context.ts'
import { expectedMount, type Findings, type Obstacle } from './draft.ts'
import { foreignObstacle, layerObstacle, layersBelowDead, umountSteps } from './layers.ts'
import { memoryBehind, memoryObstacle, UNCOUNTED } from './memory-data.ts'
import type { PodClass } from './pod-classes.ts'
import { gone, podTimes } from './pod-facts.ts'
import { subPathWork } from './sub-path-steps.ts'
import { allowedFsTypes, madeByAtomicWriter, type TeardownFamily } from './teardown-plugins.ts'

/** Disk, memory or huge pages: its data goes only with --orphans (S13). */
export function unmountEmptyDir(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const files = volume.content.filter((entry) => entry.type !== 'dir')
  const mounted = volume.layers.length > 0
  if (mounted && context.inputs.deadError(volume.dir) !== undefined) {
    unmountDead(context, findings, pod, volume)
    return
  }
  const memory = mounted ? volume.layers : memoryBehind(context, pod.uid, volume.subPaths)
  const deletes = memory.length > 0 ? UNCOUNTED : countOf(files)
  const hasData = memory.length > 0 || files.length > 0
  const guard: Obstacle | undefined =
    !hasData || context.options.orphans
      ? undefined
      : memory.length > 0
        ? memoryObstacle(volume.name, memory)
        : {
            code: 'DeletesData',
            message: `emptyDir ${volume.name} holds ${files.length} file${files.length === 1 ? '' : 's'} (${deletes.bytes} bytes)`,
            hint: 'Give --orphans to delete it with the pod.',
          }
  tearDown(context, findings, pod, volume, 'emptyDir', {
    onRecord: files.length > 0,
    content: volume.content,
    deletes: hasData ? deletes : undefined,
    guard,
  })
}

/** O20: a dead mount over an emptyDir shows no data, and what lies below it is not known: gone with --orphans only. */
function unmountDead(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const { orphans } = context.options
  const hidden = [...layersBelowDead(volume.layers), ...memoryBehind(context, pod.uid, volume.subPaths)]
  tearDown(context, findings, pod, volume, 'emptyDir', {
    onRecord: true,
    content: [],
    deletes: orphans || hidden.length > 0 ? UNCOUNTED : undefined,
    guard: orphans || hidden.length === 0 ? undefined : memoryObstacle(volume.name, hidden),
    below: orphans ? 'delete' : 'keep',
  })
}

/** secret, configMap, downwardAPI, projected: the kubelet's own files go; anybody else's stop it (S13, O13). */
export function unmountProjected(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  const inside = context.inputs.tree.descendants(volume.dir)
  const strangers = inside.filter((entry) => !madeByAtomicWriter(entry, entry.path.slice(volume.dir.length + 1)))
  const own = inside.filter((entry) => entry.type !== 'dir' && !strangers.includes(entry))
  const [first] = strangers
  if (first !== undefined && volume.layers.length === 0 && own.length === 0 && volume.markers.length === 0) {
    for (const entry of strangers) reportKept(context, findings, pod, volume, entry)
    return
  }
  const guard: Obstacle | undefined =
    first === undefined
      ? undefined
      : {
          code: 'UnexpectedFile',
          message: `${context.inputs.absolute(first.path)} is not of the kubelet's making and would be deleted with volume ${volume.name}`,
          hint: 'Move it away or delete it yourself, then plan again.',
        }
  tearDown(context, findings, pod, volume, 'projected', {
    onRecord: own.length > 0,
    content: volume.content,
    deletes: own.length > 0 ? countOf(own) : undefined,
    guard,
  })
}

interface Content {
  readonly onRecord: boolean
  /** What lies on the disk itself, and is deleted by descriptors. */
  readonly content: readonly TreeEntry[]
  readonly deletes: Operation['deletes'] | undefined
  readonly guard: Obstacle | undefined
  /** What to do with what a dead mount hides; without one there is nothing hidden. */
  readonly below?: 'delete' | 'keep'
}

function tearDown(
  context: PlanContext,
  findings: Findings,
  pod: PodClass,
  volume: PodVolume,
  family: TeardownFamily,
  { onRecord, content, deletes, guard, below }: Content,
): void {
  const { inputs } = context
  const exists = inputs.tree.isDir(volume.dir) || volume.layers.length > 0
  const work = subPathWork(context, volume.subPaths)
  const setUp = volume.layers.length > 0 || onRecord || work.removes.length > 0 || (volume.markers.length > 0 && exists)
  if (!setUp) return
  const ref: VolumeRef = {
    name: volume.name,
    uniqueName: uniquePodVolumeName(volume.plugin, pod.uid, volume.name),
    plugin: volume.plugin,
    mode: 'Filesystem',
  }
  const wait = waitToSettle(context, pod, () => podTimes(context, pod))
  if (wait !== undefined) {
    findings.wait('UnmountVolume', wait, 'S11', { pod: pod.ref, volume: ref })
    return
  }
  const dir = inputs.absolute(volume.dir)
  const markers = volume.markers.flatMap((marker): Step[] => [
    { op: 'unlink', target: inputs.absolute(marker) },
    { op: 'rmdir', target: inputs.absolute(parentOf(marker)) },
  ])
  const steps: Step[] = [
    ...work.steps,
    ...(below === 'keep' ? [] : markers),
    ...umountSteps(context, dir, volume.layers),
    ...(content.length > 0 || below === 'delete' ? [{ op: 'deleteContent' as const, target: dir }] : []),
    ...(exists && below !== 'keep' ? [{ op: 'rmdir' as const, target: dir }] : []),
  ]
  const blocked =
    work.obstacle ??
    foreignObstacle(context, volume.foreign) ??
    layerObstacle(context, dir, volume.layers, allowedFsTypes(family)) ??
    unreadable(context, volume) ??
    guard
  findings.add({
    kind: 'UnmountVolume',
    reason: pod.class === 'Finished' ? 'PodFinished' : 'PodGone',
    message: `${gone(pod)}; ${volume.plugin.replace('kubernetes.io/', '')} volume ${volume.name} is ${volume.layers.length > 0 ? 'mounted' : 'set up'}`,
    pod: pod.ref,
    volume: ref,
    steps,
    paths: [...new Set([...work.paths, dir, ...steps.map((step) => step.target)])],
    after: [],
    ...(deletes === undefined ? {} : { deletes }),
    rule: 'R437',
    expects: [...work.expects, ...(volume.layers.length > 0 ? [expectedMount(dir, volume.layers)] : [])],
    removes: new Set([...work.removes, ...volume.layers.map((layer) => layer.id)]),
    ...(blocked === undefined ? {} : { blocked }),
    ...(family === 'emptyDir' && deletes !== undefined ? { kubeletWould: 'delete the content without asking' } : {}),
  })
}

function countOf(files: readonly TreeEntry[]): { files: number; bytes: number } {
  return { files: files.length, bytes: files.reduce((sum, entry) => sum + (entry.size ?? 0), 0) }
}

/** A directory that could not be read whole may hold anything. */
function unreadable(context: PlanContext, volume: PodVolume): Obstacle | undefined {
  const entry = [context.inputs.tree.get(volume.dir), ...volume.content].find((each) => each?.error !== undefined)
  if (entry === undefined || context.options.orphans) return undefined
  return {
    code: 'DeletesData',
    message: `${context.inputs.absolute(entry.path)} could not be read whole: ${entry.error}`,
    hint: 'Give --orphans to delete it with the pod, whatever it holds.',
  }
}

function reportKept(
  context: PlanContext,
  findings: Findings,
  pod: PodClass,
  volume: PodVolume,
  entry: TreeEntry,
): void {
  findings.problem(
    'warning',
    'UnexpectedFile',
    `${context.inputs.absolute(entry.path)} (${entry.size ?? 'unknown'} bytes) is not of the kubelet's making and is kept`,
    { pod: pod.uid, volume: volume.name, path: context.inputs.absolute(entry.path) },
    'Look at it; move it away or delete it yourself, then plan again.',
  )
}
