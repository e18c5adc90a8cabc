/** What has a row in the answer: each pod's part of a volume, the node's own, and volumes that a pod has and no container uses. */

import { GrowingRow, type VolumeRow } from '../../facts/row.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import type { PlanContext } from '../../reconcile/context/context.ts'
import { describeWanted } from '../../reconcile/identity/volume-facts.ts'
import { isLiving, type PodClass } from '../../reconcile/pods/pod-classes.ts'
import { apiLookup } from '../../volumes/api-lookup.ts'
import type { Attachability, VolumeSpec } from '../../volumes/desired-state.ts'
import { usedVolumeNames } from '../../volumes/pods.ts'
import { knownSpec, resolveVolume } from '../../volumes/resolve-volume.ts'
import { partOf, podParts, type VolumePart } from '../volume-part.ts'

/** A volume in a pod's spec that no container uses (R105). */
interface UnusedVolume {
  readonly podVolumeName: string
  readonly ref: VolumeRef
  /** Undefined: it is not known which volume it is. */
  readonly attachability: Attachability | undefined
}

export interface StatusSource extends VolumePart<PodClass | undefined> {
  readonly unused?: UnusedVolume
}

/** In no order. */
export function statusSources(context: PlanContext): StatusSource[] {
  const found = context.ledger.all.flatMap((volume): StatusSource[] => [
    ...podParts(context, volume),
    ...(isOnNode(context, volume) ? [partOf(volume, undefined)] : []),
  ])
  return [...found, ...unusedVolumes(context)]
}

function isOnNode({ objects }: PlanContext, { staged, globals, maps, attachment, uniqueName }: VolumeRow): boolean {
  if (staged.length + globals.length + maps.length > 0 || attachment !== undefined) return true
  return uniqueName !== undefined && (objects.isAttached(uniqueName) || objects.isInUse(uniqueName))
}

/** R105: the kubelet ignores them; the attach/detach controller does not (R708). */
function unusedVolumes(context: PlanContext): StatusSource[] {
  const { api } = context.inputs.snapshot
  return context.classes.all.filter(isLiving).flatMap((pod) => {
    const { uid: podUid, pod: object } = pod
    if (object === undefined || api === undefined) return []
    const used = usedVolumeNames(object)
    const resolving = { podUid, lookup: apiLookup(api), node: api.node }
    return (object.spec.volumes ?? [])
      .filter(({ name }) => !used.has(name))
      .flatMap((source) => {
        const found = resolveVolume(object, source, resolving, { mounted: false, mapped: false })
        return unusedSource(context, pod, source.name, knownSpec(found))
      })
  })
}

function unusedSource(
  context: PlanContext,
  pod: PodClass,
  podVolumeName: string,
  spec: VolumeSpec | undefined,
): StatusSource[] {
  const { uniqueName = '', attachability } = spec ?? {}
  const volume = context.ledger.row(uniqueName) ?? new GrowingRow(uniqueName, spec?.uniqueName)
  // What the pod has of it on disk all the same is the row.
  if (volume.podUids.has(pod.uid)) return []
  const ref: VolumeRef =
    spec === undefined
      ? { name: podVolumeName, podVolumeName, plugin: 'unknown', mode: 'Filesystem' }
      : describeWanted(context, { ...spec, podVolumeNames: [podVolumeName] })
  return [{ ...partOf(volume, pod), unused: { podVolumeName, ref, attachability } }]
}
