/** The last link of a chain: the driver, its registration on the node, and its external attacher. */

import { count } from '../../lang/count.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { nodeOf } from '../context/cluster-context.ts'
import { attacherLease, isDriverGone, isStale } from '../context/drivers.ts'
import type { ClusterLink } from './cluster-explanation.ts'
import type { VolumeOnNode } from './volumes-on-nodes.ts'

export function driverLink(context: ClusterContext, { volume, attached, node }: VolumeOnNode): ClusterLink[] {
  const name = volume?.driver ?? attached[0]?.object.attacher
  if (name === undefined || name === '') return []
  if (isDriverGone(context, name)) {
    return [{ kind: 'Driver', name, state: 'bad', says: 'no CSIDriver, CSINode or attacher knows the driver' }]
  }
  const registered = node === undefined ? undefined : registrationOn(context, name, node)
  const attacher = attacherState(context, name)
  const isBad = registered?.isBad === true || attacher.isBad
  const isUnknown = registered?.isUnknown === true
  const says = [objectState(context, name), registered?.says, attacher.says].filter((each) => each !== undefined)
  return [{ kind: 'Driver', name, state: isBad ? 'bad' : isUnknown ? 'unknown' : 'good', says: says.join('; ') }]
}

/** The words for its CSIDriver; nothing where that is as usual. */
function objectState({ objects }: ClusterContext, name: string): string | undefined {
  const found = objects.driver(name)
  if (found.state === 'Unknown') return `the CSIDriver ${found.reason}`
  if (found.state === 'Absent') return 'no CSIDriver'
  return found.object.attachRequired === false ? 'needs no attachment' : undefined
}

interface Word {
  readonly says: string
  readonly isBad?: boolean
  readonly isUnknown?: boolean
}

/** Of a node that does not exist nothing is said: the link before says so. */
function registrationOn(context: ClusterContext, name: string, node: string): Word | undefined {
  const found = nodeOf(context, node)
  if (found === undefined) return undefined
  if (found.csi.state === 'unknown') return { says: `the CSINode of node ${node} was not read`, isUnknown: true }
  const own = found.csi.state === 'known' ? found.csi.drivers.find((each) => each.name === name) : undefined
  if (own === undefined) return { says: `not registered on node ${node}`, isBad: true }
  return {
    says: own.limit === undefined ? 'registered there' : `registered there, for at most ${count(own.limit, 'volume')}`,
  }
}

/** A driver whose attacher elects no leader has no lease. */
function attacherState(context: ClusterContext, name: string): Word & { readonly isBad: boolean } {
  const lease = attacherLease(context, name)
  if (lease === undefined) return { says: 'no lease shows an external attacher', isBad: false }
  const at = lease.renewTime ?? 'an unknown time'
  return isStale(context, lease)
    ? { says: `the external attacher is silent since ${at}`, isBad: true }
    : { says: `the external attacher renewed its lease at ${at}`, isBad: false }
}
