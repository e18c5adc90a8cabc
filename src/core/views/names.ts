/** `-o name`: what an answer is about, one TYPE/NAME a line as kubectl has it. `volctl explain` takes each of them. */

import { terminalSafe } from '../base/terminal-safe.ts'
import type { Subject } from '../explain/explanation.ts'
import type { LineAnswer } from '../explain/log-lines/explain-line.ts'
import type { StatusRow } from '../explain/status/status.ts'
import type { AnyOperation } from '../plan/cluster-plan.ts'
import type { Operation, PodRef, VolumeRef } from '../plan/plan.ts'
import { podName } from '../plan/pod-name.ts'

/** Pods, volumes and attachments of the operations, blocked ones included, in the order of the plan. */
export function namesOfPlan({ operations }: { readonly operations: readonly AnyOperation[] }): string[] {
  const pods = new Map(operations.flatMap((each) => ('pod' in each && each.pod ? [[each.pod.uid, each.pod]] : [])))
  const called = Map.groupBy(pods.values(), podName)
  const isShared = (pod: PodRef): boolean => (called.get(podName(pod))?.length ?? 0) > 1
  return operations.map((operation) => subjectOf(operation, isShared))
}

/** Pods, and volumes that are no pod's any more, of these rows, in their order. */
export function namesOfRows(rows: readonly Pick<StatusRow, 'pod' | 'volume' | 'desired'>[]): string[] {
  return rows.map(({ pod, volume, desired }) =>
    pod === undefined ? volumeName(volume) : `pod/${desired === 'notWanted' ? pod.uid : podName(pod)}`,
  )
}

function subjectOf(operation: AnyOperation, isShared: (pod: PodRef) => boolean): string {
  if (operation.attachment !== undefined) return `volumeattachment/${operation.attachment.name}`
  const { pod, volume, paths, basis } = operation as Operation
  // Of a deleted pod another may have the name.
  const isListed = basis?.pod?.listed !== false
  if (pod !== undefined) return `pod/${isListed && !isShared(pod) ? podName(pod) : pod.uid}`
  return volume === undefined ? `path/${paths[0] ?? ''}` : volumeName(volume)
}

function volumeName({ persistentVolume, uniqueName, name }: VolumeRef): string {
  return persistentVolume === undefined ? `volume/${uniqueName ?? name}` : `persistentvolume/${persistentVolume}`
}

/** What of the names in a line of a log is on this node. */
export function namesOfLine({ names }: Pick<LineAnswer, 'names'>): string[] {
  return names.flatMap(({ found, subject }) => (found && subject !== undefined ? subjectName(subject) : []))
}

export function subjectName({ kind, name }: Subject): string {
  return `${kind.toLowerCase()}/${name}`
}

/** Each once. */
export function renderNames(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `${terminalSafe(name)}\n`).join('')
}
