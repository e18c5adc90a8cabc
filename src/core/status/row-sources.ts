/** A row for each volume of each pod, and one for what of a volume is on the node itself: the populator and reconstruction together. */
import { apiLookup } from '../desired/api-lookup.ts'
import { usedVolumeNames } from '../desired/pods.ts'
import type { VolumeSpec } from '../desired/volume-spec.ts'
import { NodeVolume } from '../explain/node-volume.ts'
import type { NodeVolumes } from '../explain/node-volumes.ts'
import { defined } from '../lang/defined.ts'
import type { Pod, PodVolumeSource } from '../model/objects.ts'
import type { VolumeRef } from '../plan/plan.ts'
import { KUBELET_RULES, knownSpec, resolveVolume } from '../populator/resolve-volume.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { describePersistentVolume } from '../reconcile/identity/volume-facts.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import type { RowSource, UnusedVolume } from './row-source.ts'

/** In no order. */
export function rowSources(context: PlanContext, volumes: NodeVolumes): RowSource[] {
  const found = volumes.all.flatMap((volume) => [
    ...[...volume.podUids].map((uid) => podRow(context, volume, uid)),
    ...(isOnNode(context, volume) ? [nodeRow(volume)] : []),
  ])
  return [...found, ...unusedVolumes(context, volumes)]
}

function podRow({ classes }: PlanContext, volume: NodeVolume, uid: string): RowSource {
  const isOfPod = ({ podUid }: { readonly podUid: string }): boolean => podUid === uid
  return {
    volume,
    pod: classes.of(uid) ?? { uid, class: 'Frozen', ref: { uid }, pod: undefined, alive: false },
    wanted: volume.wanted.find(isOfPod),
    ended: volume.ended.find(isOfPod),
    unresolved: volume.unresolved.filter(isOfPod),
    unused: undefined,
    onDisk: volume.onDisk.filter(isOfPod),
    leaked: volume.leaked.filter(isOfPod).map(({ subPaths }) => subPaths),
    mappings: volume.maps.flatMap(({ block, mappings }) =>
      mappings.filter(isOfPod).map((mapping) => ({ block, mapping })),
    ),
  }
}

function nodeRow(volume: NodeVolume): RowSource {
  return { ...NOTHING, volume }
}

const NOTHING = {
  pod: undefined,
  wanted: undefined,
  ended: undefined,
  unresolved: [],
  unused: undefined,
  onDisk: [],
  leaked: [],
  mappings: [],
} as const

function isOnNode({ objects }: PlanContext, { staged, globals, maps, attachment, uniqueName }: NodeVolume): boolean {
  if (staged.length + globals.length + maps.length > 0 || attachment !== undefined) return true
  return uniqueName !== undefined && (objects.isAttached(uniqueName) || objects.isInUse(uniqueName))
}

/** R105: the kubelet ignores them; the attach/detach controller does not (R708). */
function unusedVolumes(context: PlanContext, volumes: NodeVolumes): RowSource[] {
  const byName = new Map(volumes.all.map((volume) => [volume.uniqueName, volume]))
  return context.classes.all.flatMap((pod) => {
    if (pod.pod === undefined || (pod.class !== 'Desired' && pod.class !== 'Frozen')) return []
    const used = usedVolumeNames(pod.pod)
    return (pod.pod.spec.volumes ?? [])
      .filter(({ name }) => !used.has(name))
      .flatMap((source) => unusedRow(context, pod, source, byName))
  })
}

function unusedRow(
  context: PlanContext,
  pod: PodClass,
  source: PodVolumeSource,
  byName: ReadonlyMap<string | undefined, NodeVolume>,
): RowSource[] {
  const spec = pod.pod === undefined ? undefined : specOf(context, pod.uid, pod.pod, source)
  const volume = spec && byName.get(spec.uniqueName)
  // What the pod has of it on disk all the same is the row.
  if (volume?.podUids.has(pod.uid)) return []
  const unused: UnusedVolume = {
    podVolumeName: source.name,
    ref: refOf(source, spec),
    attachability: spec?.attachability,
  }
  return [{ ...NOTHING, volume: volume ?? new NodeVolume(spec?.uniqueName), pod, unused }]
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
    ...defined({ driver, handle }),
    mode,
    ...describePersistentVolume(persistentVolume),
  }
}
