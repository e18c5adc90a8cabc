/** What has a row in the answer: each pod's part of a volume, the node's own, and volumes that a pod has and no container uses. */

import type { BlockMapping } from '../../facts/actual/block-volume.ts'
import type { PodVolume, SubPaths } from '../../facts/actual/pod-volumes.ts'
import { GrowingRow, type VolumeRow } from '../../facts/row.ts'
import type { Pod, PodVolumeSource } from '../../kube/api/objects.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import type { PlanContext } from '../../reconcile/context/context.ts'
import { describeWanted } from '../../reconcile/identity/volume-facts.ts'
import type { PodClass } from '../../reconcile/pods/pod-classes.ts'
import { apiLookup } from '../../volumes/api-lookup.ts'
import type { Attachability, UnresolvedVolume, VolumeSpec, VolumeToMount } from '../../volumes/desired-state.ts'
import { usedVolumeNames } from '../../volumes/pods.ts'
import { knownSpec, resolveVolume } from '../../volumes/resolve-volume.ts'

/** A volume in a pod's spec that no container uses (R105). */
interface UnusedVolume {
  readonly podVolumeName: string
  readonly ref: VolumeRef
  /** Undefined: it is not known which volume it is. */
  readonly attachability: Attachability | undefined
}

/** What there is of a volume for one pod, or on the node itself: staged, mounted or mapped for all pods, and attached. */
export interface StatusSource {
  readonly volume: VolumeRow
  /** Undefined: the node's own part. */
  readonly pod: PodClass | undefined
  readonly podUid: string | undefined
  readonly wanted: VolumeToMount | undefined
  readonly ended: VolumeToMount | undefined
  readonly unresolved: readonly UnresolvedVolume[]
  readonly onDisk: readonly PodVolume[]
  readonly leaked: readonly SubPaths[]
  readonly mappings: readonly BlockMapping[]
  readonly unused?: UnusedVolume
}

/** In no order. */
export function statusSources(context: PlanContext): StatusSource[] {
  const { classes, ledger } = context
  const found = ledger.all.flatMap((volume) => [
    ...[...volume.podUids].map((uid) =>
      partOf(volume, classes.of(uid) ?? { uid, class: 'Frozen', ref: { uid }, pod: undefined, alive: false }),
    ),
    ...(isOnNode(context, volume) ? [partOf(volume, undefined)] : []),
  ])
  return [...found, ...unusedVolumes(context)]
}

function partOf(volume: VolumeRow, pod: PodClass | undefined): StatusSource {
  const podUid = pod?.uid
  const isOwn = (each: { readonly podUid: string }): boolean => each.podUid === podUid
  return {
    volume,
    pod,
    podUid,
    wanted: volume.wanted.find(isOwn),
    ended: volume.ended.find(isOwn),
    unresolved: volume.unresolved.filter(isOwn),
    onDisk: volume.onDisk.filter(isOwn),
    leaked: volume.leaked.filter(isOwn),
    mappings: volume.maps.flatMap(({ mappings }) => mappings.filter(isOwn)),
  }
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
  const { uniqueName = '', attachability } = spec ?? {}
  const { name: podVolumeName } = source
  const volume = context.ledger.row(uniqueName) ?? new GrowingRow(uniqueName, spec?.uniqueName)
  // What the pod has of it on disk all the same is the row.
  if (volume.podUids.has(pod.uid)) return []
  const ref: VolumeRef =
    spec === undefined
      ? { name: podVolumeName, podVolumeName, plugin: 'unknown', mode: 'Filesystem' }
      : describeWanted(context, { ...spec, podVolumeNames: [podVolumeName] })
  return [{ ...partOf(volume, pod), unused: { podVolumeName, ref, attachability } }]
}

function specOf({ inputs }: PlanContext, podUid: string, pod: Pod, source: PodVolumeSource): VolumeSpec | undefined {
  const { api } = inputs.snapshot
  if (api === undefined) return undefined
  const use = { mounted: false, mapped: false }
  return knownSpec(resolveVolume(pod, source, { podUid, lookup: apiLookup(api), node: api.node }, use))
}
