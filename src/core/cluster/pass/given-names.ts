/** What the names of flags mean in a cluster: which pods --pod names, what a plan is narrowed to, and which names nothing has. */

import { parseCsiUniqueName } from '../../model/volume-names.ts'
import type { ClusterAbout, ClusterOptions, ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import { ambiguousPods, nameFaults } from '../../plan/name-faults.ts'
import { keptOf } from '../../plan/part-of-plan.ts'
import type { PodRef } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import { type ClusterDraft, type ClusterFindings, ON_API, onNodes, podRef } from '../context/findings.ts'
import { readinessOf } from '../context/readiness.ts'
import type { ClusterPod, ClusterState } from '../model/cluster-state.ts'

// Which pods --pod names: by namespace/name, by name, by UID or its unique beginning.

export interface GivenPods {
  readonly uids: ReadonlySet<string>
  readonly unmatched: readonly string[]
  readonly ambiguous: readonly { readonly given: string; readonly pods: readonly ClusterPod[] }[]
}

/** Shorter beginnings of a UID are names. */
const LEAST_OF_UID = 4

/** Undefined: none is given. Of a name that several pods have, none is taken. */
export function podsGiven({ state, options }: ClusterContext): GivenPods | undefined {
  if (!options.pods?.length) return undefined
  const found = options.pods.map((given) => ({ given, pods: matching(state.pods, given) }))
  return {
    uids: new Set(found.flatMap(({ pods }) => (pods.length === 1 ? pods.map(({ uid }) => uid) : []))),
    unmatched: found.flatMap(({ given, pods }) => (pods.length === 0 ? [given] : [])),
    ambiguous: found.filter(({ pods }) => pods.length > 1),
  }
}

function matching(pods: readonly ClusterPod[], given: string): readonly ClusterPod[] {
  const exact = pods.filter((pod) => pod.uid === given || namespacedName(pod) === given)
  if (exact.length > 0) return exact
  const named = pods.filter(({ name }) => name === given)
  if (named.length > 0) return named
  return given.length < LEAST_OF_UID ? [] : pods.filter(({ uid }) => uid.startsWith(given))
}

// --only, --skip, --node, --pod, --namespace, --volume: what depends on something left out is left out, too, and counted.

/** @returns the drafts that stay, in order, and how many were left out */
export function filterOperations(
  context: ClusterContext,
  drafts: readonly ClusterDraft[],
): { readonly kept: readonly ClusterDraft[]; readonly filtered: number } {
  return keptOf(drafts, context.options, scopeOf(context, drafts))
}

/** @returns what says whether a finding that names nodes, pods or a volume names one that a filter names, too */
export function namedFindings(context: ClusterContext): (about: ClusterAbout) => boolean {
  const { nodes = [], volumes = [], namespaces = [] } = context.options
  const given = podsGiven(context)
  // What a name may mean is named by what is said of the name.
  const uids = given && new Set([...given.uids, ...given.ambiguous.flatMap((each) => each.pods.map(({ uid }) => uid))])
  const fits = <T>(all: readonly T[] = [], isNamed: (each: T) => boolean): boolean =>
    all.length === 0 || all.some(isNamed)
  const isOfPod = ({ uid, namespace = '' }: PodRef): boolean =>
    uids?.has(uid) !== false && (namespaces.length === 0 || namespaces.includes(namespace))
  const usersOf = ({ uniqueName = '' }: ClusterVolumeRef): readonly PodRef[] =>
    context.desired.ofVolume(uniqueName).flatMap(({ pods, others }) => [...pods, ...others.map(({ pod }) => pod)])
  const named = volumes.flatMap((each) => [
    each,
    context.state.attachments.find(({ name }) => name === each)?.persistentVolume ?? each,
  ])
  return ({ nodes: on, volume, pods = volume && usersOf(volume) }) =>
    (nodes.length === 0 || fits(on, (node) => nodes.includes(node))) &&
    (volumes.length === 0 || fits(volume && [volume], (each) => isOfVolume(each, named))) &&
    fits(pods, isOfPod)
}

/** A detach belongs to the pods that it makes room for, beside those that have ended on its node. */
function scopeOf(context: ClusterContext, drafts: readonly ClusterDraft[]): (draft: ClusterDraft) => boolean {
  const { nodes, volumes, pods, namespaces } = context.options
  const given = podsGiven(context)
  const isOfPods = (refs: readonly PodRef[]): boolean =>
    refs.some(({ uid, namespace }) => given?.uids.has(uid) !== false && namespaces?.includes(namespace ?? '') !== false)
  const narrows = (pods?.length ?? 0) > 0 || (namespaces?.length ?? 0) > 0
  const before = new Set(drafts.filter((draft) => isOfPods(draft.pods)).flatMap(({ after }) => after))
  return (draft) =>
    (!nodes?.length || nodes.includes(draft.node)) &&
    (!volumes?.length || isOfVolume(draft.volume, volumes, [draft.attachment])) &&
    (!narrows || isOfPods(draft.pods) || before.has(draft) || isOfClaim(draft.volume, context.options))
}

/** A detach without a pod belongs to the namespace of its claim. */
function isOfClaim({ claim }: ClusterVolumeRef, { pods, namespaces }: ClusterOptions): boolean {
  return !pods?.length && namespaces?.includes(claim?.split('/', 1)[0] ?? '') === true
}

/** By a name of the volume or of one of these attachments. */
export function isOfVolume(
  volume: ClusterVolumeRef,
  names: readonly string[],
  attachments: readonly { readonly name: string }[] = [],
): boolean {
  const { name, uniqueName, handle, persistentVolume, claim } = volume
  const own = [name, uniqueName, handle, persistentVolume, claim, ...attachments.map((each) => each.name)]
  return own.some((each) => each !== undefined && names.includes(each))
}

// Names given with --node, --pod, --namespace, --volume and --node-gone that match nothing: after a typo all would look well.

export function reportUnmatchedNames(context: ClusterContext, findings: ClusterFindings): void {
  const { nodes = [], namespaces = [], volumes = [], nodeGone = [] } = context.options
  const { unmatched = [], ambiguous = [] } = podsGiven(context) ?? {}
  const faults = [
    ...nameFaults(nodes, () => namesOfNodes(context), { ...HERE, ...NODE }),
    ...nameFaults(nodeGone, () => namesOfAnyNode(context.state), { ...HERE, ...NODE_GONE }),
    ...nameFaults(namespaces, () => namesOfNamespaces(context), { ...HERE, ...NAMESPACE }),
    ...nameFaults(volumes, () => namesOfVolumes(context, findings), { ...HERE, ...VOLUME }),
    ...nameFaults(unmatched, () => namesOfPods(context.state), { ...HERE, ...POD }),
  ]
  for (const { code, message, hint } of faults) findings.problem('warning', code, message, ON_API, hint)
  for (const { given, pods } of ambiguous) {
    const { code, message, hint } = ambiguousPods(given, pods)
    findings.problem('warning', code, message, { ...ON_API, pods: pods.slice(0, MOST_PODS).map(podRef) }, hint)
  }
  reportPresentNodes(context, findings, nodeGone)
}

const HERE = { place: 'in this cluster' }
const NODE = { noun: 'node', hint: 'List the nodes: kubectl get nodes' }
const NODE_GONE = {
  noun: 'node',
  hint: 'Check the name. If it is right, nothing of the node is left: leave out the flag, or give --ignore-not-found.',
}
const NAMESPACE = {
  noun: 'pod or claim with a volume',
  hint: 'List the namespaces: kubectl get namespaces',
}
const VOLUME = {
  noun: 'volume',
  hint: 'Give the PersistentVolume, NAMESPACE/CLAIM, or the volume handle.',
}
const POD = {
  noun: 'pod with a volume that can be attached',
  hint: 'Give NAMESPACE/NAME of such a pod.',
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

function namesOfPods({ pods }: ClusterState): Iterable<string> {
  return pods.flatMap((pod) => [pod.name, namespacedName(pod)])
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
