/** Sub-path mounts that are all that is left of a volume: they are unmounted by the mount table (O17, O18, P142). */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { SubPaths } from '../../facts/actual/pod-volumes.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import type { Findings } from '../../plan/draft.ts'
import type { Subject } from '../../plan/subject.ts'
import type { PlanContext } from '../context/context.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { subPathWork } from '../tear-down/sub-path-steps.ts'
import { tearDown } from '../tear-down/tear-down.ts'
import { memoryBehind, UNCOUNTED } from './memory-data.ts'

interface Leaked {
  /** What is missing of the volume, with its name. */
  readonly why: string
  readonly subject: Subject
  /** As its directory says, where there is one. */
  readonly plugin?: string
}

export function unmountLeakedSubPaths(
  context: PlanContext,
  findings: Findings,
  pod: PodClass,
  subPaths: SubPaths,
  { why, subject, plugin }: Leaked,
): void {
  const volumeName = subPaths.volumeName
  const persistentVolume = context.objects.persistentVolume(volumeName)
  const volume = {
    name: volumeName,
    plugin: plugin ?? (persistentVolume?.spec.csi === undefined ? 'unknown' : CSI_PLUGIN),
    mode: 'Filesystem' as const,
    ...omitUndefined({ persistentVolume: persistentVolume && volumeName }),
  }
  tearDown(context, findings, { kind: 'UnmountVolume', pod, volume, subject }, () => {
    const work = subPathWork(context, subPaths)
    const left = work.steps.filter(({ op }) => op === 'umount').length
    const memory = memoryBehind(context, pod.uid, subPaths)
    return {
      reason: 'LeakedSubPath',
      rule: 'O17',
      message: `${why}, but ${left} sub-path mount${left === 1 ? ' is' : 's are'} left`,
      subPaths: work,
      steps: work.steps,
      mounts: [],
      data: { name: volumeName, memory },
      deletes: memory.length === 0 ? undefined : UNCOUNTED,
      kubeletWould: 'leave the sub-paths mounted for ever, and fail to remove the pod directory every 2 s',
    }
  })
}
