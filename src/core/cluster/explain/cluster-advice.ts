/** What the person should do, and type, on a workstation; what only a node shows is asked there. */

import { CODES, type Code } from '../../codes/codes.ts'
import type { Advice } from '../../explain/explanation.ts'
import type { ClusterPlan } from '../../plan/cluster-plan.ts'
import { volctl } from '../../plan/next-steps.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import { kubectl, orName, volctlOn } from '../context/kubectl.ts'
import type { ClusterTarget } from './cluster-candidates.ts'
import type { Concern, Scope } from './scope.ts'
import type { VolumeOnNode } from './volumes-on-nodes.ts'

/** How a proposed command reads the same cluster. */
export interface Words {
  /** Flags of the command line that it needs again. */
  readonly flags: readonly string[]
  /** false: a snapshot, on which nothing can be carried out. */
  readonly isLive: boolean
}

/** What must be seen to first stands first; then what volctl would do, and what others have to. Each once. */
export function clusterAdvice(
  context: ClusterContext,
  { refused }: ClusterPlan,
  scope: Scope,
  { operations, waiting, problems }: Concern,
  words: Words,
): Advice[] {
  const hinted = (list: readonly { readonly code: Code; readonly hint?: string }[]): Advice[] =>
    list.flatMap(({ code, hint }) => (hint === undefined ? [] : [{ text: hint, code, meaning: CODES[code].means }]))
  const bySeverity = (severity: string): Advice[] => hinted(problems.filter((each) => each.severity === severity))
  const all = [
    ...(refused === undefined || operations.length === 0 ? [] : hinted([refused])),
    ...bySeverity('error'),
    ...commands(scope, operations, words),
    ...hinted(operations.flatMap(({ blocked }) => blocked ?? [])),
    ...hinted(waiting),
    ...bySeverity('warning'),
    ...onTheNode(context, scope),
    ...bySeverity('info'),
  ]
  const once = [...new Map(all.toReversed().map((each) => [each.text, each])).values()].toReversed()
  return once.length > 0 ? once : [{ text: `See what else there is: ${command('status', scope, words)}` }]
}

/** S31: shown before it is carried out. */
function commands(scope: Scope, operations: Concern['operations'], words: Words): Advice[] {
  if (!operations.some(({ blocked }) => blocked === undefined)) return []
  return [
    { text: `See the whole plan: ${command('plan', scope, words)}` },
    ...(!words.isLive ? [] : [{ text: `Carry it out: ${command('apply', scope, words)}  # asks first` }]),
  ]
}

function command(name: string, { target, volumes }: Scope, { flags }: Words): string {
  return volctl(name, '--cluster', ...narrowing(target, volumes, name), ...flags)
}

/** A filter that keeps what has to come first: an attach on one node may wait for a detach on another. */
function narrowing(target: ClusterTarget, volumes: readonly VolumeOnNode[], name: string): string[] {
  const [first] = volumes
  const volume = first?.persistentVolume ?? first?.claim ?? first?.volume?.handle
  switch (target.kind) {
    case 'Pod':
      return ['--pod', orName(namespacedName(target.pod))]
    case 'Node':
      return name === 'status' ? ['--node', orName(target.name)] : []
    case 'Driver':
      return []
    default:
      return volume === undefined ? [] : ['--volume', orName(volume)]
  }
}

/** Where a volume is attached or in use: mounts, and who holds them. */
function onTheNode(context: ClusterContext, { target, volumes }: Scope): Advice[] {
  if (target.kind === 'Driver') return []
  const there = volumes.find(
    ({ node = '', uniqueName = '', attached }) =>
      nodeOf(context, node) !== undefined && (attached.length > 0 || context.actual.isInUse(node, uniqueName)),
  )
  if (there?.node === undefined) return []
  const { node, persistentVolume, pods } = there
  if (nodeOf(context, node)?.ready !== 'True')
    return [
      { text: `Only the node shows what is mounted there, and it is not ready: ${kubectl('describe', 'node', node)}` },
    ]
  const [pod] = pods
  const what =
    target.kind === 'Node'
      ? `node/${orName(node)}`
      : persistentVolume !== undefined
        ? `pv/${orName(persistentVolume)}`
        : pod === undefined
          ? `va/${orName(there.attached[0]?.object.name ?? '')}`
          : `pod/${orName(namespacedName(pod))}`
  return [
    {
      text: `Only the node shows what is mounted, and who holds it: ${volctlOn(node, 'explain', what)}`,
    },
  ]
}
