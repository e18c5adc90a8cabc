/** What the names of flags mean in a cluster: which pods --pod names, what a plan is narrowed to, and which names nothing has. */

import { memoize } from '../../base/memoize.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { parseCsiUniqueName } from '../../facts/actual/volume-names.ts'
import type { ClusterAbout, ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import { ambiguousPods, nameFaults } from '../../plan/name-faults.ts'
import { keptOf } from '../../plan/part-of-plan.ts'
import type { PodRef } from '../../plan/plan.ts'
import { namespacedName, podsCalled } from '../../plan/pod-name.ts'
import type { ClusterContext } from '../model/cluster-context.ts'
import { type ClusterDraft, type ClusterFindings, ON_API } from '../model/findings.ts'
import { podsOf } from '../model/rows.ts'

/** What --node, --pod, --namespace and --volume name: everything where the flag is not given. */
export const scopeOf = memoize(({ state, objects, options }: ClusterContext) => {
  const { nodes = [], pods = [], volumes = [], namespaces = [] } = options
  const found = pods.map((given) => ({ given, pods: podsCalled(given, { pods: state.pods }, (pod) => pod) }))
  // Of a name that several pods have, none is taken.
  const uids = new Set(found.flatMap((each) => (each.pods.length === 1 ? each.pods.map(({ uid }) => uid) : [])))
  // A claim means the PersistentVolume that it is bound to, and that its volume.
  const names = new Set<string | undefined>(
    volumes.flatMap((name) => {
      const [namespace = '', own = ''] = name.split('/')
      const claim = objects.claim(namespace, own)
      const bound = (claim.state === 'Found' ? claim.object.volumeName : undefined) ?? name
      const volume = objects.volume(bound)
      return [name, bound, ...(volume.state === 'Found' ? [volume.object.uniqueName ?? bound] : [])]
    }),
  )
  return {
    unmatched: found.flatMap((each) => (each.pods.length === 0 ? each.given : [])),
    ambiguous: found.filter((each) => each.pods.length > 1),
    narrowsPods: pods.length + namespaces.length > 0,
    isNode: (name: string): boolean => nodes.length === 0 || nodes.includes(name),
    isPod: ({ uid, namespace = '' }: PodRef): boolean =>
      (pods.length === 0 || uids.has(uid)) && (namespaces.length === 0 || namespaces.includes(namespace)),
    isVolume: ({ volume, claim, attachment }: ClusterAbout): boolean => {
      const { name, uniqueName, handle, persistentVolume, claim: its } = volume ?? {}
      const all = [name, uniqueName, handle, persistentVolume, its, claim, attachment]
      return volumes.length === 0 || all.some((each) => names.has(each))
    },
  }
})

/**
 * What depends on something left out is left out, too, and counted. A detach belongs to the pods that it makes room for, beside those
 * that have ended on its node.
 *
 * @returns the drafts that stay, in order, and how many were left out
 */
export function filterOperations(
  context: ClusterContext,
  drafts: readonly ClusterDraft[],
): { readonly kept: readonly ClusterDraft[]; readonly filtered: number } {
  const { pods = [], namespaces = [] } = context.options
  const { narrowsPods, isNode, isPod, isVolume } = scopeOf(context)
  const before = new Set(drafts.filter((draft) => draft.pods.some(isPod)).flatMap(({ after }) => after))
  // A detach without a pod belongs to the namespace of its claim.
  const isOfClaim = ({ claim = '' }: ClusterVolumeRef): boolean =>
    pods.length === 0 && namespaces.includes(claim.split('/', 1)[0] ?? '')
  return keptOf(drafts, context.options, (draft) => {
    const { node, volume, attachment } = draft
    const isOfPods = !narrowsPods || draft.pods.some(isPod) || before.has(draft) || isOfClaim(volume)
    return isNode(node) && isVolume({ volume, attachment: attachment.name }) && isOfPods
  })
}

/** @returns what says whether a finding that names nodes, pods or a volume names one that a filter names, too */
export function namedFindings(context: ClusterContext): (about: ClusterAbout) => boolean {
  const { rows, state, options } = context
  const { isNode, isPod, isVolume } = scopeOf(context)
  const fits = <T>(all: readonly T[] = [], isNamed: (each: T) => boolean): boolean =>
    all.length === 0 || all.some(isNamed)
  const usersOf = ({ uniqueName = '' }: ClusterVolumeRef): readonly PodRef[] =>
    rows.ofVolume(uniqueName).flatMap(podsOf)
  const attached = new Set(
    state.attachments.flatMap(({ name, persistentVolume }) =>
      options.volumes?.includes(name) ? (persistentVolume ?? []) : [],
    ),
  )
  return ({ nodes, volume, attachment, pods = volume && usersOf(volume) }) =>
    fits(nodes, isNode) &&
    fits(pods, isPod) &&
    (volume === undefined ||
      isVolume({ volume, ...omitUndefined({ attachment }) }) ||
      attached.has(volume.persistentVolume ?? ''))
}

// Names given with --node, --pod, --namespace, --volume and --node-gone that match nothing: after a typo all would look well.

export function reportUnmatchedNames(context: ClusterContext, findings: ClusterFindings): void {
  const { state, options, rows, known } = context
  const { unmatched, ambiguous } = scopeOf(context)
  const nodes = [...state.nodes.map(({ name }) => name), ...state.attachments.map(({ node }) => node)]
  const faultsOf = (given: readonly string[] = [], noun: string, hint: string, names: () => readonly string[]) =>
    nameFaults(given, names, { noun, hint, place: 'in this cluster' })
  const faults = [
    ...faultsOf(options.nodes, 'node', 'List the nodes: kubectl get nodes', () => nodes),
    ...faultsOf(
      options.nodeGone,
      'node',
      'Check the name. If it is right, nothing of the node is left: leave out --node-gone, or give --ignore-not-found.',
      // Also of those that are gone: pods of theirs may be left, or the lease of their kubelet.
      () => [
        ...nodes,
        ...state.pods.flatMap(({ node }) => node ?? []),
        ...(state.lostNodes ?? []).map(({ name }) => name),
      ],
    ),
    ...faultsOf(
      options.namespaces,
      'namespace with a pod or claim',
      'List the namespaces: kubectl get namespaces',
      () => [...state.pods, ...state.claims].map(({ namespace }) => namespace),
    ),
    ...faultsOf(options.volumes, 'volume', 'Give the PersistentVolume, NAMESPACE/CLAIM, or the volume handle.', () => [
      ...findings.operations.map(({ attachment }) => attachment.name),
      ...state.volumes.map(({ name }) => name),
      ...state.claims.map(namespacedName),
      ...state.attachments.flatMap(({ name, persistentVolume = name }) => [name, persistentVolume]),
      ...[...known.keys(), ...rows.all().map(({ uniqueName }) => uniqueName)].flatMap((each) => [
        each,
        parseCsiUniqueName(each)?.handle ?? each,
      ]),
      ...[...known.values()].flatMap(({ handle }) => handle ?? []),
    ]),
    ...faultsOf(unmatched, 'pod with a volume that can be attached', 'Give NAMESPACE/NAME of such a pod.', () =>
      state.pods.flatMap((pod) => [pod.name, namespacedName(pod)]),
    ),
    ...ambiguous.map(({ given, pods }) => ambiguousPods(given, pods)),
  ]
  for (const { code, message, hint } of faults) findings.problem('warning', code, message, ON_API, hint)
  // A node whose kubelet says that it is ready is not gone, whatever somebody says.
  for (const name of options.nodeGone ?? []) {
    const node = context.node(name)
    if (node === undefined || context.readinessOf(node).ready !== 'True') continue
    const text = `--node-gone ${name} names a node whose kubelet reports that the node is ready: the flag changes nothing there`
    findings.problem('warning', 'FlagWithoutEffect', text, { nodes: [name] }, 'Check the name: its machine runs.')
  }
}
