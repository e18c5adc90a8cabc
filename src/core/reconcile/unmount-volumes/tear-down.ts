/** The operation of a volume whose directory the kubelet empties: emptyDir, and what it wraps (R437; S12). */

import type { PodVolume } from '../../actual/pod-volume.ts'
import { parentOf } from '../../actual/tree.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import { uniquePodVolumeName } from '../../names/volume-names.ts'
import { expectedMount, type Findings, type Obstacle } from '../../plan/draft.ts'
import type { Operation, Step, VolumeRef } from '../../plan/plan.ts'
import { allowedFsTypes, type TeardownFamily } from '../../plugins/teardown-family.ts'
import { type PlanContext, waitToSettle } from '../context/context.ts'
import { foreignObstacle, layerObstacle, umountSteps } from '../context/layers.ts'
import { gone, leaveEmpty, podTimes } from '../context/pod-facts.ts'
import { contentObstacle } from '../obstacles/content-users.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { subPathWork } from './sub-path-steps.ts'

/** The volume's directory, or an entry below it, that may hold more than was seen. */
export function notReadWhole(
  { inputs }: PlanContext,
  volume: PodVolume,
  inside: readonly TreeEntry[],
): TreeEntry | undefined {
  return [inputs.tree.get(volume.dir), ...inside].find((entry) => entry?.error !== undefined)
}

interface Content {
  readonly onRecord: boolean
  /** Is what lies on the disk itself deleted, by descriptors. */
  readonly emptied: boolean
  readonly deletes: Operation['deletes'] | undefined
  readonly guard: Obstacle | undefined
  /** What a dead mount hides stays, and so do directory and marker. */
  readonly keepsDirectory?: boolean
}

export function tearDown(
  context: PlanContext,
  findings: Findings,
  pod: PodClass,
  volume: PodVolume,
  family: TeardownFamily,
  { onRecord, emptied, deletes, guard, keepsDirectory = false }: Content,
): void {
  const { inputs } = context
  const exists = inputs.tree.isDir(volume.dir) || volume.layers.length > 0
  const work = subPathWork(context, volume.subPaths)
  const setUp = volume.layers.length > 0 || onRecord || work.removes.length > 0 || (volume.markers.length > 0 && exists)
  if (!setUp) {
    leaveEmpty(context, findings, volume)
    return
  }
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
    ...(keepsDirectory ? [] : markers),
    ...umountSteps(context, dir, volume.layers),
    ...(emptied ? [{ op: 'deleteContent' as const, target: dir }] : []),
    ...(exists && !keepsDirectory ? [{ op: 'rmdir' as const, target: dir }] : []),
  ]
  const removes = new Set([...work.removes, ...volume.layers.map((layer) => layer.id)])
  // A tmpfs that shows a secret is no data of its own (S13), and a mount that is dead shows nothing.
  const inMemory = family === 'emptyDir' ? (allowedFsTypes(family) ?? []) : []
  const layers = volume.layers.filter(({ fsType }) => inMemory.includes(fsType))
  const blocked =
    work.obstacle ??
    foreignObstacle(context, volume.foreign) ??
    layerObstacle(context, dir, volume.layers, allowedFsTypes(family)) ??
    guard ??
    (keepsDirectory ? undefined : contentObstacle(context, { dir, layers, removes, podUid: pod.uid }))
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
    removes,
    ...(blocked === undefined ? {} : { blocked }),
    ...(family === 'emptyDir' && deletes !== undefined ? { kubeletWould: 'delete the content without asking' } : {}),
  })
}

export function countOf(files: readonly TreeEntry[]): { files: number; bytes: number } {
  return { files: files.length, bytes: files.reduce((sum, entry) => sum + (entry.size ?? 0), 0) }
}
