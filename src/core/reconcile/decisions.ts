/** Why each thing on the node is acted on or left alone, one line each, with the rule: what -v prints and explain asks. */
import { podVolumes } from '../actual/pod-volumes.ts'
import { csiUniqueName } from '../names.ts'
import type { NodeState } from '../node-state.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import { pluginNamed } from '../plugins/registry.ts'
import type { PlanContext } from './context.ts'
import { identifyStaged } from './csi-identity.ts'
import { Findings } from './draft.ts'
import { makeContext } from './plan-context.ts'
import type { PodClass } from './pod-classes.ts'

export interface Decision {
  /** The pod's directory, the volume's path, the staging directory. */
  readonly path: string
  readonly rule: string
  readonly why: string
}

/** Decisions for every pod, volume and staging directory, in the order of their paths. Pure, like the plan itself. */
export function explainDecisions(state: NodeState, options: PlanOptions, plan: Plan): Decision[] {
  const context = makeContext(state, options, new Findings())
  const planned = new Map(
    plan.operations.flatMap((operation) => operation.paths.map((path) => [path, operation] as const)),
  )
  const decisions: Decision[] = []
  const note = (path: string, rule: string, why: string): void => {
    const operation = planned.get(path)
    decisions.push(
      operation === undefined
        ? { path, rule, why }
        : {
            path,
            rule: operation.rule,
            why: `${operation.kind}${operation.blocked ? `, blocked: ${operation.blocked.message}` : ''}: ${operation.message}`,
          },
    )
  }
  for (const pod of context.classes.all) {
    note(context.inputs.absolute(`pods/${pod.uid}`), ...podVerdict(pod))
    if (pod.class === 'Gone' || pod.class === 'Finished') {
      for (const volume of podVolumes(context.inputs, pod.uid)) {
        note(context.inputs.absolute(volume.target), 'R405', 'nothing of it is mounted, set up or on record')
      }
    }
  }
  for (const volume of context.desired.volumes) {
    const plugin = pluginNamed(volume.plugin)
    const evidence = plugin.evidence(context.inputs, volume)
    const why =
      evidence.state === 'notMounted'
        ? `wanted, and ${evidence.why}`
        : evidence.state === 'satisfied'
          ? 'the kubelet mounts nothing for it'
          : 'wanted, and as it should be'
    note(context.inputs.absolute(plugin.podPath(volume)), 'R805', why)
  }
  for (const staged of context.staged) note(context.inputs.absolute(staged.target), ...stagedVerdict(context, staged))
  return decisions
}

function podVerdict(pod: PodClass): [rule: string, why: string] {
  switch (pod.class) {
    case 'Desired':
      return ['S5', 'in the API and meant to run: keeps what it has']
    case 'Frozen':
      return ['S9', `left alone: ${pod.why?.message ?? 'in doubt'}`]
    case 'Finished':
      return ['R220', 'ended, and nothing of it runs: its volumes come down, its directory stays']
    case 'Gone':
      return ['R220', 'not in the API, and nothing of it runs']
  }
}

function stagedVerdict(context: PlanContext, staged: PlanContext['staged'][number]): [rule: string, why: string] {
  const identified = identifyStaged(context, staged)
  if (!('identity' in identified)) return ['R025', identified.unconfirmed]
  const users = context.users.of(csiUniqueName(identified.identity.driver, identified.identity.handle))
  const [user] = users
  return user === undefined
    ? ['R025', 'nothing is staged there, or something else shows it']
    : ['R817', `pod ${user.pod.uid} ${user.how}`]
}
