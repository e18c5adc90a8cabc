/** Which other nodes have a volume, since when, and which pods there use it (S30, R742, R743). */

import { namespacedName } from '../kube/api/names.ts'
import type { PersistentVolume } from '../kube/api/objects.ts'
import { advice, deletePod, type Hint, podsOn, volctlThere } from '../messages/command.ts'
import type { Handle } from '../volumes/api-objects.ts'
import type { PodElsewhere } from '../volumes/snapshot.ts'
import type { PlanContext } from './context.ts'

/** A volume as the API knows it: by driver and handle, or by its name in the status of Nodes. */
interface SharedVolume {
  readonly uniqueName: string
  /** CSI only. */
  readonly identity?: Handle
  readonly persistentVolume?: PersistentVolume
}

type ElsewhereNode = ReturnType<typeof nodesWith>[number]

/**
 * Sorted by name; empty if no other node has the volume, or if that is unknown (`knowsOtherNodes`). With its VolumeAttachment, if there is
 * one; without pods, and with a problem, where these are not known.
 */
export function nodesWith({ objects, inputs }: PlanContext, volume: SharedVolume) {
  const asked = inputs.snapshot.api?.elsewhere
  const claim = volume.persistentVolume?.spec.claimRef
  const names =
    volume.identity === undefined
      ? asked?.nodes.flatMap(({ name, attached }) => (attached?.includes(volume.uniqueName) ? name : [])).toSorted()
      : objects.attachedElsewhere(volume.identity)
  return (names ?? []).map((name) => {
    const { pods, problem } = asked?.nodes.find((node) => node.name === name) ?? {}
    const users = pods?.filter(
      ({ namespace, claims }) =>
        claim?.name !== undefined && (claim.namespace || 'default') === namespace && claims.includes(claim.name),
    )
    return { name, attachment: objects.attachmentOf(volume.identity, name), pods: users, problem }
  })
}

/** `node-2 since 2026-…, where pod default/old uses it`, for each node. */
export function describeNodes(nodes: readonly ElsewhereNode[]): string {
  return nodes.map(describeNode).join('; ')
}

function describeNode({ name, pods, problem, attachment }: ElsewhereNode): string {
  const { creationTimestamp: since, deletionTimestamp: deleted } = attachment?.metadata ?? {}
  const node = `${name}${since == null ? '' : ` since ${since}`}${deleted === undefined ? '' : ', being detached'}`
  if (pods === undefined)
    return `${node}; which pods use it there is not known${problem === undefined ? '' : ` (${problem})`}`
  if (pods.length === 0) return `${node}; no pod there uses it`
  const users = pods.map((pod) => `pod ${namespacedName(pod)}${stateOf(pod)}`).join(', ')
  return `${node}, where ${users} use${pods.length === 1 ? 's' : ''} it`
}

function stateOf({ phase, deletionTimestamp }: PodElsewhere): string {
  if (deletionTimestamp !== undefined) return ` (being deleted since ${deletionTimestamp})`
  return phase === undefined || phase === 'Running' ? '' : ` (${phase})`
}

/** The next step to free the volume on the first of these nodes. */
export function freeHint([first]: readonly ElsewhereNode[]): Hint {
  if (first === undefined) return ''
  const { name, pods } = first
  if (pods === undefined) {
    return advice`Find out which pods on ${name} use the volume (${podsOn(name)}), and delete them; the attach/detach controller then detaches the volume.`
  }
  const [pod] = pods
  if (pod !== undefined) {
    return advice`Delete pod ${namespacedName(pod)} there (${deletePod(pod)}); the attach/detach controller then detaches the volume from ${name}, and attaches it where a pod wants it.`
  }
  return advice`Check whether ${name} still has the volume mounted (${volctlThere('plan')} there); the attach/detach controller detaches it once that kubelet no longer reports it in use.`
}
