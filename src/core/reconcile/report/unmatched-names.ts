/** Names given with --pod, --volume and the like that match nothing: after a typo a broken node would look healthy. */
import { baseName } from '../../facts/actual/tree.ts'
import { type Findings, ON_NODE } from '../../plan/draft.ts'
import { nameFaults } from '../../plan/name-faults.ts'
import type { PlanOptions } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { PlanContext } from '../context/context.ts'
import { namesOf, otherNames } from '../context/filter-operations.ts'
import { podFaults } from '../pods/named-pods.ts'

/** @param options as they were given */
export function reportUnmatchedNames(context: PlanContext, options: PlanOptions, findings: Findings): void {
  const { classes } = context
  const { volumes = [], devices = {} } = options
  const volumeNames = (): readonly string[] => namesOfVolumes(context, findings)
  const scopeNames = (): readonly string[] => [...volumeNames(), ...otherNames(context.inputs, context.ledger, volumes)]
  const faults = [
    ...podFaults(options, classes, POD_HINT),
    ...nameFaults(volumes, scopeNames, { ...HERE, hint: VOLUME_HINT }),
    ...nameFaults(Object.keys(devices), volumeNames, { ...HERE, hint: DEVICE_HINT }),
  ]
  for (const { code, message, hint } of faults) findings.problem('warning', code, message, ON_NODE, hint)
}

const HERE = { place: 'on this node', noun: 'volume' }
const DEVICE_HINT = 'Give the name in the VOLUME column of the plan, or the PersistentVolume.'
const POD_HINT = 'Give the name, NAMESPACE/NAME or the UID, as volctl status shows it.'
const VOLUME_HINT =
  'Give the name of the volume, its PersistentVolume or NAMESPACE/CLAIM; volctl explain NAME shows all three.'

function namesOfVolumes({ desired, inputs, classes }: PlanContext, findings: Findings): readonly string[] {
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
  return names.filter((name) => name !== undefined)
}
