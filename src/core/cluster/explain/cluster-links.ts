/** The chain of a volume on a node: pods, claim, PersistentVolume, VolumeAttachment, node, driver. */

import { deletingText, elsewhereText, judge, judgeAttachment, judgeClaim, judgeVolume } from '../../explain/objects.ts'
import { count } from '../../lang/count.ts'
import { attachmentName, CSI_PLUGIN } from '../../names/volume-names.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import { attacherLease, isDriverGone, isStale } from '../context/drivers.ts'
import { readinessOf } from '../context/readiness.ts'
import type { ClusterRow } from '../ledger/cluster-row.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import type { ClusterLink } from './cluster-explanation.ts'

export function chainOf(context: ClusterContext, on: ClusterRow): ClusterLink[] {
  return [
    ...podLinks(on),
    ...claimLink(context, on),
    ...persistentVolumeLink(context, on),
    ...attachmentLinks(context, on),
    ...nodeLink(context, on),
    ...driverLink(context, on),
  ]
}

const MOST_PODS = 20

function podLinks({ pods, node, attached }: ClusterRow): ClusterLink[] {
  if (pods.length > 0) {
    const more = pods.length - MOST_PODS
    const links = pods.slice(0, MOST_PODS).map(
      (pod): ClusterLink => ({
        kind: 'Pod',
        name: namespacedName(pod),
        ...podState(pod),
      }),
    )
    return more > 0 ? [...links, { kind: 'Pod', name: '', state: 'unknown', says: `and ${more} more` }] : links
  }
  const where = node === undefined ? '' : ` on node ${node}`
  const says = `no pod${where} is known to have the volume`
  return [{ kind: 'Pod', name: '', state: attached.length > 0 ? 'bad' : 'absent', says }]
}

function podState(pod: ClusterPod): Pick<ClusterLink, 'state' | 'says'> {
  const { phase = 'no phase', node, terminated, deletedAt, started, waiting, unschedulable } = pod
  if (terminated) return { state: 'absent', says: `has ended (${phase})` }
  if (deletedAt !== undefined) return { state: 'bad', says: `being deleted since ${deletedAt}, and not ended` }
  if (node === undefined) return { state: 'bad', says: unschedulable ?? 'waits for a node' }
  if (!started) return { state: 'bad', says: `does not start${waiting === undefined ? '' : ` (${waiting})`}` }
  return { state: 'good', says: phase }
}

function isNeeded({ pods }: ClusterRow): boolean {
  return pods.some(({ terminated }) => !terminated)
}

function claimLink({ objects }: ClusterContext, on: ClusterRow): ClusterLink[] {
  const { claim } = on
  if (claim === undefined) return []
  const [namespace = '', name = ''] = claim.split('/')
  return [
    { kind: 'PersistentVolumeClaim', name: claim, ...judge(objects.claim(namespace, name), isNeeded(on), judgeClaim) },
  ]
}

function persistentVolumeLink({ objects }: ClusterContext, { persistentVolume: name }: ClusterRow): ClusterLink[] {
  if (name === undefined) return []
  return [{ kind: 'PersistentVolume', name, ...judge(objects.volume(name), true, judgeVolume) }]
}

function attachmentLinks(context: ClusterContext, on: ClusterRow): ClusterLink[] {
  const { attached, node, volume, want } = on
  if (attached.length > 0) return attached.map((each) => attachmentLink(context, on, each))
  if (node === undefined || volume === undefined || volume.plugin !== CSI_PLUGIN) return []
  if (volume.attachability === 'notAttachable') return []
  const { driver, handle } = volume
  if (driver === undefined || handle === undefined) return []
  const name = attachmentName(handle, driver, node)
  const isWanted = want !== undefined && want.pods.length > 0
  const others = context.actual.nodesWith(on.uniqueName ?? '').filter((each) => each !== node)
  const found = context.objects.attachment(name)
  const judged = judge(found, isWanted, (object) => judgeAttachment(object, { isNeeded: isWanted }))
  return [{ kind: 'VolumeAttachment', name, ...judged, says: `${judged.says}${elsewhereText(others)}` }]
}

function attachmentLink({ actual }: ClusterContext, on: ClusterRow, { object, unclear }: Attached): ClusterLink {
  const isListed = on.uniqueName !== undefined && actual.isConfirmed(object.node, on.uniqueName)
  const judged = judgeAttachment(object, { isNeeded: isNeeded(on), isListed, unclear })
  return { kind: 'VolumeAttachment', name: object.name, ...judged }
}

function nodeLink(context: ClusterContext, on: ClusterRow): ClusterLink[] {
  const { node: name, uniqueName } = on
  if (name === undefined) return []
  const found = context.objects.node(name)
  const isInUse = uniqueName !== undefined && context.actual.isInUse(name, uniqueName)
  const use = isInUse ? ['reports the volume in use'] : []
  if (found.state === 'Unknown')
    return [{ kind: 'Node', name, state: 'unknown', says: [found.reason, ...use].join('; ') }]
  if (found.state === 'Absent')
    return [{ kind: 'Node', name, state: 'bad', says: ['does not exist', ...use].join('; ') }]
  const { outOfService, managed, deletedAt } = found.object
  const { ready, since, isStale } = readinessOf(context, found.object)
  const state = isStale
    ? `the kubelet is silent since ${since ?? 'an unknown time'}`
    : ready === 'True'
      ? 'ready'
      : `Ready is ${ready ?? 'missing'} since ${since ?? 'an unknown time'}`
  const says = [
    state,
    ...(outOfService ? ['tainted out-of-service'] : []),
    ...(managed ? [] : ['not managed by the controller']),
    ...use,
  ].join('; ')
  const isGood = ready === 'True' && !isStale && !outOfService && deletedAt === undefined && managed
  return [{ kind: 'Node', name, state: isGood ? 'good' : 'bad', says: `${says}${deletingText(deletedAt)}` }]
}

function driverLink(context: ClusterContext, { volume, attached, node }: ClusterRow): ClusterLink[] {
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
