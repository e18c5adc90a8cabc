/** A name that --pod or --volume gives and nothing bears: a slip of the pen looks like a node that is in order. */
import { baseName } from '../actual/tree.ts'
import { namedUids } from '../desired/pods.ts'
import type { VolumeRef } from '../plan/plan.ts'
import { namespacedName } from '../pod-name.ts'
import type { PlanContext } from './context.ts'
import type { Findings } from './draft.ts'

export function reportUnmatchedNames(context: PlanContext, findings: Findings): void {
  const { pods = [], volumes = [] } = context.options
  const podNames = pods.length === 0 ? undefined : namesOfPods(context)
  for (const each of pods) {
    if (podNames?.has(each)) continue
    const hint = 'Give NAMESPACE/NAME or the UID; volctl explain finds a pod by less.'
    findings.problem('warning', 'NothingNamed', `--pod ${each}: no pod on this node is called so`, {}, hint)
  }
  const volumeNames = volumes.length === 0 ? undefined : namesOfVolumes(context, findings)
  for (const each of volumes) {
    if (volumeNames?.has(each)) continue
    const hint =
      'Give the name of the volume, its PersistentVolume or NAMESPACE/CLAIM; volctl explain finds it by less.'
    findings.problem('warning', 'NothingNamed', `--volume ${each}: no volume on this node is called so`, {}, hint)
  }
}

function namesOfPods({ classes }: PlanContext): ReadonlySet<string> {
  return new Set(
    classes.all.flatMap(({ uid, ref, pod }) => [
      uid,
      ...(pod === undefined ? [] : namedUids(pod)),
      ...(ref.name === undefined ? [] : [namespacedName(ref)]),
    ]),
  )
}

function namesOfVolumes({ desired, inputs, classes }: PlanContext, findings: Findings): ReadonlySet<string> {
  const { tree, snapshot } = inputs
  const claims = snapshot.api?.persistentVolumeClaims ?? []
  const persistent = snapshot.api?.persistentVolumes ?? []
  const names = [
    ...[...findings.operations, ...findings.waiting].flatMap(({ volume }) => (volume ? namesOf(volume) : [])),
    ...desired.volumes.flatMap(({ uniqueName, podVolumeNames }) => [uniqueName, ...podVolumeNames]),
    ...desired.unresolved.flatMap(({ podVolumeName, persistentVolumeName }) => [podVolumeName, persistentVolumeName]),
    ...claims.map(({ metadata }) => namespacedName(metadata)),
    ...persistent.flatMap(({ metadata, spec }) => [metadata.name, spec.csi?.volumeHandle]),
    ...classes.all
      .flatMap(({ uid }) => [`pods/${uid}/volumes`, `pods/${uid}/volumeDevices`])
      .flatMap((directory) => tree.children(directory))
      .flatMap((plugin) => tree.children(plugin.path).map(({ path }) => baseName(path))),
  ]
  return new Set(names.filter((name) => name !== undefined))
}

/** As `isNamed` compares them. */
export function namesOf(volume: VolumeRef): (string | undefined)[] {
  const { name, podVolumeName, uniqueName, handle, persistentVolume, claim } = volume
  return [name, podVolumeName, uniqueName, handle, persistentVolume, claim]
}
