/** Names given with --node, --pod, --namespace, --volume and --node-gone that match nothing: after a typo all would look well. */

import { didYouMean } from '../../lang/near-names.ts'
import { podNameAndUid } from '../../plan/pod-name.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { nodeOf } from '../context/cluster-context.ts'
import { type ClusterFindings, podRef } from '../context/findings.ts'
import { readinessOf } from '../context/readiness.ts'
import { plain, shaped } from '../context/shaped.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { podsGiven } from './given-pods.ts'

export function reportUnmatchedNames(context: ClusterContext, findings: ClusterFindings): void {
  const { nodes = [], namespaces = [], volumes = [], nodeGone = [] } = context.options
  const warn = ({ flag, kind, hint }: Named, given: readonly string[], known: () => Iterable<string>): void => {
    if (given.length === 0) return
    const names = new Set(known())
    for (const each of given.filter((name) => !names.has(name))) {
      findings.problem(
        'warning',
        'NothingNamed',
        plain(`--${flag} ${each} matches no ${kind} in this cluster`),
        {},
        `${didYouMean(each, names)}${hint}`,
      )
    }
  }
  const nodeNames = (): Iterable<string> => namesOfNodes(context)
  warn(NODE, nodes, nodeNames)
  warn(NODE_GONE, nodeGone, () => namesOfAnyNode(context.state))
  warn(NAMESPACE, namespaces, () => namesOfNamespaces(context))
  warn(VOLUME, volumes, () => namesOfVolumes(context))
  reportPods(context, findings)
  reportPresentNodes(context, findings, nodeGone)
}

interface Named {
  readonly flag: string
  readonly kind: string
  readonly hint: string
}

const NODE: Named = { flag: 'node', kind: 'node', hint: 'List the nodes: kubectl get nodes' }
const NODE_GONE: Named = {
  flag: 'node-gone',
  kind: 'node',
  hint: 'Check the name. If it is right, nothing of the node is left: leave out the flag, or give --ignore-not-found.',
}
const NAMESPACE: Named = {
  flag: 'namespace',
  kind: 'pod or claim with a volume',
  hint: 'List the namespaces: kubectl get namespaces',
}
const VOLUME: Named = {
  flag: 'volume',
  kind: 'volume',
  hint: 'Give the PersistentVolume, NAMESPACE/CLAIM, or the volume handle.',
}
const POD_HINT = 'Give NAMESPACE/NAME of a pod with a volume that can be attached.'

function reportPods(context: ClusterContext, findings: ClusterFindings): void {
  const { unmatched = [], ambiguous = [] } = podsGiven(context) ?? {}
  for (const each of unmatched) {
    findings.problem(
      'warning',
      'NothingNamed',
      plain(`--pod ${each} matches no pod with a volume that can be attached`),
      {},
      POD_HINT,
    )
  }
  for (const { given, pods } of ambiguous) {
    const names = pods.slice(0, MOST_PODS).map(podNameAndUid).join(', ')
    const text = plain(`--pod ${given} matches ${pods.length} pods: ${names}`)
    findings.problem(
      'warning',
      'AmbiguousName',
      text,
      { pods: pods.slice(0, MOST_PODS).map(podRef) },
      'Give NAMESPACE/NAME or the whole UID.',
    )
  }
}

const MOST_PODS = 10

/** A node whose kubelet says that it is ready is not gone, whatever somebody says. */
function reportPresentNodes(context: ClusterContext, findings: ClusterFindings, given: readonly string[]): void {
  for (const name of given) {
    const node = nodeOf(context, name)
    if (node === undefined || readinessOf(context, node).ready !== 'True') continue
    const text = shaped`--node-gone ${name} names a node whose kubelet reports that the node is ready: the flag changes nothing there`
    findings.problem('warning', 'FlagWithoutEffect', text, { nodes: [name] }, 'Check the name: its machine runs.')
  }
}

function namesOfNodes({ state }: ClusterContext): Iterable<string> {
  return [...state.nodes.map(({ name }) => name), ...state.attachments.map(({ node }) => node)]
}

/** Also of those that are gone: pods of theirs may be left, or the lease of their kubelet. */
function namesOfAnyNode({ nodes, attachments, pods, lostNodes = [] }: ClusterState): Iterable<string> {
  return [
    ...nodes.map(({ name }) => name),
    ...attachments.map(({ node }) => node),
    ...pods.flatMap(({ node }) => node ?? []),
    ...lostNodes.map(({ name }) => name),
  ]
}

function namesOfNamespaces({ state }: ClusterContext): Iterable<string> {
  return [...state.pods.map(({ namespace }) => namespace), ...state.claims.map(({ namespace }) => namespace)]
}

function namesOfVolumes({ state, known, desired }: ClusterContext): Iterable<string> {
  return [
    ...state.volumes.map(({ name }) => name),
    ...state.claims.map(({ namespace, name }) => `${namespace}/${name}`),
    ...state.attachments.flatMap(({ name, persistentVolume, inline }) => [
      name,
      persistentVolume ?? name,
      inline?.handle ?? name,
    ]),
    ...[...known.values(), ...desired.all().map(({ volume }) => volume)].flatMap(
      ({ uniqueName, handle = uniqueName }) => [uniqueName, handle],
    ),
  ]
}
