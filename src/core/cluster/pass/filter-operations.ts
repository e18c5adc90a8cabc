/** --only, --skip, --node, --pod, --namespace, --volume: what depends on something left out is left out, too, and counted. */

import type { ClusterAbout, ClusterOptions, ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import { keptOf } from '../../plan/kept-drafts.ts'
import type { PodRef } from '../../plan/plan.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterDraft } from '../context/findings.ts'
import { podsGiven } from './given-pods.ts'

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
