/** Volumes whose directory the kubelet empties: emptyDir, and the volumes built on it (R437; S12). */

import type { PodVolume } from '../../actual/pod-volume.ts'
import { parentOf } from '../../actual/tree.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import { uniquePodVolumeName } from '../../names/volume-names.ts'
import type { Findings, Obstacle } from '../../plan/draft.ts'
import type { Operation, Step, VolumeRef } from '../../plan/plan.ts'
import { allowedFsTypes, type TeardownFamily } from '../../plugins/teardown-family.ts'
import { type PlanContext, waitToSettle } from '../context/context.ts'
import { umountSteps } from '../context/layers.ts'
import { leaveEmpty, podTimes, reasonOf } from '../context/pod-facts.ts'
import { contentObstacle } from '../obstacles/content-users.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { type SubPathWork, subPathWork } from '../tear-down/sub-path-steps.ts'
import { type Parts, targetsOf, tearDown } from '../tear-down/tear-down.ts'

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
  /** Whether the content on the disk itself is deleted, by descriptors. */
  readonly emptied: boolean
  readonly deletes: Operation['deletes'] | undefined
  readonly guard: Obstacle | undefined
  /** A dead mount hides the content: it stays, and so do directory and marker. */
  readonly keepsDirectory?: boolean
}

export function unmountContent(
  context: PlanContext,
  findings: Findings,
  pod: PodClass,
  volume: PodVolume,
  family: TeardownFamily,
  content: Content,
): void {
  const exists = context.inputs.tree.isDir(volume.dir) || volume.layers.length > 0
  const work = subPathWork(context, volume.subPaths)
  const isSetUp =
    volume.layers.length > 0 ||
    volume.foreign.length > 0 ||
    content.onRecord ||
    work.mounts.length > 0 ||
    (volume.markers.length > 0 && exists)
  if (!isSetUp) {
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
  const subject = context.ledger.podVolume(volume)
  tearDown(context, findings, { kind: 'UnmountVolume', pod, volume: ref, subject, wait }, () =>
    partsOf(context, pod, volume, family, content, work),
  )
}

function partsOf(
  context: PlanContext,
  pod: PodClass,
  volume: PodVolume,
  family: TeardownFamily,
  content: Content,
  work: SubPathWork,
): Parts {
  const { deletes, guard, keepsDirectory = false } = content
  const dir = context.inputs.absolute(volume.dir)
  const allowed = allowedFsTypes(family)
  // A tmpfs that shows a secret is not data of the pod (S13), and a dead mount shows nothing.
  const inMemory = family === 'emptyDir' ? (allowed ?? []) : []
  const layers = volume.layers.filter(({ fsType }) => inMemory.includes(fsType))
  const steps = [...work.steps, ...stepsOf(context, volume, dir, content)]
  return {
    reason: reasonOf(pod),
    rule: 'R437',
    message: `${volume.plugin.replace('kubernetes.io/', '')} volume ${volume.name} is ${volume.layers.length > 0 ? 'mounted' : 'set up'}`,
    subPaths: work,
    steps,
    paths: [...work.paths, dir, ...targetsOf(steps)],
    mounts: [{ path: dir, layers: volume.layers }],
    allowed,
    foreign: volume.foreign,
    // A volume in memory is unmounted first, which fails (P42).
    emptiedByKubelet: !(allowed ?? []).includes(volume.layers.at(-1)?.fsType ?? ''),
    obstacle: (removes) =>
      guard ?? (keepsDirectory ? undefined : contentObstacle(context, { dir, layers, removes, podUid: pod.uid })),
    deletes,
    kubeletWould: family === 'emptyDir' && deletes !== undefined ? 'delete the content without asking' : undefined,
  }
}

/** @param dir the volume's, as one text for all that is said of it: a plan looks thousands up */
function stepsOf(
  context: PlanContext,
  volume: PodVolume,
  dir: string,
  { emptied, keepsDirectory = false }: Content,
): Step[] {
  const { inputs } = context
  const exists = inputs.tree.isDir(volume.dir) || volume.layers.length > 0
  const markers = volume.markers.flatMap((marker): Step[] => [
    { op: 'unlink', target: inputs.absolute(marker) },
    { op: 'rmdir', target: inputs.absolute(parentOf(marker)) },
  ])
  return [
    ...(keepsDirectory ? [] : markers),
    ...umountSteps(context, dir, volume.layers),
    ...(emptied ? [{ op: 'deleteContent' as const, target: dir }] : []),
    ...(exists && !keepsDirectory ? [{ op: 'rmdir' as const, target: dir }] : []),
  ]
}

export function countOf(files: readonly TreeEntry[]): { files: number; bytes: number } {
  return { files: files.length, bytes: files.reduce((sum, entry) => sum + (entry.size ?? 0), 0) }
}
