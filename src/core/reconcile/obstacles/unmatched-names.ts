/** Names given with --pod, --volume and the like that match nothing: after a typo a broken node would look healthy. */
import { baseName } from '../../actual/tree.ts'
import { namedUids } from '../../desired/pods.ts'
import { didYouMean } from '../../lang/near-names.ts'
import { type Findings, ON_NODE } from '../../plan/draft.ts'
import { namespacedName, podNameAndUid } from '../../plan/pod-name.ts'
import type { PlanContext } from '../context/context.ts'
import { namesOf } from '../context/filter-operations.ts'
import { knownPods } from '../pods/known-pods.ts'
import { namedPods, namespacesOfPods } from '../pods/named-pods.ts'

export function reportUnmatchedNames(context: PlanContext, findings: Findings): void {
  const { pods = [], namespaces = [], volumes = [], devices = {}, foreignPods = [] } = context.options
  const { ambiguous } = namedPods(context.options, context.classes)
  const warn = (
    flag: string,
    given: readonly string[],
    known: () => ReadonlySet<string>,
    hint: string,
    noun = flag,
  ): void => {
    if (given.length === 0) return
    const names = known()
    for (const each of given.filter((name) => !names.has(name))) {
      const message = `--${flag} ${each} matches no ${noun} on this node`
      findings.problem('warning', 'NothingNamed', message, ON_NODE, `${didYouMean(each, names)}${hint}`)
    }
  }
  for (const { given, pods: called } of ambiguous) {
    const names = called.map(({ ref }) => podNameAndUid(ref)).join(', ')
    findings.problem(
      'warning',
      'AmbiguousName',
      `--pod ${given} matches ${called.length} pods: ${names}`,
      ON_NODE,
      ONE_HINT,
    )
  }
  const others = pods.filter((each) => !ambiguous.some(({ given }) => given === each))
  warn('pod', others, () => namesOfPods(context), POD_HINT)
  warn('namespace', namespaces, () => namespacesOfPods(context.classes), NAMESPACE_HINT, 'pod')
  for (const uid of foreignPods.filter((each) => !namesProcess(context, each))) {
    const message = `--foreign-pod ${uid} matches no process on this node`
    findings.problem(
      'warning',
      'NothingNamed',
      message,
      ON_NODE,
      'Give the UID as the plan shows it, or leave out the flag.',
    )
  }
  warn('volume', volumes, () => namesOfVolumes(context, findings), VOLUME_HINT)
  warn('device', Object.keys(devices), () => namesOfVolumes(context, findings), DEVICE_HINT, 'volume')
}

const DEVICE_HINT = 'Give the name in the VOLUME column of the plan, or the PersistentVolume.'
const ONE_HINT = 'Give NAMESPACE/NAME or the whole UID.'
const POD_HINT = 'Give the name, NAMESPACE/NAME or the UID, as volctl status shows it.'
const NAMESPACE_HINT = 'The namespace of a deleted pod may not be known any more. See the pods: volctl status'
const VOLUME_HINT =
  'Give the name of the volume, its PersistentVolume or NAMESPACE/CLAIM; volctl explain NAME shows all three.'

/** A pod that this node knows counts as a match: the report says that the pod is not foreign (FlagWithoutEffect). */
function namesProcess({ inputs }: PlanContext, uid: string): boolean {
  return (inputs.snapshot.processes ?? []).includes(uid) || knownPods(inputs).has(uid)
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
