/** What the plan says it was computed from, and which safety rules could not be judged. */
import { defined } from '../lang/defined.ts'
import type { ApiSnapshot, Insecure } from '../model/snapshot.ts'
import type { PlanInputs } from '../plan/plan.ts'
import type { PlanContext } from './context/context.ts'
import { knowsOtherNodes } from './identity/volume-facts.ts'

export function describeInputs(context: PlanContext, machine: PlanInputs['machine']): PlanInputs {
  const { inputs, classes } = context
  const { snapshot } = inputs
  return {
    api: describeApi(snapshot.api),
    kubelet: context.kubelet,
    actual: { mounts: inputs.mounts.size, podDirs: inputs.tree.childDirs('pods').length },
    runtime: { source: snapshot.runtime?.source ?? 'none', pods: snapshot.runtime?.pods.length ?? 0 },
    machine,
    pods: {
      listed: snapshot.api?.pods.length ?? 0,
      onDisk: inputs.tree.childDirs('pods').length,
      gone: classes.all.filter((pod) => pod.class === 'Gone').length,
    },
    unjudged: unjudgedGuards(context),
  }
}

export function describeApi(api: ApiSnapshot | undefined): PlanInputs['api'] {
  // An unknown word of a newer version is still a warning.
  const known = (word: Insecure): Insecure => (word === 'PlainHttp' ? word : 'TlsNotVerified')
  const { server = '', user, resourceVersion, insecure, podListCheck } = { ...api }
  return {
    server,
    ...defined({
      user,
      resourceVersion,
      insecure: insecure && known(insecure),
      secondLookInsecure: podListCheck?.insecure && known(podListCheck.insecure),
    }),
  }
}

function unjudgedGuards(context: PlanContext): PlanInputs['unjudged'] {
  const check = context.inputs.snapshot.api?.podListCheck
  return [
    ...(check?.problem === undefined
      ? []
      : [{ rule: 'S2', message: `the pod list was not checked against a second one: ${check.problem}` }]),
    { rule: 'S21', message: 'holders, other mount namespaces, superblocks and open devices are checked at apply' },
    ...(knowsOtherNodes(context)
      ? []
      : [{ rule: 'S30', message: 'attachments of other nodes cannot be listed with this credential' }]),
  ]
}
