/** What a name means in a cluster: one thing; of several, or none, an error says what to ask for instead. */
import { NotFound, type VolctlError } from '../../errors/errors.ts'
import { splitPrefix } from '../../explain/kinds.ts'
import { AmbiguousThing, matching } from '../../explain/match-name.ts'
import { nothingFound } from '../../explain/near-candidates.ts'
import { count } from '../../lang/count.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterResource } from '../model/cluster-state.ts'
import type { ClusterCandidate, ClusterTarget } from './cluster-candidates.ts'

/** @throws VolctlError AmbiguousName, NotFound */
export function findInCluster(
  context: ClusterContext,
  candidates: readonly ClusterCandidate[],
  what: string,
): ClusterTarget {
  const found = podVolume(context, candidates, what) ?? matching(candidates, what)
  const [first] = found
  if (first === undefined) throw notFound(context, candidates, what)
  if (found.length === 1) return first.target
  throw new AmbiguousThing('in this cluster', what, found, ['--cluster'])
}

/** NAMESPACE/POD/VOLUME, or UID/VOLUME: what a pod calls its volume. Undefined: it is nothing of this form. */
function podVolume(
  { state }: ClusterContext,
  candidates: readonly ClusterCandidate[],
  what: string,
): readonly ClusterCandidate[] | undefined {
  const { kind, name } = splitPrefix(what)
  if (kind !== undefined && kind !== 'Volume') return undefined
  const cut = name.lastIndexOf('/')
  const [pod, volume] = [name.slice(0, cut), name.slice(cut + 1)]
  const owner = state.pods.find((each) => [each.uid, `${each.namespace}/${each.name}`].includes(pod))
  const own = owner?.volumes.find((each) => each.name === volume)
  if (owner === undefined || own === undefined) return undefined
  const ask = 'claim' in own ? `pvc/${owner.namespace}/${own.claim}` : undefined
  const found = candidates.filter((each) => each.ask === ask)
  // What stands in the spec of a pod has no object: the pod's answer shows it.
  return found.length > 0 ? found : candidates.filter(({ target }) => target.kind === 'Pod' && target.pod === owner)
}

function notFound(context: ClusterContext, candidates: readonly ClusterCandidate[], what: string): VolctlError {
  const { state, objects } = context
  const { kind } = splitPrefix(what)
  if (kind === 'Device' || kind === 'Mount' || kind === 'Path' || what.startsWith('/')) return ofNode(what)
  const unread = (Object.keys(state.lists) as ClusterResource[]).filter((list) => !objects.isWhole(list))
  return nothingFound(candidates, what, {
    place: `in cluster ${state.server}`,
    counts: [
      count(state.nodes.length, 'node'),
      `${count(state.pods.length, 'pod')} with volumes that can be attached`,
      count(state.claims.length, 'claim'),
      count(state.volumes.length, 'PersistentVolume'),
      count(state.attachments.length, 'VolumeAttachment'),
      count(state.drivers.length, 'driver'),
    ],
    unread,
    hint: 'Give NAMESPACE/POD, a UID, pvc/NAMESPACE/NAME, pv/NAME, node/NAME, driver/NAME, the name of a VolumeAttachment, or a volume handle. Only their node knows volumes that are never attached: kubectl volctl on NODE explain WHAT',
  })
}

function ofNode(what: string): VolctlError {
  return new NotFound(`"${what}" is no object of the API: paths, mounts and devices are on a node`, {
    hint: 'Ask on the node: kubectl volctl on NODE explain WHAT',
  })
}
