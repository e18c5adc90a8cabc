/** A name that --pod or --volume gives and nothing bears: a slip of the pen looks like a node that is in order. */
import { baseName } from '../../actual/tree.ts'
import { namedUids } from '../../desired/pods.ts'
import type { Findings } from '../../plan/draft.ts'
import { namespacedName, podNameAndUid } from '../../plan/pod-name.ts'
import type { PlanContext } from '../context/context.ts'
import { namesOf } from '../context/filter-operations.ts'
import { knownPods } from '../pods/known-pods.ts'
import { namedPods } from '../pods/named-pods.ts'

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
      const message = `--${flag} ${each}: no ${noun} on this node is called so`
      findings.problem('warning', 'NothingNamed', message, {}, hint)
    }
  }
  for (const { given, pods: called } of ambiguous) {
    const names = called.map(({ ref }) => podNameAndUid(ref)).join(', ')
    findings.problem(
      'warning',
      'AmbiguousName',
      `--pod ${given}: this fits ${called.length} pods: ${names}`,
      {},
      ONE_HINT,
    )
  }
  const others = pods.filter((each) => !ambiguous.some(({ given }) => given === each))
  warn('pod', others, () => namesOfPods(context), POD_HINT)
  warn('namespace', namespaces, () => namespacesOfPods(context), NAMESPACE_HINT, 'pod')
  for (const uid of foreignPods.filter((each) => !namesProcess(context, each))) {
    const message = `--foreign-pod ${uid}: no process of such a pod runs here`
    findings.problem('warning', 'NothingNamed', message, {}, 'Give the UID as the plan shows it.')
  }
  warn('volume', volumes, () => namesOfVolumes(context, findings), VOLUME_HINT)
  warn('device', Object.keys(devices), () => namesOfVolumes(context, findings), DEVICE_HINT, 'volume')
}

const DEVICE_HINT = 'Give the volume as the VOLUME column of the plan has it, or its PersistentVolume.'
const ONE_HINT = 'Give NAMESPACE/NAME or the whole UID.'
const POD_HINT = 'Give the name, NAMESPACE/NAME, or the UID, as the POD column of the plan has it.'
const NAMESPACE_HINT =
  'Look at the POD column of the plan; of a pod that was deleted the namespace may not be known any more.'
const VOLUME_HINT =
  'Give the name of the volume, its PersistentVolume or NAMESPACE/CLAIM; volctl explain finds it by less.'

/** Of a pod that this node knows it is said that it is not foreign. */
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

function namespacesOfPods({ classes }: PlanContext): ReadonlySet<string> {
  return new Set(classes.all.flatMap(({ ref }) => (ref.name === undefined ? [] : (ref.namespace ?? 'default'))))
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
