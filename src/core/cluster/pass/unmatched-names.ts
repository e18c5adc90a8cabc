/** Names given with --node, --pod, --namespace, --volume and --node-gone that match nothing: after a typo all would look well. */

import { parseCsiUniqueName } from '../../names/volume-names.ts'
import { ambiguousPods, nameFaults } from '../../plan/name-faults.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import { type ClusterFindings, ON_API, onNodes, podRef } from '../context/findings.ts'
import { readinessOf } from '../context/readiness.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { podsGiven } from './given-pods.ts'

export function reportUnmatchedNames(context: ClusterContext, findings: ClusterFindings): void {
  const { nodes = [], namespaces = [], volumes = [], nodeGone = [] } = context.options
  const faults = [
    ...nameFaults(nodes, () => namesOfNodes(context), { ...HERE, ...NODE }),
    ...nameFaults(nodeGone, () => namesOfAnyNode(context.state), { ...HERE, ...NODE_GONE }),
    ...nameFaults(namespaces, () => namesOfNamespaces(context), { ...HERE, ...NAMESPACE }),
    ...nameFaults(volumes, () => namesOfVolumes(context, findings), { ...HERE, ...VOLUME }),
  ]
  for (const { code, message, hint } of faults) findings.problem('warning', code, message, ON_API, hint)
  reportPods(context, findings)
  reportPresentNodes(context, findings, nodeGone)
}

const HERE = { place: 'in this cluster' }
const NODE = { flag: 'node', noun: 'node', hint: 'List the nodes: kubectl get nodes' }
const NODE_GONE = {
  flag: 'node-gone',
  noun: 'node',
  hint: 'Check the name. If it is right, nothing of the node is left: leave out the flag, or give --ignore-not-found.',
}
const NAMESPACE = {
  flag: 'namespace',
  noun: 'pod or claim with a volume',
  hint: 'List the namespaces: kubectl get namespaces',
}
const VOLUME = {
  flag: 'volume',
  noun: 'volume',
  hint: 'Give the PersistentVolume, NAMESPACE/CLAIM, or the volume handle.',
}
const POD_HINT = 'Give NAMESPACE/NAME of a pod with a volume that can be attached.'

function reportPods(context: ClusterContext, findings: ClusterFindings): void {
  const { unmatched = [], ambiguous = [] } = podsGiven(context) ?? {}
  for (const each of unmatched) {
    findings.problem(
      'warning',
      'NothingNamed',
      `--pod ${each} matches no pod with a volume that can be attached`,
      ON_API,
      POD_HINT,
    )
  }
  for (const { given, pods } of ambiguous) {
    const { code, message, hint } = ambiguousPods(given, pods, 'pod')
    findings.problem('warning', code, message, { ...ON_API, pods: pods.slice(0, MOST_PODS).map(podRef) }, hint)
  }
}

const MOST_PODS = 10

/** A node whose kubelet says that it is ready is not gone, whatever somebody says. */
function reportPresentNodes(context: ClusterContext, findings: ClusterFindings, given: readonly string[]): void {
  for (const name of given) {
    const node = nodeOf(context, name)
    if (node === undefined || readinessOf(context, node).ready !== 'True') continue
    const text = `--node-gone ${name} names a node whose kubelet reports that the node is ready: the flag changes nothing there`
    findings.problem('warning', 'FlagWithoutEffect', text, onNodes(name), 'Check the name: its machine runs.')
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

function namesOfVolumes({ state, known, desired }: ClusterContext, { operations }: ClusterFindings): Iterable<string> {
  return [
    ...operations.map(({ attachment }) => attachment.name),
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
    ...state.nodes.flatMap(({ volumesAttached = [], volumesInUse = [] }) =>
      [...volumesAttached, ...volumesInUse].flatMap((each) => [each, parseCsiUniqueName(each)?.handle ?? each]),
    ),
  ]
}
