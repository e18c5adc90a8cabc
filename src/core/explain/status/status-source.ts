/** What has a row in the answer: each pod's part of a volume, the node's own, and volumes that a pod has and no container uses. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { VolumeRow } from '../../facts/row.ts'
import { emptyPart, nodePart, podPart, type RowPart } from '../../facts/row-part.ts'
import type { Pod, PodVolumeSource } from '../../kube/api/objects.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import type { PlanContext } from '../../reconcile/context/context.ts'
import { describePersistentVolume } from '../../reconcile/identity/volume-facts.ts'
import type { PodClass } from '../../reconcile/pods/pod-classes.ts'
import { apiLookup } from '../../volumes/api-lookup.ts'
import type { Attachability, VolumeSpec } from '../../volumes/desired-state.ts'
import { usedVolumeNames } from '../../volumes/pods.ts'
import { KUBELET_RULES, knownSpec, resolveVolume } from '../../volumes/resolve-volume.ts'

/** A volume in a pod's spec that no container uses (R105). */
export interface UnusedVolume {
  readonly podVolumeName: string
  readonly ref: VolumeRef
  /** Undefined: it is not known which volume it is. */
  readonly attachability: Attachability | undefined
}

export interface StatusSource extends RowPart {
  /** Undefined: the node's own part. */
  readonly pod: PodClass | undefined
  readonly unused?: UnusedVolume
}

/** In no order. */
export function statusSources(context: PlanContext): StatusSource[] {
  const { classes, ledger } = context
  const found = ledger.all.flatMap((volume) => [
    ...[...volume.podUids].map((uid) => ({
      ...podPart(volume, uid),
      pod: classes.of(uid) ?? ({ uid, class: 'Frozen', ref: { uid }, pod: undefined, alive: false } as const),
    })),
    ...(isOnNode(context, volume) ? [{ ...nodePart(volume), pod: undefined }] : []),
  ])
  return [...found, ...unusedVolumes(context)]
}

function isOnNode({ objects }: PlanContext, { staged, globals, maps, attachment, uniqueName }: VolumeRow): boolean {
  if (staged.length + globals.length + maps.length > 0 || attachment !== undefined) return true
  return uniqueName !== undefined && (objects.isAttached(uniqueName) || objects.isInUse(uniqueName))
}

/** R105: the kubelet ignores them; the attach/detach controller does not (R708). */
function unusedVolumes(context: PlanContext): StatusSource[] {
  return context.classes.all.flatMap((pod) => {
    if (pod.pod === undefined || (pod.class !== 'Desired' && pod.class !== 'Frozen')) return []
    const used = usedVolumeNames(pod.pod)
    return (pod.pod.spec.volumes ?? [])
      .filter(({ name }) => !used.has(name))
      .flatMap((source) => unusedSource(context, pod, source))
  })
}

function unusedSource(context: PlanContext, pod: PodClass, source: PodVolumeSource): StatusSource[] {
  const spec = pod.pod === undefined ? undefined : specOf(context, pod.uid, pod.pod, source)
  const volume = spec && context.ledger.row(spec.uniqueName)
  // What the pod has of it on disk all the same is the row.
  if (volume?.podUids.has(pod.uid)) return []
  const unused: UnusedVolume = {
    podVolumeName: source.name,
    ref: refOf(source, spec),
    attachability: spec?.attachability,
  }
  return [{ ...emptyPart(volume ?? { uniqueName: spec?.uniqueName }, pod.uid), pod, unused }]
}

function specOf({ inputs }: PlanContext, podUid: string, pod: Pod, source: PodVolumeSource): VolumeSpec | undefined {
  const { api } = inputs.snapshot
  if (api === undefined) return undefined
  const use = { mounted: false, mapped: false }
  return knownSpec(resolveVolume(pod, source, use, { podUid, lookup: apiLookup(api), node: api.node }, KUBELET_RULES))
}

function refOf(source: PodVolumeSource, spec: VolumeSpec | undefined): VolumeRef {
  if (spec === undefined)
    return { name: source.name, podVolumeName: source.name, plugin: 'unknown', mode: 'Filesystem' }
  const { specName, uniqueName, plugin, driver, handle, mode, persistentVolume } = spec
  return {
    name: specName,
    podVolumeName: source.name,
    uniqueName,
    plugin,
    ...omitUndefined({ driver, handle }),
    mode,
    ...describePersistentVolume(persistentVolume),
  }
}
